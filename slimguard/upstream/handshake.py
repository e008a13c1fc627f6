"""Agreeing on an era with a server: `server/discover` first, `initialize` for whoever does not know it.

It must never send anything but handshake messages, and never decide an era from silence alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

import anyio

from slimguard import __version__, policy
from slimguard.errors import UpstreamFailed
from slimguard.model import Json
from slimguard.settings import Protocol
from slimguard.upstream.peer import Peer, Reply, error_code, result_object
from slimguard.upstream.wire import Wire

Era = Literal["modern", "legacy"]

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
UNSUPPORTED_VERSION = -32022

_CLIENT = {"name": "slimguard", "version": __version__}
_META = "io.modelcontextprotocol/"
_MODERN_STAMP: Mapping[str, Json] = {
    _META + "protocolVersion": MODERN,
    _META + "clientInfo": _CLIENT,
    _META + "clientCapabilities": {},
}


class StartAsLegacy(Exception):
    """The probe ended or blocked the server; a fresh start without it is the next thing to try."""


@dataclass(frozen=True, slots=True)
class Greeting:
    """What a server said of itself."""

    era: Era
    protocol: str
    title: str
    version: str
    instructions: str
    list_changed: bool
    offers: tuple[str, ...] = ()
    """Names of the declared capabilities beyond tools."""


async def negotiate(peer: Peer, wire: Wire, wanted: Protocol, known: Era | None, seconds: float) -> Greeting:
    """Agree on an era; raises `StartAsLegacy`, or `UpstreamFailed(ran="no")` when there is no way to agree."""
    if wanted == LEGACY or (wanted == "auto" and known == "legacy"):
        return await _legacy(peer, wire, await _initialize(peer, wire))
    probe = await _discover(peer, wire)
    if wanted == MODERN:
        await probe.done.wait()
        return await _modern(peer, wire, probe)
    with anyio.move_on_after(policy.PROBE_SECONDS):
        await probe.done.wait()
    if _is_modern(probe):
        return await _modern(peer, wire, probe)
    if peer.unusable.is_set():
        raise StartAsLegacy
    _refuse_disjoint(probe)
    return await _whichever_answers(peer, wire, probe, seconds / 2)


async def _whichever_answers(peer: Peer, wire: Wire, probe: Reply, seconds: float) -> Greeting:
    """Initialize beside a probe that may still be answered: a slow start is no verdict on the era."""
    handshake = await _initialize(peer, wire)
    with anyio.move_on_after(seconds):
        await _first(probe, handshake)
        if not _is_modern(probe) and error_code(handshake)[0] == UNSUPPORTED_VERSION:
            await probe.done.wait()
    if _is_modern(probe):
        return await _modern(peer, wire, probe)
    if handshake.response is None:
        raise StartAsLegacy
    return await _legacy(peer, wire, handshake)


async def _first(probe: Reply, handshake: Reply) -> None:
    """Wait for the handshake, or for the probe if that is answered in the affirmative."""
    async with anyio.create_task_group() as tasks:

        async def watch_probe() -> None:
            await probe.done.wait()
            if _is_modern(probe):
                tasks.cancel_scope.cancel()

        tasks.start_soon(watch_probe)
        await handshake.done.wait()
        tasks.cancel_scope.cancel()


async def _discover(peer: Peer, wire: Wire) -> Reply:
    wire.settled_on(MODERN)
    peer.stamp = _MODERN_STAMP
    return await peer.ask("server/discover")


async def _initialize(peer: Peer, wire: Wire) -> Reply:
    wire.settled_on("")
    peer.stamp = {}
    params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": _CLIENT}
    return await peer.ask("initialize", params)


async def _modern(peer: Peer, wire: Wire, probe: Reply) -> Greeting:
    result = result_object(probe, "server/discover")
    if MODERN not in _strings(result.get("supportedVersions")):
        raise UpstreamFailed(f"the server does not speak {MODERN}; set its `protocol` to auto", code="no_common_era")
    wire.settled_on(MODERN)
    peer.stamp = _MODERN_STAMP
    meta = _object(result.get("_meta"))
    return _greeting("modern", MODERN, result, _object(meta.get(_META + "serverInfo") or result.get("serverInfo")))


async def _legacy(peer: Peer, wire: Wire, handshake: Reply) -> Greeting:
    await handshake.done.wait()
    result = result_object(handshake, "initialize")
    protocol = result.get("protocolVersion")
    greeting = _greeting(
        "legacy", protocol if isinstance(protocol, str) else LEGACY, result, _object(result.get("serverInfo"))
    )
    wire.settled_on(greeting.protocol)
    await peer.tell("notifications/initialized")
    await wire.listen()
    return greeting


def _is_modern(probe: Reply) -> bool:
    if probe.response is None or probe.response.answer.kind != "result":
        return False
    try:
        return MODERN in _strings(result_object(probe, "server/discover").get("supportedVersions"))
    except UpstreamFailed:
        return False


def _refuse_disjoint(probe: Reply) -> None:
    """A server that names its versions, all of them newer than we know, would only refuse `initialize` too."""
    code, data = error_code(probe)
    supported = _strings(data.get("supported"))
    if code == UNSUPPORTED_VERSION and supported and all(version > MODERN for version in supported):
        raise UpstreamFailed(f"the server speaks only {', '.join(supported)[:200]}", code="no_common_era")


def _greeting(era: Era, protocol: str, result: Mapping[str, Any], server: Mapping[str, Any]) -> Greeting:
    capabilities = _object(result.get("capabilities"))
    tools = _object(capabilities.get("tools"))
    return Greeting(
        era=era,
        protocol=protocol,
        title=_text(server.get("title")) or _text(server.get("name")),
        version=_text(server.get("version")),
        instructions=_text(result.get("instructions")),
        list_changed=tools.get("listChanged") is True,
        offers=tuple(name for name in capabilities if name != "tools"),
    )


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _strings(value: Any) -> list[str]:
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return [item for item in items if isinstance(item, str)]
