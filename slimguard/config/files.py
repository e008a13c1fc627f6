"""Where the configuration and the store lie, by platform; reads one file and never writes any."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

from slimguard.errors import ConfigurationError

FILE_NAME = "slimguard.json"
STORE_NAME = "results.db"
VARIABLE = "SLIMGUARD_CONFIG"
SIZE_LIMIT = 8 * 1024 * 1024
"""A configuration above this is a mistake: a results file or a log under the wrong name."""


@dataclass(frozen=True, slots=True)
class Found:
    """The file that was chosen, and why: `--config`, the variable, the directory or the user's config directory."""

    path: Path
    reason: str


def user_config_dir(environment: Mapping[str, str], platform: str = sys.platform) -> PurePath:
    """The directory of the user's own `slimguard.json`."""
    return _user_dir(environment, platform, xdg="XDG_CONFIG_HOME", xdg_default=".config", windows="APPDATA")


def user_data_dir(environment: Mapping[str, str], platform: str = sys.platform) -> PurePath:
    """The directory of the store when the configuration names none."""
    return _user_dir(environment, platform, xdg="XDG_DATA_HOME", xdg_default=".local/share", windows="LOCALAPPDATA")


def home(environment: Mapping[str, str], platform: str = sys.platform) -> PurePath:
    """The user's home directory."""
    if platform == "win32":
        return PureWindowsPath(environment.get("USERPROFILE") or str(Path.home()))
    return PurePosixPath(environment.get("HOME") or str(Path.home()))


def absolute(written: str, base: PurePath, environment: Mapping[str, str]) -> str:
    """A path as written, with `~` expanded, made absolute against `base` (normalised, links kept)."""
    if written == "~" or written.startswith(("~/", "~\\")):
        written = str(home(environment) / written[2:])
    return os.path.normpath(base / written)


def find(path: str | None, environment: Mapping[str, str], cwd: str) -> Found:
    """The configuration file: `--config`, `$SLIMGUARD_CONFIG`, `./slimguard.json`, the user's config directory.

    Raises `ConfigurationError` when none of them exists, or the one that was asked for does not.
    """
    base = PurePath(cwd)
    asked = environment.get(VARIABLE, "")
    for written, reason in ((path, "--config"), (asked, f"${VARIABLE}")):
        if not written:
            continue
        found = Path(absolute(written, base, environment))
        if not _exists(found):
            raise ConfigurationError(
                f"{found}: no such file (named by {reason})",
                next_call="give the path of an existing file, or write one with: slimguard init",
                code="config_missing",
            )
        return Found(found, reason)
    candidates = [
        Found(Path(cwd) / FILE_NAME, "current directory"),
        Found(Path(user_config_dir(environment)) / FILE_NAME, "user's config directory"),
    ]
    for candidate in candidates:
        if _exists(candidate.path):
            return candidate
    places = ", ".join(str(candidate.path) for candidate in candidates)
    raise ConfigurationError(
        f"no configuration found; looked for --config, ${VARIABLE}, {places}",
        next_call="write one with: slimguard init, or guard one server: slimguard serve -- COMMAND ARGS…",
        code="config_missing",
    )


def read(path: Path) -> str:
    """The text of the file, without a byte order mark; raises `ConfigurationError` when it cannot be read."""
    try:
        with path.open("rb") as file:
            data = file.read(SIZE_LIMIT + 1)
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read: {error.strerror}", code="config_unreadable") from None
    if len(data) > SIZE_LIMIT:
        raise ConfigurationError(f"{path}: larger than {SIZE_LIMIT:,} bytes; this is no configuration")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8") from None


def _user_dir(environment: Mapping[str, str], platform: str, *, xdg: str, xdg_default: str, windows: str) -> PurePath:
    base = home(environment, platform)
    if platform == "win32":
        fallback = base / "AppData" / ("Roaming" if windows == "APPDATA" else "Local")
        return PureWindowsPath(environment.get(windows) or fallback) / "slimguard"
    if platform == "darwin":
        return base / "Library" / "Application Support" / "slimguard"
    named = environment.get(xdg, "")
    return (PurePosixPath(named) if named.startswith("/") else base / xdg_default) / "slimguard"


def _exists(path: Path) -> bool:
    """Whether something is there; what may not be looked at counts, so that reading it gives the reason."""
    try:
        return path.exists()
    except OSError:
        return True
