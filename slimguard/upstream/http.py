"""A connection over Streamable HTTP, both eras: answers as JSON or as events, streams resumed but no call repeated.

A call is posted once. When its event stream breaks it is taken up again by a GET with `Last-Event-ID`, which asks
for the rest of the answer and cannot start the tool.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.abc
import httpx2

from slimguard import policy
from slimguard.settings import ServerConfig
from slimguard.upstream.events import EventParser
from slimguard.upstream.posting import Flight, Poster, media_type, open_client, same_origin, where
from slimguard.upstream.wire import Inbound, Outgoing

_SESSION = "mcp-session-id"
_VERSION = "mcp-protocol-version"
_LAST_EVENT = "last-event-id"
_FIRST_MODERN = "2026"
_ACCEPT = "application/json, text/event-stream"
_LOST_SESSION = frozenset({400, 409, 410})
"""Servers that lost a session often say so with these instead of 404; a new handshake costs little."""
_REDIRECTS = 3
_QUIET_SECONDS = 10.0
_GOODBYE_SECONDS = 0.4


class HttpWire:
    """Messages to and from one Streamable HTTP endpoint."""

    def __init__(self, poster: Poster, url: str, inbound: Inbound, tasks: anyio.abc.TaskGroup) -> None:
        self._poster = poster
        self._url = httpx2.URL(url)
        self._inbound = inbound
        self._tasks = tasks
        self._version = ""
        self._session = ""

    @property
    def cancels_by_message(self) -> bool:
        """Only below 2026: there, hanging up is the cancellation."""
        return not self._is_modern

    async def send(self, outgoing: Outgoing) -> None:
        """Post a message; a request's answer is read in a task of its own."""
        if outgoing.ticket is not None:
            outgoing.ticket.spend()
        flight = Flight(outgoing)
        if outgoing.id is not None:
            self._tasks.start_soon(self._exchange, flight)
            await self._poster.flushed(flight)
            return
        with anyio.move_on_after(_QUIET_SECONDS):
            await self._exchange(flight)
        if flight.trouble is not None:
            raise flight.trouble

    def settled_on(self, version: str) -> None:
        """Put the version into the headers from now on."""
        self._version = version

    async def listen(self) -> None:
        """Open the stream for what the server says unasked; a server without one says so, and that is all."""
        self._tasks.start_soon(self._listen)

    def refuses(self, input_schema: Any) -> str | None:
        """Header annotations that cannot be honoured: the 2026 protocol demands that such a tool is left out."""
        if not self._is_modern:
            return None
        from mcp.shared.inbound import find_invalid_x_mcp_header  # noqa: PLC0415 - only 2026 HTTP servers need it

        return find_invalid_x_mcp_header(input_schema)

    def call_headers(self, name: str, input_schema: Any, arguments: Mapping[str, Any]) -> Mapping[str, str]:
        """`Mcp-Name`, and `Mcp-Param-*` for arguments that the schema marks."""
        if not self._is_modern:
            return {}
        from mcp.shared.inbound import encode_header_value, mcp_param_headers, x_mcp_header_map  # noqa: PLC0415

        return {"mcp-name": encode_header_value(name)} | mcp_param_headers(x_mcp_header_map(input_schema), arguments)

    def hurry(self) -> None:
        """Nothing to do: there is no child to wait for."""

    def diagnosis(self) -> str:
        """Where it is."""
        return f"at {where(str(self._url))}"

    async def goodbye(self) -> None:
        """Tell the server that the session is over, if there is one."""
        if not self._session:
            return
        with anyio.move_on_after(_GOODBYE_SECONDS, shield=True):
            try:
                await self._poster.client.delete(self._url, headers=self._headers(_ACCEPT))
            except httpx2.HTTPError:
                return

    @property
    def _is_modern(self) -> bool:
        return self._version >= _FIRST_MODERN

    def _headers(self, accept: str) -> dict[str, str]:
        headers = {"accept": accept}
        if self._session:
            headers[_SESSION] = self._session
        if self._version:
            headers[_VERSION] = self._version
        return headers

    async def _exchange(self, flight: Flight) -> None:
        """Post, read the answer; whatever happens, whoever waits is told."""
        headers = self._headers(_ACCEPT) | dict(flight.outgoing.headers)
        if self._is_modern and flight.outgoing.method:
            headers["mcp-method"] = flight.outgoing.method
        parser = EventParser()
        try:
            async with self._poster.post(flight, str(self._url), headers) as response:
                if await self._moved(flight, response):
                    return
                await self._take(flight, response, parser)
        except Exception as error:  # noqa: BLE001 - one exchange's trouble must not end the others
            if not flight.begun:
                self._inbound.stale(f"the server cannot be reached ({type(error).__name__})")
            if not parser.last_id or flight.answered:
                self._poster.broke(flight, error)
        if flight.outgoing.id is not None and not flight.answered and flight.trouble is None:
            await self._resume(flight, parser)

    async def _take(self, flight: Flight, response: httpx2.Response, parser: EventParser) -> None:
        status = response.status_code
        if flight.outgoing.method == "initialize" and response.is_success:
            self._session = response.headers.get(_SESSION, "")
        if flight.outgoing.id is None:
            return
        if status in (202, 204):
            self._poster.fail(flight, f"the server took the request without answering it (HTTP {status})", "unknown")
        elif response.is_success and media_type(response) == "text/event-stream":
            await self._events(flight, response, parser)
        elif response.is_success:
            await self._poster.deliver_body(flight, response)
        else:
            await self._refused(flight, response)

    async def _refused(self, flight: Flight, response: httpx2.Response) -> None:
        status = response.status_code
        if status == 404 and self._session:
            self._inbound.stale("the server ended the session")
            self._poster.fail(flight, "the server had ended the session, the next call opens a new one", "no")
            return
        if self._session and status in _LOST_SESSION:
            self._inbound.stale(f"the server refused the session (HTTP {status})")
        if status in (401, 403) or not await self._poster.error_message(flight, response):
            self._poster.refuse(flight, status)

    async def _events(self, flight: Flight | None, response: httpx2.Response, parser: EventParser) -> None:
        """Hand on what the stream says, until the answer came or it ends."""
        async for chunk in self._poster.chunks(response):
            for event in parser.feed(chunk):
                await self._poster.deliver(flight, event.data)
            if flight is not None and flight.answered:
                return

    async def _resume(self, flight: Flight, parser: EventParser) -> None:
        """Ask for the rest of a broken event stream; a GET, so the tool cannot run again."""
        attempts = policy.RESUME_ATTEMPTS if parser.last_id else 0
        for _ in range(attempts):
            wait = parser.retry_seconds if parser.retry_seconds is not None else policy.RESUME_SECONDS
            await anyio.sleep(min(wait, policy.RESUME_MAX_SECONDS))
            if not await self._follow(flight, parser) or flight.answered:
                break
        if not flight.answered:
            self._poster.fail(flight, "the server's response ended without an answer", "unknown")

    async def _listen(self) -> None:
        parser = EventParser()
        wait = policy.RESUME_SECONDS
        while await self._follow(None, parser):
            await anyio.sleep(parser.retry_seconds if parser.retry_seconds is not None else wait)
            wait = min(wait * 2, policy.RESUME_MAX_SECONDS)

    async def _follow(self, flight: Flight | None, parser: EventParser) -> bool:
        """Read one event stream to its end; whether it makes sense to open it again."""
        headers = self._headers("text/event-stream")
        if parser.last_id:
            headers[_LAST_EVENT] = parser.last_id
        rest = EventParser(last_id=parser.last_id, retry_seconds=parser.retry_seconds)
        try:
            async with self._poster.client.stream("GET", self._url, headers=headers) as response:
                if not response.is_success or media_type(response) != "text/event-stream":
                    return False
                await self._events(flight, response, rest)
        except (httpx2.HTTPError, httpx2.StreamError, OSError):
            pass
        parser.last_id, parser.retry_seconds = rest.last_id, rest.retry_seconds
        return True

    async def _moved(self, flight: Flight, response: httpx2.Response) -> bool:
        """Follow a redirect within the origin, for handshakes only; later requests then go there at once."""
        if response.status_code not in (307, 308) or flight.outgoing.method not in ("initialize", "server/discover"):
            return False
        target = self._url.join(response.headers.get("location", ""))
        if not same_origin(self._url, target) or target == self._url or flight.redirects >= _REDIRECTS:
            return False
        self._url = target
        again = Flight(flight.outgoing, redirects=flight.redirects + 1)
        flight.answered = True
        self._tasks.start_soon(self._exchange, again)
        return True


@asynccontextmanager
async def open_http(
    config: ServerConfig, inbound: Inbound, at: Callable[[str], None]
) -> AsyncGenerator[HttpWire, None]:
    """A client for the endpoint; on leaving, its session is ended."""
    client = open_client(config, config.timeouts.start_seconds or policy.START_SECONDS)
    async with client, anyio.create_task_group() as tasks:
        wire = HttpWire(Poster(client, inbound, at), config.url, inbound, tasks)
        try:
            yield wire
        finally:
            await wire.goodbye()
            inbound.closed("the connection was closed")
            tasks.cancel_scope.cancel()
