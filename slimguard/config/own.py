"""The `slimguard` section to its part of `Settings`; the names in it are checked against the configured servers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from slimguard import policy
from slimguard.config.checking import Problem, unknown
from slimguard.config.files import absolute
from slimguard.config.variables import VariableProblem, expand
from slimguard.errors import ConfigurationError
from slimguard.jsonc import Node
from slimguard.settings import BudgetSettings, ServerConfig, Settings, StoreSettings, Timeouts, ToolSettings


def own_problems(root: Node) -> Iterator[Problem]:
    """Names of servers that are not configured, and globs that can match no `server/tool`."""
    servers = root.get("mcpServers")
    names = [member.key for member in servers.members] if servers else []
    overrides = root.get("slimguard", "servers")
    for member in overrides.members if overrides else ():
        if member.key not in names:
            path = ("slimguard", "servers", member.key)
            yield Problem(member.start, path, unknown("server", member.key, names or ["(none)"]))
    for path in (("slimguard", "tools", "allow"), ("slimguard", "tools", "deny")):
        node = root.get(*path)
        for index, item in enumerate(node.items if node else ()):
            if wrong := _wrong_glob(item.value):
                yield Problem(item.start, (*path, str(index)), wrong)
    for path in (("slimguard", "flows", "allow"), ("slimguard", "flows", "deny")):
        node = root.get(*path)
        for index, item in enumerate(node.items if node else ()):
            if wrong := _wrong_flow(item.value):
                yield Problem(item.start, (*path, str(index)), wrong)
    settings = root.get("slimguard", "tools", "settings")
    for member in settings.members if settings else ():
        if wrong := _wrong_glob(member.key):
            yield Problem(member.start, ("slimguard", "tools", "settings", member.key), wrong)
    store = root.get("slimguard", "store", "path")
    if store is not None and not store.value.strip():
        yield Problem(store.start, ("slimguard", "store", "path"), "must not be empty")


def own_settings(
    ours: Mapping[str, Any],
    servers: Mapping[str, ServerConfig],
    *,
    environment: Mapping[str, str],
    source: Path,
    default_store: str,
    scope: str,
) -> Settings:
    """The whole of the settings from a checked section."""
    tools: dict[str, Any] = ours.get("tools", {})
    store: dict[str, Any] = ours.get("store", {})
    flows: dict[str, Any] = ours.get("flows", {})
    path = _store_path(store["path"], source, environment) if "path" in store else default_store
    return Settings(
        servers=servers,
        store=StoreSettings(
            path=path,
            ttl_seconds=float(store.get("ttl_seconds", policy.TTL_SECONDS)),
            quota_bytes=int(store.get("quota_bytes", policy.QUOTA_BYTES)),
        ),
        mode=ours.get("mode", "compact"),
        host=ours.get("host", "auto"),
        budget=budget(ours.get("budget", {})),
        allow=tuple(tools.get("allow", ("*",))),
        deny=tuple(tools.get("deny", ())),
        tools={name: _tool(entry) for name, entry in tools.get("settings", {}).items()},
        flows_allow=tuple(flows.get("allow", ())),
        flows_deny=tuple(flows.get("deny", ())),
        timeouts=timeouts(ours.get("timeouts", {})),
        join_within_ms=int(ours.get("calls", {}).get("join_within_ms", 0)),
        scope=scope,
        source=str(source),
    )


def budget(entry: Mapping[str, Any]) -> BudgetSettings:
    """The parts of a budget that were given."""
    known = [field.name for field in fields(BudgetSettings)]
    return BudgetSettings(**{name: int(entry[name]) for name in known if name in entry})


def timeouts(entry: Mapping[str, Any]) -> Timeouts:
    """The deadlines that were given."""
    known = [field.name for field in fields(Timeouts)]
    return Timeouts(**{name: float(entry[name]) for name in known if name in entry})


def _tool(entry: Mapping[str, Any]) -> ToolSettings:
    written: Any = entry.get("view", "auto")
    projection: Mapping[str, str] = {} if isinstance(written, str) else written
    return ToolSettings(
        budget=budget(entry.get("budget", {})),
        view="exact" if written == "exact" else "auto",
        select=projection.get("select"),
        timeouts=timeouts(entry.get("timeouts", {})),
    )


def _store_path(written: str, source: Path, environment: Mapping[str, str]) -> str:
    try:
        return absolute(expand(written, environment), source.parent, environment)
    except VariableProblem as problem:
        raise ConfigurationError(f"{source}: $.slimguard.store.path: {problem}", code="config_invalid") from None


def _wrong_flow(rule: str) -> str:
    from slimguard.references import wrong_rule  # noqa: PLC0415 - its readers of results have no place in a start

    return wrong_rule(rule)


def _wrong_glob(glob: str) -> str:
    """A glob that could never match is refused: in `deny` it would authorise what it was meant to keep out."""
    if not glob.strip():
        return 'must not be empty; write "SERVER/TOOL", a glob such as "SERVER/*"'
    if "/" not in glob and not glob.endswith("*") and not glob.startswith("*"):
        return f'matches no "server/tool"; write "SERVER/TOOL", for instance "*/{glob}" or "{glob}/*"'
    return ""
