"""Windsurf: `~/.codeium/windsurf/mcp_config.json`; a remote server has `serverUrl`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from slimguard.install.model import Entry, Host, HostFile, Imported, Machine
from slimguard.install.reading import only_strings, standard
from slimguard.install.variables import as_editor
from slimguard.model import Json


def _files(machine: Machine) -> tuple[HostFile, ...]:
    return (HostFile(machine.home / ".codeium" / "windsurf" / "mcp_config.json", "user", ("mcpServers",)),)


def _entry(entry: Entry) -> dict[str, Any]:
    made: dict[str, Any] = {"command": entry.command, "args": list(entry.args)}
    if entry.variables:
        made["env"] = {name: f"${{env:{name}}}" for name in entry.variables}
    return made


def _read(name: str, raw: Mapping[str, Json], machine: Machine) -> Imported:
    plain = dict(raw)
    if isinstance(plain.get("serverUrl"), str):
        plain["url"] = plain.pop("serverUrl")
    found = standard(name, plain, as_editor(machine), known=("disabledTools", "alwaysAllow"))
    return replace(found, deny=tuple(only_strings(raw.get("disabledTools"))))


HOST = Host(
    name="windsurf",
    title="Windsurf",
    files=_files,
    entry=_entry,
    read=_read,
    restart="press refresh in Windsurf's MCP panel",
    environment="passed",
)
