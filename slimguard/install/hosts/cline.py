"""Cline: `cline_mcp_settings.json` in its own directory, and where the VS Code extension kept it before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slimguard.install.model import Entry, Host, HostFile, Imported, Machine
from slimguard.install.reading import standard
from slimguard.install.variables import as_literal
from slimguard.jsonc import object_of
from slimguard.model import Json

CALL_SECONDS = 120
"""Twice Cline's own timeout of a call."""

_EXTENSION = ("Code", "User", "globalStorage", "saoudrizwan.claude-dev", "settings")


def _files(machine: Machine) -> tuple[HostFile, ...]:
    name, where = "cline_mcp_settings.json", ("mcpServers",)
    directory = machine.environment.get("CLINE_DIR")
    home = type(machine.cwd)(directory) if directory else machine.home / ".cline"
    return (
        HostFile(home / "data" / "settings" / name, "user", where),
        HostFile(machine.app_data.joinpath(*_EXTENSION) / name, "user", where),
    )


def _entry(entry: Entry) -> dict[str, Any]:
    return {"command": entry.command, "args": list(entry.args), "disabled": False, "timeout": CALL_SECONDS}


def _read(name: str, raw: Mapping[str, Json], _machine: Machine) -> Imported:
    plain = {**object_of(raw.get("transport")), **raw}
    known = ("timeout", "autoApprove", "alwaysAllow", "transport", "metadata")
    return standard(name, plain, as_literal, known=known, url_type="sse")


HOST = Host(
    name="cline",
    title="Cline",
    files=_files,
    entry=_entry,
    read=_read,
    restart="switch the server on in Cline's MCP panel",
    environment="bare",
)
