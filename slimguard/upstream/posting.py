"""One HTTP client towards one server: every request goes out once, from a body that cannot be sent again.

It must never follow a redirect of a `tools/call`, retry anything, or repeat a URL's path, query or user in a message.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import anyio
import httpx2

from slimguard import policy
from slimguard.model import Answer, Ran
from slimguard.points import nowhere
from slimguard.settings import ServerConfig
from slimguard.upstream.framing import Message, MessageId, Oversized, Response
from slimguard.upstream.spans import Bytes
from slimguard.upstream.stdio import parts_of, split_aside
from slimguard.upstream.wire import Inbound, NotSent, Outgoing

REFUSED = frozenset({307, 308, 401, 403, 404, 405, 406, 407, 413, 414, 415, 421, 429, 431})
"""Statuses with which a server says that it did not act on the request."""

_HINTS = {
    401: "; check the server's `headers` (a token is missing or wrong)",
    403: "; the token may lack a right",
    404: "; check the `url`",
    405: "; check the `url`, or set `type` to sse",
}
_ERROR_BODY_BYTES = 1024 * 1024


@dataclass(slots=True)
class Flight:
    """One request on its way: whether its bytes began to leave, have all left, and whether it was answered."""

    outgoing: Outgoing
    begun: bool = False
    answered: bool = False
    trouble: NotSent | None = None
    redirects: int = 0
    stray: Answer | None = None
    """What came on this request's own response under an id that nobody waits for."""
    flushed: anyio.Event = field(default_factory=anyio.Event)


def open_client(config: ServerConfig, start_seconds: float) -> httpx2.AsyncClient:
    """A client without redirects and without a read deadline: a tool may think for an hour."""
    url = httpx2.URL(config.url)
    loopback = url.host in ("localhost", "127.0.0.1", "::1")
    return httpx2.AsyncClient(
        headers={"accept-encoding": "identity", **config.headers},
        timeout=httpx2.Timeout(None, connect=start_seconds),
        limits=httpx2.Limits(
            max_connections=policy.HTTP_CONNECTIONS,
            max_keepalive_connections=policy.HTTP_CONNECTIONS,
            keepalive_expiry=policy.HTTP_KEEPALIVE_SECONDS,
        ),
        follow_redirects=False,
        trust_env=not loopback,
    )


