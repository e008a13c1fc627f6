"""The composition root: configuration -> edges -> operations -> server; the only place where they meet."""

from __future__ import annotations

import signal
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from slimguard import policy, ranking
from slimguard.clock import SystemClock, os_user
from slimguard.errors import RequestRejected
from slimguard.guard import call as calling
from slimguard.guard import find as finding
from slimguard.guard import read as reading
from slimguard.guard.services import Services
from slimguard.guard.shelf import Shelf
from slimguard.host.profiles import profile_of
from slimguard.host.server import Context, HostRequest, Surface, initialization_options, make_server
from slimguard.host.stdio import host_streams, stderr_log
from slimguard.host.surface import CALL, FIND, READ, definitions
from slimguard.model import Caller, Json, JsonObject, Reply
from slimguard.points import nowhere
from slimguard.settings import Settings
from slimguard.store import Store
from slimguard.store.tables import SqliteTables
from slimguard.tokens import Tokens
from slimguard.upstream.fleet import Fleet

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Threads:
    """Bounded work in worker threads (port `Compute`)."""

    limiter: anyio.CapacityLimiter

    async def run(self, function: Callable[[], T]) -> T:
        """Run `function` in a worker thread and return its value."""
        return await anyio.to_thread.run_sync(function, limiter=self.limiter)


class NoAudit:
    """An audit that keeps nothing."""

    def record(self, event: str, **fields: str | int | float | bool | None) -> None:
        """Drop the event."""


@dataclass(slots=True)
class App(Surface):
    """One running guard: what its parts are, and what the host edge asks of it."""

    settings: Settings
    store: Store
    fleet: Fleet
    services: Services
    owner: str
    listed: anyio.Event = field(default_factory=anyio.Event)
    """Set when the host has its tools, or needs the upstreams."""
    started: anyio.Event = field(default_factory=anyio.Event)
    """Set when the upstreams are being connected."""

    async def tools(self, host: str) -> list[JsonObject]:
        """The definitions of our tools for one host."""
        profile = policy.HOSTS.get(self._profile(host), policy.HOSTS["default"])
        return definitions(always_load=profile.always_load)

    async def call(self, name: str, arguments: JsonObject, request: HostRequest) -> Reply:
        """Run one of our tools for the host; raises `SlimguardError`."""
        self.listed.set()
        await self.started.wait()
        caller = Caller(request.owner, self.settings.scope, request.session, self._profile(request.client))
        if name == FIND:
            return await finding.find_tool(self.services, caller, arguments)
        if name == CALL:
            return await calling.call_tool(self.services, caller, arguments, _Channel(request.progress))
        if name == READ:
            return await reading.read_result(self.services, caller, arguments)
        raise RequestRejected(
            f"no tool {name[:80]!r} here; the tools are {FIND}, {CALL} and {READ}",
            next_call=f'{CALL}(tool_ref="{name[:80]}", arguments={{…}}) calls a tool of a server behind slimguard',
            code="unknown_tool",
        )

    def _profile(self, client: str) -> str:
        return profile_of(client) if self.settings.host == "auto" else self.settings.host


@dataclass(frozen=True, slots=True)
class _Channel:
    """The way back to the host while its request is open (port `HostChannel`)."""

    pass_on: Callable[[Json], None]

    def progress(self, params: Json) -> None:
        """Pass an upstream's progress on."""
        self.pass_on(params)


@asynccontextmanager
async def running(
    settings: Settings, *, log: Callable[[str], None] = stderr_log, at: Callable[[str], None] = nowhere
) -> AsyncGenerator[App, None]:
    """A guard with its store and upstreams; on leaving, calls in flight get 2 s and no child stays."""
    clock = SystemClock()
    store = Store(settings.store, clock, at=at)
    fleet = Fleet(
        settings.servers,
        store,
        store,
        clock,
        on_change=lambda: None,
        at=at,
        log=log,
        join_within_ms=settings.join_within_ms,
    )
    compute = Threads(anyio.CapacityLimiter(policy.COMPUTE_THREADS))
    async with anyio.create_task_group() as group:

        def background(work: Callable[[], Awaitable[None]]) -> None:
            group.start_soon(work)

        services = Services(
            settings=lambda: settings,
            upstreams=fleet,
            calls=fleet,
            snapshots=store,
            compute=compute,
            tables=SqliteTables(),
            counter=Tokens(),
            clock=clock,
            audit=NoAudit(),
            shelf=Shelf(fleet, lambda: settings, compute),
            background=background,
            at=at,
        )
        app = App(settings, store, fleet, services, os_user())
        group.start_soon(_start_upstreams, app, group)
        try:
            yield app
        finally:
            with anyio.CancelScope(shield=True), anyio.move_on_after(policy.SHUTDOWN_SECONDS + 1):
                await fleet.shutdown(policy.SHUTDOWN_SECONDS)
                await store.close()
            group.cancel_scope.cancel()


async def _start_upstreams(app: App, group: TaskGroup) -> None:
    """Start the servers once the host has its list of tools, so that the start is not shared with them."""
    with anyio.move_on_after(policy.LISTED_WAIT_SECONDS):
        await app.listed.wait()
    await app.store.start()
    await group.start(app.fleet.run)
    app.started.set()


async def serve_stdio(settings: Settings, at: Callable[[str], None] = nowhere) -> None:
    """Serve one host over stdin and stdout until it hangs up or a signal comes; `at` is for the fault tests."""
    async with running(settings, at=at) as app, anyio.create_task_group() as group:
        group.start_soon(_stop_on_signal, group.cancel_scope)
        server = make_server(app, owner_of=lambda _: app.owner, log=stderr_log, listed=app.listed.set)
        async with host_streams(stderr_log, at) as (read, write):
            await server.run(read, write, initialization_options(server, tools_changed=settings.mode == "native"))
        group.cancel_scope.cancel()


async def serve_http(settings: Settings, *, host: str, port: int, token: str) -> None:
    """Serve hosts over Streamable HTTP until a signal comes."""
    import uvicorn  # noqa: PLC0415 - only here

    from slimguard.host.http import application, owner_of_token  # noqa: PLC0415

    owner = owner_of_token(token)

    def owner_of(_context: Context) -> str:
        return owner

    async with running(settings) as app:
        app.listed.set()
        server = make_server(app, owner_of=owner_of, log=stderr_log, listed=app.listed.set)
        asgi: Any = application(server, token=token, host=host, port=port)
        config = uvicorn.Config(asgi, host=host, port=port, log_level="warning", timeout_graceful_shutdown=1)
        await uvicorn.Server(config).serve()


async def _stop_on_signal(scope: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            scope.cancel()
            return


async def read_once(settings: Settings, arguments: JsonObject) -> Reply:
    """One `read_result` for the command line, without any upstream."""
    async with running(replace(settings, servers={})) as app:
        caller = Caller(app.owner, settings.scope, "cli", "default")
        return await reading.read_result(app.services, caller, arguments)


async def find_once(settings: Settings, query: str, limit: int) -> ranking.Found:
    """One ranking for the command line, over kept and live catalogs."""
    async with running(settings) as app:
        app.listed.set()
        await app.started.wait()
        await app.fleet.settle(policy.CONNECT_WAIT_SECONDS)
        _, index = await app.services.shelf.index()
        return await app.services.compute.run(lambda: ranking.search(index, query, limit=limit))
