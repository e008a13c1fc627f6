"""One HTTP client towards one server: every request goes out once, from a body that cannot be sent again.

It must never follow a redirect of a `tools/call`, retry anything, or repeat a URL's path, query or user in a message.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
import httpx2

from slimguard import policy
from slimguard.model import Answer, Ran
from slimguard.points import nowhere
from slimguard.settings import ServerConfig
from slimguard.upstream.framing import Message, MessageId, Noise, Oversized, Response
from slimguard.upstream.spans import Bytes, element_spans
from slimguard.upstream.stdio import split_aside
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
        """Tell whoever waits that no answer will come."""
        flight.answered = True
        self._inbound.failed(flight.outgoing.id, reason, ran)

    def refuse(self, flight: Flight, status: int) -> None:
        """The server answered with a status instead of a message."""
        reason = f"the server answered with HTTP status {status}{_HINTS.get(status, '')}"
        if 300 <= status < 400:
            reason = f"the server answered with a redirect (HTTP {status}), which is not followed; change the `url`"
        self.fail(flight, reason, "no" if status in REFUSED else "unknown")

    async def deliver(self, flight: Flight | None, data: Bytes | Oversized) -> None:
        """Hand on one message that came for this request, or unasked for."""
        expected: MessageId = flight.outgoing.id if flight is not None else None
        if isinstance(data, Oversized):
            reason = f"the answer of {data.size} bytes is over the limit of {policy.MESSAGE_LIMIT_BYTES} bytes"
            self._inbound.failed(data.id if data.id is not None else expected, reason, "yes")
            if flight is not None:
                flight.answered = True
            return
        message = await split_aside(data)
        if flight is not None and isinstance(message, Response):
            flight.answered = True
        self._inbound.message(message, expected)

    async def deliver_body(self, flight: Flight, response: httpx2.Response) -> None:
        """Hand on a JSON body: a message, a batch of messages, or something illegal that is kept as it is."""
        body = await self.read(response, policy.MESSAGE_LIMIT_BYTES)
        if isinstance(body, Oversized):
            await self.deliver(flight, body)
            return
        if body.lstrip()[:1] == b"[":
            await self._deliver_batch(flight, body)
            return
        message = await split_aside(body)
        if isinstance(message, Noise) and body.strip():
            message = _not_a_message(flight.outgoing.id, body)
        self._hand_on(flight, message)

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
        self._hand_on(flight, message)
        return True

    def _hand_on(self, flight: Flight, message: Message) -> None:
        flight.answered = flight.answered or isinstance(message, Response)
        self._inbound.message(message, flight.outgoing.id)

    async def _deliver_batch(self, flight: Flight, body: Bytes) -> None:
        try:
            spans = element_spans(body, len(body) - len(body.lstrip()))
        except ValueError:
            self._hand_on(flight, _not_a_message(flight.outgoing.id, body))
            return
        for start, end in spans:
            await self.deliver(flight, body[start:end])

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


def _not_a_message(identity: MessageId, body: Bytes) -> Response:
    return Response(identity, Answer("illegal", bytes(body), "the body is not a JSON-RPC message"), is_error=True)
