"""VS Code: `.vscode/mcp.json` in the workspace, `mcp.json` in the user's profile, both with `servers` and `inputs`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slimguard.install.model import Entry, Host, HostFile, Imported, Machine
from slimguard.install.reading import standard
from slimguard.install.variables import as_editor
from slimguard.model import Json


def _files(machine: Machine) -> tuple[HostFile, ...]:
    return (
        HostFile(machine.cwd / ".vscode" / "mcp.json", "project", ("servers",)),
        HostFile(machine.app_data / "Code" / "User" / "mcp.json", "user", ("servers",)),
    )


def _entry(entry: Entry) -> dict[str, Any]:
    return {"type": "stdio", "command": entry.command, "args": list(entry.args)}


def _read(name: str, raw: Mapping[str, Json], machine: Machine) -> Imported:
    return standard(name, raw, as_editor(machine), known=("dev",))


HOST = Host(
    name="vscode",
    title="VS Code",
    files=_files,
    entry=_entry,
    read=_read,
    restart="run «MCP: List Servers» in VS Code and start slimguard; trust it when asked",
)
