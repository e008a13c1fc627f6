"""Goose: `extensions` in `config.yaml`; built-in extensions stay where they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from slimguard.install.model import NAME, Entry, Host, HostFile, Imported, Machine
from slimguard.install.reading import only_strings, standard
from slimguard.install.variables import as_literal, as_ours
from slimguard.model import Json

TIMEOUT_SECONDS = 300
"""As in Goose's own examples."""

_KNOWN = (
    "name", "display_name", "description", "enabled", "bundled", "timeout", "cmd", "uri", "envs", "env_keys",
    "available_tools",
)  # fmt: skip


def _files(machine: Machine) -> tuple[HostFile, ...]:
    if machine.platform == "win32":
        directory = machine.app_data / "Block" / "goose" / "config"
    else:
        directory = machine.xdg_config / "goose"
    return (HostFile(directory / "config.yaml", "user", ("extensions",), "yaml"),)


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "type": "stdio",
        "name": NAME,
        "description": "Guards the other MCP servers",
        "enabled": True,
        "cmd": entry.command,
        "args": list(entry.args),
        "envs": {},
        "env_keys": [],
        "timeout": TIMEOUT_SECONDS,
    }


def _read(name: str, raw: Mapping[str, Json], _machine: Machine) -> Imported:
    if raw.get("type") not in ("stdio", "streamable_http", "sse"):
        return Imported(name, {}, unsupported="it is built into Goose")
    plain = dict(raw)
    for theirs, ours in (("cmd", "command"), ("uri", "url"), ("envs", "env")):
        if theirs in plain:
            plain[ours] = plain[theirs]
    found = standard(name, plain, as_literal if raw["type"] == "stdio" else as_ours, known=_KNOWN)
    if found.unsupported:
        return found
    entry, notes = dict(found.entry), list(found.notes)
    keys = only_strings(raw.get("env_keys"))
    if keys and "command" in entry:
        entry["env"] = {**{key: f"${{{key}}}" for key in keys}, **entry.get("env", {})}
        notes.append(f"set {', '.join(keys)} in the environment: Goose keeps the value in its own store of secrets")
    if raw.get("enabled") is False:
        entry["disabled"] = True
    tools = only_strings(raw.get("available_tools"))
    return replace(found, entry=entry, notes=tuple(notes), allow=tuple(tools) if tools else None)


HOST = Host(
    name="goose",
    title="Goose",
    files=_files,
    entry=_entry,
    read=_read,
    restart="start a new Goose session",
)
