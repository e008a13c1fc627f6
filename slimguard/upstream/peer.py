"""Our half of JSON-RPC with one server: ids, who waits for what, and nothing sent that was not asked for.

It must never send a `tools/call` without a ticket, nor raise towards the wire that feeds it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

import anyio

from slimguard.errors import UpstreamFailed
from slimguard.model import Json, Ran
from slimguard.upstream.framing import Message, MessageId, Notification, Request, Response
from slimguard.upstream.spelling import spelled_out, with_marks
from slimguard.upstream.wire import NotSent, Outgoing, Ticket, Wire

METHOD_NOT_FOUND = -32601


class Waiter(Protocol):
    """Whoever waits for the answer to one request; each method is called at most once, on the event loop."""

    def answered(self, response: Response) -> None:
        """The answer came."""
        ...

    def failed(self, reason: str, ran: Ran) -> None:
        """No answer will come."""
        ...


@dataclass(slots=True)
class Reply:
    """A waiter for requests of our own (handshake, listing), and the event that it came."""

    response: Response | None = None
    reason: str = ""
    done: anyio.Event = field(default_factory=anyio.Event)

    def answered(self, response: Response) -> None:
        """Keep the answer."""
        self.response = response
        self.done.set()

    def failed(self, reason: str, ran: Ran) -> None:  # noqa: ARG002 - nothing of ours has effects
        """Keep the reason."""
        self.reason = reason
        self.done.set()


class Peer:
    """One connection's conversation, from the first byte to the last."""

    def __init__(self, at: Callable[[str], None], on_tools_changed: Callable[[], None]) -> None:
        self._at = at
        self._on_tools_changed = on_tools_changed
        self._wire: Wire | None = None
        self._last_id = 0
        self._waiting: dict[int, Waiter] = {}
        self._calls: dict[int, Callable[[Json], None] | None] = {}
        self._replies_to_send: list[bytes] = []
        self._has_reply = anyio.Event()
        self.stamp: Mapping[str, Json] = {}
        """Put into `params._meta` of every request (the 2026 envelope)."""
        self.noise = 0
        """Bytes that were no message, and answers nobody waited for."""
        self.unusable = anyio.Event()
        """Set when no new request may use the connection."""
        self.idle = anyio.Event()
        """Set when nothing waits any more on an unusable connection, or it is closed."""
        self.reason = ""

    def attach(self, wire: Wire) -> None:
        """Send through this wire from now on."""
        self._wire = wire

    @property
    def in_flight(self) -> int:
        """Calls of tools that wait for their answer."""
        return len(self._calls)

    async def ask(self, method: str, params: Mapping[str, Json] | None = None) -> Reply:
        """Send a request of our own and return its reply, which may not have come yet."""
        reply = Reply()
        try:
            identity = self._next_id(reply)
        except NotSent as error:
            reply.failed(error.reason, error.ran)
            return reply
        try:
            await self._send(Outgoing(self._request(identity, method, params or {}), method, identity))
        except NotSent as error:
            self.failed(identity, error.reason, error.ran)
        return reply

    async def tell(self, method: str, params: Mapping[str, Json] | None = None) -> None:
        """Send a notification; that the server is gone is somebody else's news."""
        message: dict[str, Json] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        try:
            await self._send(Outgoing(_encode(message), method))
        except NotSent:
            return

    async def call(
        self,
        params: Mapping[str, Json],
        waiter: Waiter,
        ticket: Ticket,
        *,
        headers: Mapping[str, str],
        progress: Callable[[Json], None] | None,
        spelled: Mapping[tuple[str | int, ...], str] | None = None,
    ) -> int:
        """Send one `tools/call` with its ticket; returns its id. Raises `NotSent`, and then `waiter` hears nothing."""
        identity = self._next_id(waiter)
        self._calls[identity] = progress
        marked, marks = with_marks(params, spelled or {}, ticket.ref)
        body = spelled_out(self._request(identity, "tools/call", marked, token=identity if progress else None), marks)
        try:
            await self._send(Outgoing(body, "tools/call", identity, headers, ticket))
        except BaseException:
            self._forget(identity)
            raise
        return identity

    async def answer_server(self) -> None:
        """Answer the server's own requests as they come; runs as long as the connection."""
        while True:
            await self._has_reply.wait()
            self._has_reply = anyio.Event()
            bodies, self._replies_to_send = self._replies_to_send, []
            for body in bodies:
                try:
                    await self._send(Outgoing(body, ""))
                except NotSent:
                    return

    def message(self, message: Message, expected: MessageId = None) -> bool:
        """Take one message of the server; false for one that nobody waits for, and for noise."""
        if isinstance(message, Response):
            return self._answered(message, expected)
        if isinstance(message, Request):
            self._asked(message)
        elif isinstance(message, Notification):
            self._told(message)
        else:
            self.noise += message.size
            return False
        return True

    def failed(self, identity: MessageId, reason: str, ran: Ran) -> None:
        """One request gets no answer; without an id it is the only one in flight, or nobody's."""
        key = self._key(identity)
        waiter = self._forget(key) if key is not None else None
        if waiter is not None:
            waiter.failed(reason, ran)

    def first_bytes(self) -> None:
        """Something arrives; the fault harness has a point here while calls are in flight."""
        if self._calls:
            self._at("half-response")

    def stale(self, reason: str) -> None:
        """Let what is in flight finish, and nothing new begin."""
        if not self.unusable.is_set():
            self.reason = reason
            self.unusable.set()
        self._check_idle()

    def closed(self, reason: str) -> None:
        """Everybody who still waits learns that the outcome is unknown."""
        self.stale(reason)
        for identity in list(self._waiting):
            self.failed(identity, reason, "unknown")
        self.idle.set()

    def _next_id(self, waiter: Waiter) -> int:
        if self.unusable.is_set():
            raise NotSent(self.reason, ran="no")
        self._last_id += 1
        self._waiting[self._last_id] = waiter
        return self._last_id

    def _request(self, identity: int, method: str, params: Mapping[str, Json], *, token: int | None = None) -> bytes:
        meta = dict(cast("Mapping[str, Json]", params.get("_meta") or {})) | dict(self.stamp)
        if token is not None:
            meta["progressToken"] = token
        whole = {**params, "_meta": meta} if meta else dict(params)
        return _encode({"jsonrpc": "2.0", "id": identity, "method": method, "params": whole})

    async def _send(self, outgoing: Outgoing) -> None:
        if self._wire is None:
            raise NotSent("the server is not connected", ran="no")
        await self._wire.send(outgoing)

    def _answered(self, response: Response, expected: MessageId) -> bool:
        key = self._key(expected if response.id is None else response.id)
        if key is None:
            self.noise += len(response.answer.raw)
            return False
        if key in self._calls:
            self._at("response-received")
        waiter = self._forget(key)
        if waiter is not None:
            waiter.answered(response)
        return True

    def _key(self, identity: MessageId) -> int | None:
        """Whose answer it is: by id, written as a number or as text; without one, the only request in flight."""
        if identity is None:
            candidates = list(self._calls or self._waiting)
            return candidates[0] if len(candidates) == 1 else None
        try:
            key = int(identity)
        except ValueError:
            return None
        return key if key in self._waiting else None

    def _forget(self, identity: int) -> Waiter | None:
        self._calls.pop(identity, None)
        waiter = self._waiting.pop(identity, None)
        self._check_idle()
        return waiter

    def _check_idle(self) -> None:
        if self.unusable.is_set() and not self._calls:
            self.idle.set()

    def _asked(self, request: Request) -> None:
        message: dict[str, Json] = {"jsonrpc": "2.0", "id": request.id}
        if request.method == "ping":
            message["result"] = {}
        elif request.method == "roots/list":
            message["result"] = {"roots": []}
        else:
            message["error"] = {"code": METHOD_NOT_FOUND, "message": "Method not found"}
        if len(self._replies_to_send) < _REPLY_QUEUE:
            self._replies_to_send.append(_encode(message))
            self._has_reply.set()

    def _told(self, notification: Notification) -> None:
        if notification.method == "notifications/tools/list_changed":
            self._on_tools_changed()
        elif notification.method == "notifications/progress" and isinstance(notification.params, dict):
            params = cast("dict[str, Any]", notification.params)  # pyright: ignore[reportUnknownMemberType]
            token = params.get("progressToken")
            progress = self._calls.get(token) if isinstance(token, int) else None
            if progress is not None:
                progress(params)


