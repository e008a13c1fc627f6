"""A connection over the older HTTP carrier: one event stream down, posts to the endpoint that it names up."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.abc
import httpx2

from slimguard import policy
from slimguard.errors import UpstreamFailed
from slimguard.settings import ServerConfig
from slimguard.upstream.events import Event, EventParser
from slimguard.upstream.framing import Oversized
from slimguard.upstream.posting import Flight, Poster, media_type, open_client, same_origin, where
from slimguard.upstream.wire import Inbound, NotSent, Outgoing


class SseWire:
    """Messages to and from one legacy SSE endpoint."""

    def __init__(self, poster: Poster, url: str, inbound: Inbound, tasks: anyio.abc.TaskGroup) -> None:
        self._poster = poster
        self._url = httpx2.URL(url)
        self._inbound = inbound
        self._tasks = tasks
        self._endpoint: httpx2.URL | None = None
        self._problem = ""
        self._named = anyio.Event()

    @property
    def cancels_by_message(self) -> bool:
        """Always."""
        return True

    async def send(self, outgoing: Outgoing) -> None:
        """Post a message; its answer comes down the stream."""
        if self._endpoint is None:
            raise NotSent("the server named no endpoint", ran="no")
        if outgoing.ticket is not None:
            outgoing.ticket.spend()
        flight = Flight(outgoing)
        self._tasks.start_soon(self._post, flight, str(self._endpoint))
        await self._poster.flushed(flight)

    def settled_on(self, version: str) -> None:
        """Nothing to do: this carrier knows one era only."""

    async def listen(self) -> None:
        """Nothing to do: the stream is open."""

    def refuses(self, input_schema: Any) -> str | None:  # noqa: ARG002 - this carrier carries every tool
        """Nothing."""
        return None

    def call_headers(self, name: str, input_schema: Any, arguments: Mapping[str, Any]) -> Mapping[str, str]:  # noqa: ARG002
        """None."""
        return {}

    def hurry(self) -> None:
        """Nothing to do: there is no child to wait for."""

    def diagnosis(self) -> str:
        """Where it is."""
        return f"at {where(str(self._url))}"

    async def ready(self) -> None:
        """Wait for the endpoint; raises `UpstreamFailed(ran="no")` when there will be none."""
        await self._named.wait()
        if self._endpoint is None:
            raise UpstreamFailed(
                self._problem or "the event stream ended before it named an endpoint", code="no_stream"
            )

    async def run(self) -> None:
        """Read the stream to its end; then every call in flight is lost."""
        reason = "the server closed the event stream"
        try:
            headers = {"accept": "text/event-stream"}
            async with self._poster.client.stream("GET", self._url, headers=headers) as response:
                if response.is_success and media_type(response) == "text/event-stream":
                    await self._events(response)
                else:
                    reason = f"the server answered with HTTP status {response.status_code} instead of an event stream"
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError) as error:
            reason = f"the event stream failed ({type(error).__name__})"
        finally:
            self._problem = self._problem or f"{reason}, {self.diagnosis()}"
            self._named.set()
            self._inbound.closed(reason)

    async def _events(self, response: httpx2.Response) -> None:
        parser = EventParser()
        async for chunk in self._poster.chunks(response):
            await self._take_all(parser.feed(chunk))

    async def _take_all(self, events: Iterable[Event]) -> None:
        # A function of its own, so that nothing holds the last event while the next one is waited for.
        for event in events:
            if event.name != "endpoint":
                await self._poster.deliver(None, event.data)
            elif self._endpoint is None and not isinstance(event.data, Oversized):
                self._name(bytes(event.data).decode("utf-8", "replace"))

    def _name(self, endpoint: str) -> None:
        target = self._url.join(endpoint.strip())
        if not same_origin(self._url, target):
            self._problem = "the server named an endpoint on another origin, which is not used"
        else:
            self._endpoint = target
        self._named.set()

    async def _post(self, flight: Flight, url: str) -> None:
        try:
            async with self._poster.post(flight, url, {"accept": "application/json, text/event-stream"}) as response:
                if not response.is_success and flight.outgoing.id is not None:
                    self._poster.refuse(flight, response.status_code)
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError) as error:
            # The answer comes down the stream: once the request has left, a broken post says nothing about it.
            if not flight.flushed.is_set():
                self._poster.broke(flight, error)


@asynccontextmanager
async def open_sse(config: ServerConfig, inbound: Inbound, at: Callable[[str], None]) -> AsyncGenerator[SseWire, None]:
    """The event stream, open and with its endpoint named."""
    problem: UpstreamFailed | None = None
    client = open_client(config, config.timeouts.start_seconds or policy.START_SECONDS)
    async with client, anyio.create_task_group() as tasks:
        wire = SseWire(Poster(client, inbound, at), config.url, inbound, tasks)
        tasks.start_soon(wire.run)
        try:
            await wire.ready()
            yield wire
        except UpstreamFailed as error:
            problem = error
        finally:
            tasks.cancel_scope.cancel()
    if problem is not None:
        raise problem
