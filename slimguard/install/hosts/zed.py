"""Zed: `context_servers` in `settings.json`; servers of extensions stay where they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from slimguard.install.model import Entry, Host, HostFile, Imported, Machine
from slimguard.install.reading import standard
from slimguard.install.variables import as_literal
from slimguard.jsonc import object_of
from slimguard.model import Json


def _files(machine: Machine) -> tuple[HostFile, ...]:
    where = ("context_servers",)
    user = machine.app_data / "Zed" if machine.platform == "win32" else machine.xdg_config / "zed"
    return (
        HostFile(user / "settings.json", "user", where),
        HostFile(machine.cwd / ".zed" / "settings.json", "project", where),
    )


def _entry(entry: Entry) -> dict[str, Any]:
    return {"source": "custom", "command": entry.command, "args": list(entry.args), "env": {}}


def _read(name: str, raw: Mapping[str, Json], _machine: Machine) -> Imported:
    plain = dict(raw)
    parts = object_of(plain.get("command"))
    if parts:
        plain = {**plain, **parts, "command": parts.get("path")}
    if plain.get("source") == "extension" or not ("command" in plain or "url" in plain):
        return Imported(name, {}, unsupported="it is an extension's, which Zed itself starts")
    if plain.get("enabled") is False:
        plain["disabled"] = True
    found = standard(name, plain, as_literal, known=("source", "enabled", "path", "timeout"))
    return replace(found, notes=tuple(note for note in found.notes if not note.startswith("settings ")))


HOST = Host(
    name="zed",
    title="Zed",
    files=_files,
    entry=_entry,
    read=_read,
    restart="nothing; Zed reads the file when it changes",
)
