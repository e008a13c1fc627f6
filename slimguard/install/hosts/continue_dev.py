"""Continue: the list `mcpServers` in `config.yaml`, or JSON in `.continue/mcpServers/` of the workspace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slimguard.install.model import Entry, Host, HostFile, Imported, Machine
from slimguard.install.reading import standard
from slimguard.install.variables import as_continue
from slimguard.jsonc import object_of
from slimguard.model import Json


def _files(machine: Machine) -> tuple[HostFile, ...]:
    workspace = machine.cwd / ".continue" / "mcpServers"
    return (
        HostFile(machine.home / ".continue" / "config.yaml", "user", ("mcpServers",), "yaml", listed=True),
        HostFile(workspace / "mcp.json", "project", ("mcpServers",)),
    )


def _entry(entry: Entry) -> dict[str, Any]:
    return {"type": "stdio", "command": entry.command, "args": list(entry.args)}


def _read(name: str, raw: Mapping[str, Json], _machine: Machine) -> Imported:
    plain = dict(raw)
    options = object_of(plain.get("requestOptions"))
    if "headers" in options:
        plain["headers"] = options["headers"]
    return standard(name, plain, as_continue, known=("name", "requestOptions", "faviconUrl", "connectionTimeout"))


HOST = Host(
    name="continue",
    title="Continue",
    files=_files,
    entry=_entry,
    read=_read,
    restart="reload Continue's configuration; MCP servers work in agent mode",
)
