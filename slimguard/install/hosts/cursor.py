"""Cursor: `.cursor/mcp.json` in the project and in the home directory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slimguard.install.model import Entry, Host, HostFile, Imported, Machine
from slimguard.install.reading import standard
from slimguard.install.variables import as_editor
from slimguard.model import Json


def _files(machine: Machine) -> tuple[HostFile, ...]:
    return (
        HostFile(machine.cwd / ".cursor" / "mcp.json", "project", ("mcpServers",)),
        HostFile(machine.home / ".cursor" / "mcp.json", "user", ("mcpServers",)),
    )


def _entry(entry: Entry) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "stdio", "command": entry.command, "args": list(entry.args)}
    if entry.variables:
        made["env"] = {name: f"${{env:{name}}}" for name in entry.variables}
    return made


def _read(name: str, raw: Mapping[str, Json], machine: Machine) -> Imported:
    return standard(name, raw, as_editor(machine))


HOST = Host(
    name="cursor",
    title="Cursor",
    files=_files,
    entry=_entry,
    read=_read,
    restart="switch the server on in Cursor's settings under MCP, or restart Cursor",
    environment="passed",
)
