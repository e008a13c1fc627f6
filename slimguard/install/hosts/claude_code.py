"""Claude Code: `.mcp.json` in the project, `~/.claude.json` for the user and for the user's own of one project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slimguard.install.model import Entry, Host, HostFile, Imported, Machine
from slimguard.install.reading import standard
from slimguard.install.variables import as_ours
from slimguard.model import Json


def _files(machine: Machine) -> tuple[HostFile, ...]:
    directory = machine.environment.get("CLAUDE_CONFIG_DIR")
    user = (type(machine.cwd)(directory) if directory else machine.home) / ".claude.json"
    return (
        HostFile(machine.cwd / ".mcp.json", "project", ("mcpServers",)),
        HostFile(user, "local", ("projects", str(machine.cwd), "mcpServers")),
        HostFile(user, "user", ("mcpServers",)),
    )


def _entry(entry: Entry) -> dict[str, Any]:
    return {"type": "stdio", "command": entry.command, "args": list(entry.args), "alwaysLoad": True}


def _read(name: str, raw: Mapping[str, Json], _machine: Machine) -> Imported:
    return standard(name, raw, as_ours, known=("alwaysLoad", "timeout"))


HOST = Host(
    name="claude-code",
    title="Claude Code",
    files=_files,
    entry=_entry,
    read=_read,
    restart="start a new Claude Code session; approve the server when asked",
)
