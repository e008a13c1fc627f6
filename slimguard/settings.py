"""A checked configuration as frozen values, with every `${VAR}` expanded; reading and checking is config.py's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from slimguard import policy
from slimguard.model import Mode

Transport = Literal["stdio", "http", "sse"]
Protocol = Literal["auto", "2025-11-25", "2026-07-28"]
"""Era of the protocol to speak: negotiated, or fixed for a server that negotiates badly."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Deadlines in seconds; None means the product's default in policy.py."""

    start_seconds: float | None = None
    soft_seconds: float | None = None
    call_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """Parts of a budget that the user fixed; None leaves the host profile's number."""

    tokens: int | None = None
    bytes: int | None = None
    lines: int | None = None
    line_chars: int | None = None


@dataclass(frozen=True, slots=True)
class ToolSettings:
    """What the user fixed for one tool, by `server/tool` (a glob is allowed)."""

    budget: BudgetSettings = field(default_factory=BudgetSettings)
    view: Literal["auto", "exact"] = "auto"
    select: str | None = None
    """A JMESPath projection that replaces the automatic view (`view: {"select": …}`)."""
    timeouts: Timeouts = field(default_factory=Timeouts)


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """How to reach one upstream.

    `problem` is set instead of a usable configuration when, for instance, a variable is not set: the server is
    then unavailable, with that reason. `env` and `headers` hold secrets and must never be printed (P12).
    """

    name: str
    transport: Transport
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=lambda: {}, repr=False)
    cwd: str | None = None
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=lambda: {}, repr=False)
    disabled: bool = False
    protocol: Protocol = "auto"
    timeouts: Timeouts = field(default_factory=Timeouts)
    problem: str = ""
    fingerprint: str = ""
    """Hex digest of the entry as written (variables unexpanded): a kept catalog belongs to it."""


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """Where and how long results are kept."""

    path: str
    """Absolute path of the SQLite database."""
    ttl_seconds: float = policy.TTL_SECONDS
    quota_bytes: int = policy.QUOTA_BYTES


@dataclass(frozen=True, slots=True)
class Settings:
    """One whole configuration."""

    servers: Mapping[str, ServerConfig]
    store: StoreSettings
    mode: Mode = "compact"
    host: str = "auto"
    """A profile's name in `policy.HOSTS`, or `auto`: chosen by the client's name at initialise."""
    budget: BudgetSettings = field(default_factory=BudgetSettings)
    allow: tuple[str, ...] = ("*",)
    deny: tuple[str, ...] = ()
    tools: Mapping[str, ToolSettings] = field(default_factory=lambda: {})
    flows_allow: tuple[str, ...] = ()
    """`FROM -> TO`: globs on servers or `server/tool` between which results may be put into calls by reference."""
    flows_deny: tuple[str, ...] = ()
    """The same, for flows that are refused, within one server too; a deny wins."""
    timeouts: Timeouts = field(default_factory=Timeouts)
    join_within_ms: int = 0
    scope: str = ""
    """Identity of the configuration file: groups recent results."""
    source: str = ""
    """Path of the file, or empty for `serve -- COMMAND`."""
