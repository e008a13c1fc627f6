"""Claude Desktop: `claude_desktop_config.json`; it gives servers a bare environment and replaces no variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slimguard.install.model import Entry, Host, HostFile, Imported, Machine
from slimguard.install.reading import standard
from slimguard.install.variables import as_literal
from slimguard.model import Json


def _files(machine: Machine) -> tuple[HostFile, ...]:
    return (HostFile(machine.app_data / "Claude" / "claude_desktop_config.json", "user", ("mcpServers",)),)


def _entry(entry: Entry) -> dict[str, Any]:
    return {"command": entry.command, "args": list(entry.args)}


def _read(name: str, raw: Mapping[str, Json], _machine: Machine) -> Imported:
    return standard(name, raw, as_literal)


HOST = Host(
    name="claude-desktop",
    title="Claude Desktop",
    files=_files,
    entry=_entry,
    read=_read,
    restart="quit Claude Desktop completely and start it again",
    environment="bare",
)