_REPLY_QUEUE = 1_000
"""Server requests that wait for our answer; a server that floods us with more gets none."""


def result_object(reply: Reply, what: str) -> dict[str, Any]:
    """The parsed result of a request of our own; raises `UpstreamFailed(ran="no")` with the server's error."""
    if reply.response is None:
        raise UpstreamFailed(f"{what} was not answered: {reply.reason or 'no answer in time'}", code="no_answer")
    answer = reply.response.answer
    if answer.kind == "illegal":
        raise UpstreamFailed(f"{what} was answered with something illegal: {answer.note}", code="illegal")
    try:
        value: Any = json.loads(answer.raw)
    except (ValueError, RecursionError) as error:
        raise UpstreamFailed(f"the answer to {what} is not readable: {type(error).__name__}", code="illegal") from None
    if answer.kind == "error":
        raise UpstreamFailed(f"{what} was refused: {_error_text(value)}", code="refused")
    return cast("dict[str, Any]", value)


def error_code(reply: Reply) -> tuple[int | None, dict[str, Any]]:
    """Code and data of a JSON-RPC error reply, or None when it is something else."""
    if reply.response is None or reply.response.answer.kind != "error":
        return None, {}
    try:
        value: Any = json.loads(reply.response.answer.raw)
    except (ValueError, RecursionError):
        return None, {}
    error = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    code, data = error.get("code"), error.get("data")
    return (code if isinstance(code, int) else None), (cast("dict[str, Any]", data) if isinstance(data, dict) else {})


def _error_text(value: Any) -> str:
    error = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    return f"{str(error.get('message'))[:300]} ({error.get('code')})"


def _encode(message: Mapping[str, Json]) -> bytes:
    # ASCII: some servers split lines at U+2028, and lone surrogates must survive.
    return json.dumps(message, separators=(",", ":"), allow_nan=False).encode("ascii")