class Poster:
    """Posts messages and reads bodies; what they mean is decided by the wires."""

    def __init__(self, client: httpx2.AsyncClient, inbound: Inbound, at: Callable[[str], None]) -> None:
        self.client = client
        self._inbound = inbound
        self._at = at

    async def flushed(self, flight: Flight) -> None:
        """Wait until the request left completely; raises `NotSent` when it did not."""
        await flight.flushed.wait()
        if flight.trouble is not None:
            raise flight.trouble

    @asynccontextmanager
    async def post(self, flight: Flight, url: str, headers: Mapping[str, str]) -> AsyncGenerator[httpx2.Response, None]:
        """Send the request and give the response; raises httpx2's errors."""
        size = str(len(flight.outgoing.body))
        whole = {"content-type": "application/json", "content-length": size, **headers}
        request = self.client.build_request("POST", url, content=self._body(flight), headers=whole)
        response = await self.client.send(request, stream=True)
        try:
            flight.flushed.set()
            yield response
        finally:
            with anyio.CancelScope(shield=True), anyio.move_on_after(1):
                await response.aclose()

    def broke(self, flight: Flight, error: Exception) -> None:
        """The exchange failed: tell the sender if the bytes had not left, else whoever waits for the answer."""
        reason = f"the connection failed ({type(error).__name__})"
        if not flight.flushed.is_set():
            flight.trouble = NotSent(reason, ran="unknown" if flight.begun else "no")
            flight.flushed.set()
        elif not flight.answered:
            self.fail(flight, reason, "unknown")

    def fail(self, flight: Flight, reason: str, ran: Ran) -> None:
        """Tell whoever waits that no answer will come; one under a wrong id came, then, and is kept as it is."""
        flight.answered = True
        if flight.stray is not None:
            self._inbound.message(Response(flight.outgoing.id, flight.stray, is_error=True))
            return
        self._inbound.failed(flight.outgoing.id, reason, ran)

    def refuse(self, flight: Flight, status: int) -> None:
        """The server answered with a status instead of a message."""
        reason = f"the server answered with HTTP status {status}{_HINTS.get(status, '')}"
        if 300 <= status < 400:
            reason = f"the server answered with a redirect (HTTP {status}), which is not followed; change the `url`"
        self.fail(flight, reason, "no" if status in REFUSED else "unknown")

    async def deliver(self, flight: Flight | None, data: Bytes | Oversized) -> bool:
        """Hand on what came for this request, or unasked for; whether it was anybody's."""
        if isinstance(data, Oversized):
            expected: MessageId = flight.outgoing.id if flight is not None else None
            reason = f"the answer of {data.size} bytes is over the limit of {policy.MESSAGE_LIMIT_BYTES} bytes"
            self._inbound.failed(data.id if data.id is not None else expected, reason, "yes")
            if flight is not None:
                flight.answered = True
            return True
        taken = [self._hand_on(flight, await split_aside(part), part) for part in parts_of(data)]
        return any(taken)

    async def deliver_body(self, flight: Flight, response: httpx2.Response) -> None:
        """Hand on a JSON body: a message, a batch of messages, or something illegal that is kept as it is."""
        body = await self.read(response, policy.MESSAGE_LIMIT_BYTES)
        if await self.deliver(flight, body) or isinstance(body, Oversized) or not body.strip():
            return
        flight.stray = flight.stray or Answer("illegal", bytes(body), "the body is not a JSON-RPC message")

    async def read(self, response: httpx2.Response, limit: int) -> Bytes | Oversized:
        """The whole body, or its ends when it is over the limit."""
        body, size, head = bytearray(), 0, b""
        async for chunk in self.chunks(response):
            size += len(chunk)
            body += chunk
            if size > limit:
                head = head or bytes(body[:300])
                body = body[-300:]
        return Oversized(head, bytes(body[-300:]), size) if size > limit else body

    async def chunks(self, response: httpx2.Response) -> AsyncIterator[bytes]:
        """The body as it comes."""
        async for chunk in response.aiter_bytes():
            self._inbound.first_bytes()
            yield chunk

    async def error_message(self, flight: Flight, response: httpx2.Response) -> bool:
        """Hand on a JSON-RPC answer in the body of an error status; whether there was one."""
        body = await self.read(response, _ERROR_BODY_BYTES)
        if isinstance(body, Oversized):
            return False
        message = await split_aside(body)
        if not isinstance(message, Response) or message.answer.kind == "illegal":
            return False
        # Some servers answer an error status under an id of their own: it can only mean this request.
        return self._hand_on(flight, replace(message, id=flight.outgoing.id), body)

    def _hand_on(self, flight: Flight | None, message: Message, data: Bytes) -> bool:
        """Pass a message on; only one without an id, or with this request's own, answers this request."""
        if flight is None or not isinstance(message, Response):
            return self._inbound.message(message)
        if message.id is None or str(message.id) == str(flight.outgoing.id):
            flight.answered = True
            return self._inbound.message(message, flight.outgoing.id)
        taken = self._inbound.message(message)
        if not taken:
            note = "the answer bears the id of another request"
            flight.stray = message.answer if message.answer.kind == "illegal" else Answer("illegal", bytes(data), note)
        return taken

    async def _body(self, flight: Flight) -> AsyncGenerator[bytes, None]:
        # A generator is consumed by the one send; nothing below us could send it a second time.
        body, called = flight.outgoing.body, flight.outgoing.ticket is not None
        flight.begun = True
        if called and self._at is not nowhere:
            self._at("before-write")
            yield body[: len(body) // 2]
            self._at("half-written")
            yield body[len(body) // 2 :]
            self._at("after-flush")
        else:
            yield body
        flight.flushed.set()


def where(url: str) -> str:
    """Scheme, host and port of a URL: what may be said of it."""
    parsed = httpx2.URL(url)
    port = f":{parsed.port}" if parsed.port is not None else ""
    return f"{parsed.scheme}://{parsed.host}{port}"


def same_origin(one: httpx2.URL, other: httpx2.URL) -> bool:
    """Whether two URLs lead to the same server."""
    return (one.scheme, one.host, one.port) == (other.scheme, other.host, other.port)


def media_type(response: httpx2.Response) -> str:
    """The content type without parameters, in lower case."""
    return response.headers.get("content-type", "").partition(";")[0].strip().lower()
