"""One entry of `mcpServers` to a `ServerConfig`; env, headers and address may be secret and appear in no message."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any
from urllib.parse import urlsplit

from slimguard.canonical import value_digest
from slimguard.config.checking import Problem, json_path
from slimguard.config.files import absolute
from slimguard.config.own import timeouts
from slimguard.config.variables import VariableProblem, expand
from slimguard.jsonc import Member, Node
from slimguard.settings import ServerConfig, Transport

_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_TRANSPORTS: dict[str, Transport] = {
    "stdio": "stdio",
    "http": "http",
    "sse": "sse",
    "streamable-http": "http",
    "streamableHttp": "http",
}


def server_problems(root: Node) -> Iterator[Problem]:
    """What is wrong with the entries beyond the types of their keys: which keys go together."""
    servers = root.get("mcpServers")
    for server in servers.members if servers else ():
        yield from _entry_problems(server)


def server_config(
    name: str, entry: Mapping[str, Any], override: Mapping[str, Any], environment: Mapping[str, str], base: PurePath
) -> ServerConfig:
    """The configuration of one checked entry; a variable that is not set becomes its `problem`."""
    plain = ServerConfig(
        name=name,
        transport=_transport(entry),
        disabled=entry.get("disabled", False),
        protocol=override.get("protocol", "auto"),
        timeouts=timeouts(override.get("timeouts", {})),
        fingerprint=value_digest(entry),
    )
    try:
        return _expanded(plain, entry, environment, base)
    except VariableProblem as problem:
        return replace(plain, problem=str(problem))


def _expanded(
    plain: ServerConfig, entry: Mapping[str, Any], environment: Mapping[str, str], base: PurePath
) -> ServerConfig:
    def text(*path: str | int) -> str:
        value: Any = entry
        for part in path:
            value = value[part]
        try:
            return expand(value, environment)
        except VariableProblem as problem:
            place = json_path(("mcpServers", plain.name, *(str(part) for part in path)))
            raise VariableProblem(f"{place}: {problem}") from None

    if plain.transport != "stdio":
        headers = {key: text("headers", key) for key in entry.get("headers", {})}
        found = replace(plain, url=text("url"), headers=headers)
        return replace(found, problem=_remote_problem(found))
    found = replace(
        plain,
        command=text("command"),
        args=tuple(text("args", index) for index in range(len(entry.get("args", [])))),
        env={key: text("env", key) for key in entry.get("env", {})},
        cwd=absolute(text("cwd"), base, environment) if entry.get("cwd") else None,
    )
    return replace(found, problem=_command_problem(found))


def _entry_problems(server: Member) -> Iterator[Problem]:
    entry, path = server.node, ("mcpServers", server.key)
    has = {member.key: member.node for member in entry.members}
    asked = has["type"].value if "type" in has else None
    if "command" in has and "url" in has and asked is None:
        yield Problem(server.start, path, 'has both "command" and "url"; keep one, or say which with "type"')
        return
    local = _TRANSPORTS[asked] == "stdio" if asked else "url" not in has
    needed, foreign = ("command", ("url", "headers")) if local else ("url", ("command", "args", "env", "cwd"))
    if needed not in has:
        what = (
            f'type "{asked}" needs "{needed}"' if asked else 'needs "command" (a local server) or "url" (a remote one)'
        )
        yield Problem(server.start, path, what)
        return
    for key in foreign:
        empty = key in has and not (has[key].members or has[key].items or has[key].value)
        if key in has and not empty and not (asked and key in ("command", "url")):
            kind = "local" if local else "remote"
            yield Problem(has[key].start, (*path, key), f"has no meaning for a {kind} server; remove it")
    written = has[needed].value
    if not written.strip():
        yield Problem(has[needed].start, (*path, needed), "must not be empty")
    elif not local and "${" not in written and (wrong := _wrong_url(written)):
        yield Problem(has[needed].start, (*path, needed), wrong)
    if not local and "headers" in has:
        yield from _header_problems(has["headers"], (*path, "headers"))


def _header_problems(headers: Node, path: tuple[str, ...]) -> Iterator[Problem]:
    for header in headers.members:
        if not _HEADER_NAME.fullmatch(header.key):
            yield Problem(header.start, path, "holds a name that HTTP does not allow; names have letters, digits and -")


def _transport(entry: Mapping[str, Any]) -> Transport:
    if "type" in entry:
        return _TRANSPORTS[entry["type"]]
    if "url" not in entry:
        return "stdio"
    try:
        path = urlsplit(str(entry["url"])).path
    except ValueError:
        return "http"
    return "sse" if path.rstrip("/").endswith("/sse") else "http"


def _remote_problem(found: ServerConfig) -> str:
    at: Callable[..., str] = lambda *path: json_path(("mcpServers", found.name, *path))  # noqa: E731
    if wrong := _wrong_url(found.url):
        return f"{at('url')}: {wrong}"
    for name, value in found.headers.items():
        if not value.isprintable() or not value.isascii():
            return f"{at('headers', name)}: its value holds a line break or a character that HTTP does not allow"
    return ""


def _command_problem(found: ServerConfig) -> str:
    if not found.command.strip():
        return f"{json_path(('mcpServers', found.name, 'command'))}: is empty after its variables were replaced"
    texts = (found.command, *found.args, found.cwd or "", *found.env.values())
    if any("\0" in text for text in texts):
        return f"{json_path(('mcpServers', found.name))}: holds a NUL character after its variables were replaced"
    return ""


def _wrong_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 0) >= 0
    except ValueError:
        usable = False
    if not usable or any(char.isspace() or not char.isprintable() for char in url):
        return "must be an address that starts with http:// or https:// and names a host"
    return ""
