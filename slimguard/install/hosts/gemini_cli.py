"""Gemini CLI: `mcpServers` in `.gemini/settings.json`; `url` is SSE there and `httpUrl` is Streamable HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from slimguard.install.model import NAME, Entry, Host, HostFile, Imported, Machine
from slimguard.install.reading import only_strings, standard
from slimguard.install.variables import as_gemini
from slimguard.jsonc import list_of, object_of
from slimguard.model import Json


def _files(machine: Machine) -> tuple[HostFile, ...]:
    return (
        HostFile(machine.cwd / ".gemini" / "settings.json", "project", ("mcpServers",)),
        HostFile(machine.home / ".gemini" / "settings.json", "user", ("mcpServers",)),
    )


def _entry(entry: Entry) -> dict[str, Any]:
    made: dict[str, Any] = {"command": entry.command, "args": list(entry.args)}
    if entry.variables:
        made["env"] = {name: f"${name}" for name in entry.variables}
    return made


def _read(name: str, raw: Mapping[str, Json], _machine: Machine) -> Imported:
    plain = dict(raw)
    if isinstance(plain.get("httpUrl"), str):
        plain = {**plain, "url": plain.pop("httpUrl"), "type": "http"}
    known = ("timeout", "trust", "description", "includeTools", "excludeTools")
    found = standard(name, plain, as_gemini, known=known, url_type="sse")
    return replace(
        found,
        allow=tuple(only_strings(raw["includeTools"])) if "includeTools" in raw else None,
        deny=tuple(only_strings(raw.get("excludeTools"))),
    )


def _warnings(value: Json) -> tuple[str, ...]:
    rules = object_of(object_of(value).get("mcp"))
    if "allowed" in rules and NAME not in list_of(rules["allowed"]):
        return (f'mcp.allowed does not name "{NAME}": add it there, or Gemini CLI will not start it',)
    return ()


HOST = Host(
    name="gemini-cli",
    title="Gemini CLI",
    files=_files,
    entry=_entry,
    read=_read,
    warnings=_warnings,
    restart="restart Gemini CLI and look at /mcp",
    environment="passed",
)
