"""OpenCode: `mcp.NAME` (V1, which V2 still reads) or `mcp.servers.NAME` (V2) in `opencode.json` or `opencode.jsonc`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slimguard.install.model import Entry, Host, HostFile, Imported, Machine, Where
from slimguard.install.reading import standard
from slimguard.install.variables import as_opencode
from slimguard.jsonc import list_of, object_of
from slimguard.model import Json

TOOLS_TIMEOUT_MS = 30_000
"""V1 waits 5 s for the list of tools unless told otherwise."""


def _files(machine: Machine) -> tuple[HostFile, ...]:
    user = machine.xdg_config / "opencode"
    where = ("mcp",)
    return (
        HostFile(machine.cwd / "opencode.json", "project", where),
        HostFile(machine.cwd / "opencode.jsonc", "project", where),
        HostFile(user / "opencode.json", "user", where),
        HostFile(user / "opencode.jsonc", "user", where),
    )


def _locate(value: Json, where: Where) -> Where:
    """V2 when the file has `mcp.servers` without a `type`, which would be a V1 server of that name; else V1."""
    servers = object_of(object_of(value).get("mcp")).get("servers")
    return (*where, "servers") if isinstance(servers, dict) and "type" not in servers else where


def _entry(entry: Entry) -> dict[str, Any]:
    return {"type": "local", "command": [entry.command, *entry.args]}


def _entry_v1(entry: Entry) -> dict[str, Any]:
    return {**_entry(entry), "enabled": True, "timeout": TOOLS_TIMEOUT_MS}


def entry_at(entry: Entry, where: Where) -> dict[str, Any]:
    """Our entry in the layout that the file has."""
    return _entry(entry) if where[-1] == "servers" else _entry_v1(entry)


def _read(name: str, raw: Mapping[str, Json], _machine: Machine) -> Imported:
    plain = dict(raw)
    words = list_of(plain.get("command"))
    if words:
        plain = {**plain, "command": words[0], "args": words[1:]}
    if "environment" in plain:
        plain["env"] = plain.pop("environment")
    if plain.get("enabled") is False:
        plain["disabled"] = True
    return standard(name, plain, as_opencode, known=("enabled", "timeout"))


HOST = Host(
    name="opencode",
    title="OpenCode",
    files=_files,
    entry=_entry_v1,
    entry_at=entry_at,
    read=_read,
    locate=_locate,
    restart="restart OpenCode; approve the server when asked",
)
