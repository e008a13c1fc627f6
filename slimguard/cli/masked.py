"""Settings as they may be shown: names, sizes and places, never a value that could be secret."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any
from urllib.parse import urlsplit

from slimguard.model import Json
from slimguard.settings import ServerConfig, Settings

HIDDEN = "…"

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-[^}]*)?\}")


def value(text: str) -> str:
    """A value with nothing left of it but the variables it refers to."""
    found = [f"${{{name}}}" for name in _REFERENCE.findall(text.replace("$${", ""))]
    whole = _REFERENCE.fullmatch(text)
    return found[0] if whole else "".join([HIDDEN, *found]) if text else ""


def argument(text: str) -> str:
    """An argument: flags by their name, everything else hidden, since tokens are passed this way too."""
    if re.fullmatch(r"-[A-Za-z0-9]", text) or text == "--":
        return text
    flag = re.match(r"--[A-Za-z][A-Za-z0-9-]*", text)
    if flag and flag.end() == len(text):
        return text
    if flag and text[flag.end()] == "=":
        return f"{flag[0]}={value(text[flag.end() + 1 :])}"
    return value(text)


def address(text: str) -> str:
    """An address: scheme, host and port; no user, no path, no query."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        return HIDDEN
    if not host or "${" in text.split("/")[2]:
        return value(text)
    shown = f"{parts.scheme}://{host}" + (f":{port}" if port else "")
    return shown + (f"/{HIDDEN}" if parts.path.strip("/") or parts.query else "")


def written(file: Mapping[str, Json]) -> dict[str, Json]:
    """The configuration as written, values hidden."""
    servers: dict[str, Any] = file.get("mcpServers", {})
    return {**file, "mcpServers": {name: _entry(entry) for name, entry in servers.items()}}


def resolved(settings: Settings) -> dict[str, Json]:
    """The settings with every default and override, values hidden."""
    return {
        "source": settings.source,
        "scope": settings.scope,
        "mode": settings.mode,
        "host": settings.host,
        "budget": asdict(settings.budget),
        "tools": {
            "allow": list(settings.allow),
            "deny": list(settings.deny),
            "settings": {name: asdict(one) for name, one in settings.tools.items()},
        },
        "store": asdict(settings.store),
        "timeouts": asdict(settings.timeouts),
        "calls": {"join_within_ms": settings.join_within_ms},
        "servers": {name: _server(server) for name, server in settings.servers.items()},
    }


def _server(server: ServerConfig) -> dict[str, Json]:
    shown: dict[str, Json] = {"type": server.transport}
    if server.problem:
        shown["problem"] = server.problem
    if server.transport == "stdio":
        shown |= {"command": server.command, "args": [argument(one) for one in server.args]}
        shown |= {"env": dict.fromkeys(server.env, HIDDEN), "cwd": server.cwd}
    else:
        shown |= {"url": address(server.url), "headers": dict.fromkeys(server.headers, HIDDEN)}
    return {
        **shown,
        "disabled": server.disabled,
        "protocol": server.protocol,
        "timeouts": asdict(server.timeouts),
    }


def _entry(entry: Mapping[str, Json]) -> dict[str, Json]:
    shown = dict(entry)
    for key in ("env", "headers"):
        if key in shown:
            shown[key] = {name: value(text) for name, text in shown[key].items()}
    if "args" in shown:
        shown["args"] = [argument(text) for text in shown["args"]]
    if "url" in shown:
        shown["url"] = address(shown["url"])
    known = {"type", "command", "args", "env", "cwd", "url", "headers", "disabled", "timeout"}
    return {key: item if key in known else HIDDEN for key, item in shown.items()}
