"""Values of an installation: our entry, a server found in a host, a host and its files; frozen data only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Literal

from slimguard.model import Json

NAME = "slimguard"
"""Our entry's name in every host."""

Format = Literal["jsonc", "toml", "yaml"]
Scope = Literal["project", "local", "user"]
"""`project`: shared with the project's repository. `local`: the user's own, for this project. `user`: everywhere."""

Where = tuple[str, ...]
"""Path of keys to the object (or list) of servers in a host's file."""


class HostFileRefused(Exception):
    """A host's file cannot be edited safely and was not touched; the message says why, quoting nothing of it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """How a host is to start us. `variables` are the names, never the values, that our configuration needs."""

    command: str
    args: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Machine:
    """Where we are: the platform as `sys.platform` names it, the environment and the working directory."""

    platform: str
    environment: Mapping[str, str]
    cwd: PurePath

    @property
    def home(self) -> PurePath:
        """The user's home directory."""
        path = type(self.cwd)
        key = "USERPROFILE" if self.platform == "win32" else "HOME"
        return path(self.environment.get(key) or self.environment.get("HOME") or str(self.cwd))

    @property
    def app_data(self) -> PurePath:
        """Where programs keep their settings: `%APPDATA%`, `~/Library/Application Support`, or `~/.config`."""
        path = type(self.cwd)
        if self.platform == "win32":
            return path(self.environment.get("APPDATA") or self.home / "AppData" / "Roaming")
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        return self.xdg_config

    @property
    def xdg_config(self) -> PurePath:
        """`$XDG_CONFIG_HOME`, or `~/.config`."""
        named = self.environment.get("XDG_CONFIG_HOME", "")
        return type(self.cwd)(named) if named.startswith("/") else self.home / ".config"


@dataclass(frozen=True, slots=True)
class HostFile:
    """One file in which a host keeps servers, and where in it."""

    path: PurePath
    scope: Scope
    where: Where
    format: Format = "jsonc"
    listed: bool = False
    """Servers are a list of objects with a `name`, not an object by name."""


@dataclass(frozen=True, slots=True)
class Imported:
    """One server found in a host, in the words of `slimguard.json`.

    `entry` may hold literal secrets and is never printed. `unsupported` says why it must stay where it is.
    """

    name: str
    """As the host's file has it."""
    entry: Mapping[str, Json] = field(repr=False)
    host: str = ""
    path: str = ""
    notes: tuple[str, ...] = ()
    unsupported: str = ""
    allow: tuple[str, ...] | None = None
    """The only tools that the host lets through, or None for all."""
    deny: tuple[str, ...] = ()
    start_seconds: float | None = None
    env_file: str = ""
    """A file of variables that the host reads for it; we take the names in it, never the values."""
    ours: bool = False
    """Whether this entry starts slimguard itself."""


@dataclass(frozen=True, slots=True)
class Host:
    """One host: its files in order of preference, its own form of an entry, and how to read one of its servers.

    `entry` makes the host's form of ours. `read` turns one server of the host into an `Imported`. `locate` gives the
    path of keys in a text where layouts differ, else `where`.
    """

    name: str
    title: str
    files: Callable[[Machine], tuple[HostFile, ...]]
    entry: Callable[[Entry], dict[str, Any]]
    read: Callable[[str, Mapping[str, Json], Machine], Imported]
    locate: Callable[[Json, Where], Where] = lambda _value, where: where
    """Gets the file's parsed value (None when it is empty)."""
    entry_at: Callable[[Entry, Where], dict[str, Any]] | None = None
    """Our entry by layout, where it differs with it."""
    warnings: Callable[[Json], tuple[str, ...]] = lambda _value: ()
    """What else in the file keeps the entry from working; gets the file's parsed value."""
    restart: str = ""
    """What the user does for the change to take effect."""
    environment: Literal["inherited", "passed", "bare"] = "inherited"
    """`inherited`: the host gives us its whole environment. `passed`: only what the entry names. `bare`: only literal
    values, so variables must be set there by hand."""
