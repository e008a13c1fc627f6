"""From the file (or a command line) to `Settings`; raises one `ConfigurationError` that lists everything wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from slimguard.canonical import value_digest
from slimguard.config import files
from slimguard.config.checking import Problem, ignored, json_path, problems, suggested_name
from slimguard.config.own import own_problems, own_settings
from slimguard.config.servers import server_config, server_problems
from slimguard.config.variables import names_in
from slimguard.errors import ConfigurationError
from slimguard.jsonc import JsonSyntaxError, Node, list_of, loads, object_of, parse, position, value_of
from slimguard.model import Json
from slimguard.settings import ServerConfig, Settings, StoreSettings

SHOWN_PROBLEMS = 20
"""Problems listed of one file; who has more fixes these first."""

SCOPE_CHARS = 32


@dataclass(frozen=True, slots=True)
class Loaded:
    """A checked configuration, where it came from, and notes on what it says but slimguard does not use."""

    settings: Settings
    found: files.Found
    notes: tuple[str, ...]
    written: Mapping[str, Json] = field(default_factory=lambda: {}, repr=False)
    """The file's value as written, variables unexpanded; it may hold literal secrets."""


def load(path: str | None, environment: Mapping[str, str], cwd: str) -> Settings:
    """The settings of the configuration file, searched for as `files.find` says.

    A variable that is not set makes that one server unavailable (`ServerConfig.problem`). Everything else that is
    wrong raises one `ConfigurationError` with file, line, JSON path and what would be right.
    """
    return load_with_notes(path, environment, cwd).settings


def load_with_notes(path: str | None, environment: Mapping[str, str], cwd: str) -> Loaded:
    """As `load`, with the chosen file and the notes that `slimguard validate` prints."""
    found = files.find(path, environment, cwd)
    text = files.read(found.path)
    try:
        root = parse(text)
    except JsonSyntaxError as error:
        raise ConfigurationError(
            f"{found.path}:{error.line}:{error.column}: {error.message}",
            next_call="fix the JSON there; comments and trailing commas are allowed",
            code="config_syntax",
        ) from None
    wrong = problems(root)
    if not wrong:
        wrong = sorted([*server_problems(root), *own_problems(root)], key=lambda problem: problem.offset)
    if wrong:
        raise _error(found.path, text, wrong)
    notes = [*ignored(root), *_unmatched(root)]
    return Loaded(_settings(root, found.path, environment), found, tuple(notes), value_of(root))


def for_command(name: str, argv: Sequence[str], environment: Mapping[str, str]) -> Settings:
    """Settings for `slimguard serve -- COMMAND ARGS…`: one stdio server, no file, defaults for everything else.

    The command line is taken as it is: the shell has expanded its variables. The server gets the whole environment,
    since there is no file to name what it needs.
    """
    if not argv or not argv[0]:
        raise ConfigurationError("no command after --", next_call="slimguard serve -- COMMAND ARGS…")
    if suggested_name(name) != name:
        raise ConfigurationError(
            'a server\'s name has letters, digits, ".", "_" and "-" only', next_call=f"--name {suggested_name(name)}"
        )
    entry = {"command": argv[0], "args": list(argv[1:])}
    server = ServerConfig(
        name=name,
        transport="stdio",
        command=argv[0],
        args=tuple(argv[1:]),
        env=dict(environment),
        fingerprint=value_digest(entry),
    )
    return Settings(
        servers={name: server},
        store=StoreSettings(path=_default_store(environment)),
        scope=value_digest(["command", name, *argv])[:SCOPE_CHARS],
    )


def variables(path: str | None, environment: Mapping[str, str], cwd: str) -> tuple[str, ...]:
    """The names of the environment variables that the configuration needs, disabled servers left out, in order."""
    found = files.find(path, environment, cwd)
    file = object_of(loads(files.read(found.path)))
    servers = [object_of(entry) for entry in object_of(file.get("mcpServers")).values()]
    used: list[Json] = [entry for entry in servers if entry.get("disabled") is not True]
    used.append(object_of(object_of(file.get("slimguard")).get("store")).get("path"))
    return tuple(dict.fromkeys(name for text in _texts(used) for name in names_in(text)))


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for item in (*list_of(value), *object_of(value).values()):
        yield from _texts(item)


def scope_of(path: str) -> str:
    """The identity of a configuration file: a digest of its absolute path, stable over edits and restarts."""
    return value_digest(["file", path])[:SCOPE_CHARS]


def _settings(root: Node, path: Path, environment: Mapping[str, str]) -> Settings:
    file: dict[str, Any] = value_of(root)
    ours: dict[str, Any] = file.get("slimguard", {})
    overrides: dict[str, Any] = ours.get("servers", {})
    servers = {
        name: server_config(name, entry, overrides.get(name, {}), environment, path.parent)
        for name, entry in file.get("mcpServers", {}).items()
    }
    return own_settings(
        ours,
        servers,
        environment=environment,
        source=path,
        default_store=_default_store(environment),
        scope=scope_of(str(path)),
    )


def _default_store(environment: Mapping[str, str]) -> str:
    return str(files.user_data_dir(environment) / files.STORE_NAME)


def _unmatched(root: Node) -> list[str]:
    """Notes on globs whose server part names no configured server."""
    servers = root.get("mcpServers")
    names = [member.key for member in servers.members] if servers else []
    notes: list[str] = []
    for path in (("slimguard", "tools", "allow"), ("slimguard", "tools", "deny")):
        node = root.get(*path)
        for index, item in enumerate(node.items if node else ()):
            server = str(item.value).partition("/")[0]
            if not set(server) & set("*?[") and server not in names:
                notes.append(f"{json_path((*path, str(index)))} matches no configured server")
    return notes


def _error(path: PurePath, text: str, found: Sequence[Problem]) -> ConfigurationError:
    lines: list[str] = []
    for problem in found[:SHOWN_PROBLEMS]:
        line, column = position(text, problem.offset)
        lines.append(f"{path}:{line}:{column}: {json_path(problem.path)}: {problem.message}")
    if len(found) > SHOWN_PROBLEMS:
        lines.append(f"and {len(found) - SHOWN_PROBLEMS} more")
    return ConfigurationError(
        lines[0],
        detail="\n".join(lines[1:]),
        next_call="every key is listed in docs/reference/configuration.md; check again with: slimguard validate",
        code="config_invalid",
    )
