"""Codex: tables `[mcp_servers.NAME]` in `config.toml`; a server gets the variables that `env_vars` names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from slimguard.install.model import Entry, Host, HostFile, Imported, Machine
from slimguard.install.reading import only_strings, standard, texts
from slimguard.install.variables import as_literal
from slimguard.jsonc import list_of, object_of
from slimguard.model import Json

START_SECONDS = 30
"""Three times Codex's own: the first start of a cold machine loads an interpreter."""

CALL_SECONDS = 120
"""Twice Codex's own; slimguard answers `still running` well before."""

_KNOWN = (
    "env_vars", "enabled", "required", "startup_timeout_sec", "startup_timeout_ms", "tool_timeout_sec",
    "enabled_tools", "disabled_tools", "bearer_token_env_var", "http_headers", "env_http_headers",
)  # fmt: skip


def _files(machine: Machine) -> tuple[HostFile, ...]:
    directory = machine.environment.get("CODEX_HOME")
    home = type(machine.cwd)(directory) if directory else machine.home / ".codex"
    where = ("mcp_servers",)
    return (
        HostFile(machine.cwd / ".codex" / "config.toml", "project", where, "toml"),
        HostFile(home / "config.toml", "user", where, "toml"),
    )


def _entry(entry: Entry) -> dict[str, Any]:
    made: dict[str, Any] = {"command": entry.command, "args": list(entry.args)}
    if entry.variables:
        made["env_vars"] = list(entry.variables)
    return {**made, "startup_timeout_sec": START_SECONDS, "tool_timeout_sec": CALL_SECONDS}


def _read(name: str, raw: Mapping[str, Json], _machine: Machine) -> Imported:
    found = standard(name, raw, as_literal, known=_KNOWN, url_type="http")
    if found.unsupported:
        return found
    entry = dict(found.entry)
    passed = {variable: f"${{{variable}}}" for variable in _variables(raw.get("env_vars"))}
    if env := {**passed, **entry.get("env", {})}:
        entry["env"] = env
    headers: dict[str, Json] = texts(raw.get("http_headers"), "", as_literal, [])
    from_env = object_of(raw.get("env_http_headers"))
    headers |= {header: f"${{{variable}}}" for header, variable in from_env.items()}
    if isinstance(raw.get("bearer_token_env_var"), str):
        headers["Authorization"] = f"Bearer ${{{raw['bearer_token_env_var']}}}"
    if headers and "url" in entry:
        entry["headers"] = headers
    if raw.get("enabled") is False:
        entry["disabled"] = True
    seconds = raw.get("startup_timeout_sec")
    return replace(
        found,
        entry=entry,
        allow=tuple(only_strings(raw["enabled_tools"])) if "enabled_tools" in raw else None,
        deny=tuple(only_strings(raw.get("disabled_tools"))),
        start_seconds=float(seconds) if isinstance(seconds, int | float) and seconds > 0 else None,
    )


def _variables(value: Json) -> list[str]:
    """Names in `env_vars`: strings, or tables with a `name`."""
    names = [object_of(item).get("name") if isinstance(item, dict) else item for item in list_of(value)]
    return [name for name in names if isinstance(name, str)]


HOST = Host(
    name="codex",
    title="Codex",
    files=_files,
    entry=_entry,
    read=_read,
    restart="start a new Codex session; a project's file counts only when the project is trusted",
    environment="passed",
)
