"""The short way of a plain `tools/call` over stdio: from its line to its answer without the SDK's session.

The SDK's layers cost more than the rest of a small call. They judge the first call of each envelope (era, client); a
later call in the same envelope, with nothing unusual about it, needs no second judgement. Whatever is unusual goes
the SDK's way. This must never answer what the SDK would refuse, nor a request that the host has cancelled.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

import anyio

from slimguard.canonical import canonical, dump
from slimguard.host.outlet import Outlet
from slimguard.model import Json, JsonObject, is_object

ENVELOPE_PREFIX = "io.modelcontextprotocol/"
"""Keys of `_meta` that the protocol keeps for itself; together they are a request's envelope."""

KNOWN_ENVELOPES = 8
"""More of them on one connection are no host's ordinary doing, and go the SDK's way."""

PROGRESS_WAITING = 64
"""Progress is dropped while so many lines wait to be read by the host."""

MOST_DIGITS = 18
"""A longer text is no id that a host counts up, and not compared as a number."""

_REQUEST_KEYS = {"jsonrpc", "id", "method", "params"}
_PARAMS_KEYS = {"name", "arguments", "_meta"}
_CLOSED = {"code": -32000, "message": "Connection closed"}

Identifier = int | str
Progress = Callable[[Json], None]


@dataclass(frozen=True, slots=True)
class Accepted:
    """What the SDK found of an envelope: the version that is spoken in it, and the client's name."""

    version: str
    client: str


@dataclass(frozen=True, slots=True)
class PlainCall:
    """A `tools/call` that has nothing unusual about it."""

    identifier: Identifier
    name: str
    arguments: Json
    meta: JsonObject
    accepted: Accepted

    @property
    def token(self) -> Identifier | None:
        """Where the host wants progress to be reported to."""
        return self.meta.get("progressToken")


Call = Callable[[PlainCall, Progress], Awaitable[JsonObject]]
"""Runs a call and returns its whole `result`; raises nothing but a cancellation."""


class Envelopes:
    """The envelopes in which the SDK took a call on this connection."""

    def __init__(self) -> None:
        self._accepted: dict[bytes, Accepted] = {}

    def accept(self, meta: JsonObject, accepted: Accepted) -> None:
        """The SDK took a call with this `_meta`."""
        if len(self._accepted) < KNOWN_ENVELOPES:
            self._accepted[_envelope(meta)] = accepted

    def find(self, meta: JsonObject) -> Accepted | None:
        """What the SDK found of the envelope in this `_meta`, if it took it before."""
        try:
            return self._accepted.get(_envelope(meta))
        except RecursionError:
            return None

    def forget(self) -> None:
        """A new handshake begins."""
        self._accepted.clear()


class Lane:
    """The calls of one connection that go the short way: `call` runs them, their answers leave by `outlet`."""

    def __init__(self, envelopes: Envelopes, call: Call, outlet: Outlet) -> None:
        self._envelopes = envelopes
        self._call = call
        self._outlet = outlet
        self._in_flight: dict[Identifier, anyio.CancelScope] = {}

    def takes(self, message: Json) -> PlainCall | None:
        """The call that `message` is, if it may go the short way. Listens to what ends calls and handshakes, too."""
        if not is_object(message):
            return None
        method = message.get("method")
        if method != "tools/call":
            if method == "notifications/cancelled":
                self._cancel(message.get("params"))
            elif method == "initialize":
                self._envelopes.forget()
            return None
        identifier, params = message.get("id"), message.get("params")
        if not _is_identifier(identifier) or message.get("jsonrpc") != "2.0" or not message.keys() <= _REQUEST_KEYS:
            return None
        if not is_object(params) or not params.keys() <= _PARAMS_KEYS or not isinstance(params.get("name"), str):
            return None
        meta = params.get("_meta", {})
        if not is_object(meta) or ("progressToken" in meta and not _is_identifier(meta["progressToken"])):
            return None
        accepted = self._envelopes.find(meta)
        if accepted is None:
            return None
        return PlainCall(identifier, params["name"], params.get("arguments"), meta, accepted)

    async def answer(self, call: PlainCall) -> None:
        """Run a call and post its answer; one that the host has cancelled gets none."""
        key, scope = _key(call.identifier), anyio.CancelScope()
        self._in_flight[key] = scope
        progress = _Progress(call.token, self._outlet)
        try:
            with scope:
                result = await self._call(call, progress.report)
                progress.close()
                self._outlet.post(_line({"jsonrpc": "2.0", "id": call.identifier, "result": result}))
        except anyio.get_cancelled_exc_class():
            self._outlet.post(_line({"jsonrpc": "2.0", "id": call.identifier, "error": _CLOSED}))
            raise
        finally:
            progress.close()
            if self._in_flight.get(key) is scope:
                del self._in_flight[key]

    def _cancel(self, params: Json) -> None:
        identifier = params.get("requestId") if is_object(params) else None
        scope = self._in_flight.get(_key(identifier)) if _is_identifier(identifier) else None
        if scope is not None:
            scope.cancel()


class _Progress:
    """Progress of one call on its way to the host; none without a token, and none after the answer."""

    def __init__(self, token: Identifier | None, outlet: Outlet) -> None:
        self._token = token
        self._outlet = outlet

    def report(self, params: Json) -> None:
        """Pass on what an upstream reports."""
        if self._token is None or not is_object(params) or not _is_number(params.get("progress")):
            return
        if self._outlet.waiting >= PROGRESS_WAITING:
            return
        told: dict[str, Any] = {"progressToken": self._token, "progress": params["progress"]}
        if _is_number(params.get("total")):
            told["total"] = params["total"]
        if isinstance(params.get("message"), str):
            told["message"] = params["message"]
        self._outlet.post(_line({"jsonrpc": "2.0", "method": "notifications/progress", "params": told}))

    def close(self) -> None:
        """Nothing more may follow."""
        self._token = None


def _envelope(meta: JsonObject) -> bytes:
    """What an envelope is known by."""
    if not meta:
        return b"{}"
    kept = {key: value for key, value in meta.items() if key.startswith(ENVELOPE_PREFIX)}
    return canonical(kept) if kept else b"{}"


def _key(identifier: Identifier) -> Identifier:
    """An id as the SDK compares it: `"7"` and `7` are one."""
    if isinstance(identifier, int) or len(identifier) > MOST_DIGITS:
        return identifier
    return int(identifier) if identifier.isascii() and identifier.isdecimal() else identifier


def _is_identifier(value: Any) -> TypeGuard[Identifier]:
    return isinstance(value, int | str) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _line(message: Mapping[str, Any]) -> bytes:
    return dump(message).encode("utf-8") + b"\n"
