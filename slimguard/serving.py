"""Run a guard towards its hosts: stdio, HTTP, or one question of the command line; what runs is app.py's.

Over stdio the host gets its handshake and its list of tools before the guard proper is imported: half of its modules
are never needed for that, and a host waits for it at every start. So nothing here imports app.py at the top.
"""

from __future__ import annotations

import logging
import signal
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from slimguard import memory, policy
from slimguard.clock import os_user
from slimguard.host.lane import Envelopes, Lane
from slimguard.host.server import Context, HostRequest, Surface, initialization_options, make_server, plain_calls
from slimguard.host.stdio import host_streams, stderr_log
from slimguard.host.surface import instructions_for, listed_tools
from slimguard.model import Caller, JsonObject, Reply
from slimguard.points import nowhere
from slimguard.settings import Settings

if TYPE_CHECKING:
    from slimguard.app import App
    from slimguard.ranking import Found


@dataclass(slots=True)
class Front(Surface):
    """What the host talks to from the first moment: lists the tools at once, and holds calls until the guard is there.

    In native mode the list is the guard's own, so that it waits too.
    """

    settings: Settings
    listed: anyio.Event = field(default_factory=anyio.Event)
    """Set when the host has its tools, or needs the guard."""
    loaded: anyio.Event = field(default_factory=anyio.Event)
    """Set when `guard` is."""
    gone: anyio.Event = field(default_factory=anyio.Event)
    """Set when the host has left."""
    guard: App | None = None

    async def tools(self, host: str) -> list[JsonObject]:
        """The definitions for one host."""
        if self.guard is None and self.settings.mode != "native":
            return listed_tools(self.settings, host)
        return await (await self._guard()).tools(host)

    async def call(self, name: str, arguments: JsonObject, request: HostRequest) -> Reply:
        """Run one of the tools when the guard is there; raises `SlimguardError`."""
        return await (await self._guard()).call(name, arguments, request)

    async def _guard(self) -> App:
        self.listed.set()
        while self.guard is None:
            await self.loaded.wait()
        return self.guard


async def serve_stdio(
    settings: Settings, at: Callable[[str], None] = nowhere, reload: Callable[[], Settings] | None = None
) -> None:
    """Serve one host over stdin and stdout until it hangs up or a signal comes; `at` is for the fault tests."""
    _silence_libraries()
    front, owner, envelopes = Front(settings), os_user(), Envelopes()
    server, announce = make_server(
        front,
        owner_of=lambda _: owner,
        log=stderr_log,
        listed=front.listed.set,
        envelopes=envelopes,
        instructions=instructions_for(settings),
    )
    call = plain_calls(server, front, owner, stderr_log)
    async with anyio.create_task_group() as behind:
        behind.start_soon(_run_guard, front, at, reload, announce)
        async with anyio.create_task_group() as group:
            group.start_soon(_stop_on_signal, group.cancel_scope)
            async with host_streams(stderr_log, partial(Lane, envelopes, call), at) as (read, write):
                await server.run(read, write, initialization_options(server, tools_changed=settings.mode == "native"))
            group.cancel_scope.cancel()
        front.gone.set()
        if front.guard is None:
            behind.cancel_scope.cancel()


async def _run_guard(
    front: Front,
    at: Callable[[str], None],
    reload: Callable[[], Settings] | None,
    announce: Callable[[], Awaitable[None]],
) -> None:
    """Load the guard once the host has its list of tools, and run it until the host has left.

    It is never cancelled once it runs: that would end the servers before their calls had their time (P2).
    """
    with anyio.move_on_after(policy.LISTED_WAIT_SECONDS):
        await front.listed.wait()
    running = await anyio.to_thread.run_sync(_load, abandon_on_cancel=True)
    async with running(front.settings, at=at, reload=reload) as app:
        app.listed.set()
        front.guard = app
        front.loaded.set()
        async with anyio.create_task_group() as group:
            if front.settings.mode == "native":
                group.start_soon(_announce_changes, app, announce)
            await front.gone.wait()
            group.cancel_scope.cancel()


async def _announce_changes(app: App, announce: Callable[[], Awaitable[None]]) -> None:
    """Tell the host of changed tools."""
    while True:
        await app.changed.wait()
        await announce()


def _load() -> Any:
    """Import the guard proper, in a worker thread, so that the host's messages are taken meanwhile."""
    from slimguard.app import running  # noqa: PLC0415 - that is the point

    memory.settle()
    return running


async def serve_http(
    settings: Settings, *, host: str, port: int, token: str, reload: Callable[[], Settings] | None = None
) -> None:
    """Serve hosts over Streamable HTTP until a signal comes."""
    import uvicorn  # noqa: PLC0415 - only here

    from slimguard.app import running  # noqa: PLC0415
    from slimguard.host.http import application, owner_of_token  # noqa: PLC0415

    _silence_libraries()
    memory.settle()
    owner = owner_of_token(token)

    def owner_of(_context: Context) -> str:
        return owner

    async with running(settings, reload=reload) as app:
        app.listed.set()
        told = instructions_for(settings)
        server, _ = make_server(app, owner_of=owner_of, log=stderr_log, listed=app.listed.set, instructions=told)
        asgi: Any = application(server, token=token, host=host)
        config = uvicorn.Config(asgi, host=host, port=port, log_level="warning", timeout_graceful_shutdown=1)
        web: Any = uvicorn.Server(config)
        # Its own handlers raise the signal anew when it has ended, which would kill us before calls are stored.
        web.capture_signals = nullcontext
        async with anyio.create_task_group() as group:
            group.start_soon(_end_on_signal, web)
            await web.serve()
            group.cancel_scope.cancel()


async def _end_on_signal(web: Any) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            web.should_exit = True


def _silence_libraries() -> None:
    """No library writes to stderr: their messages quote headers, bodies and arguments (P12)."""
    logging.disable(logging.CRITICAL)


async def _stop_on_signal(scope: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            scope.cancel()
            return


async def read_once(settings: Settings, arguments: JsonObject) -> Reply:
    """One `read_result` for the command line, without any upstream."""
    from slimguard.app import running  # noqa: PLC0415
    from slimguard.guard import read as reading  # noqa: PLC0415

    async with running(replace(settings, servers={})) as app:
        caller = Caller(app.owner, settings.scope, "cli", "default")
        return await reading.read_result(app.services, caller, arguments)


async def find_once(settings: Settings, query: str, limit: int) -> Found:
    """One ranking for the command line, over kept and live catalogs."""
    from slimguard.app import running  # noqa: PLC0415

    async with running(settings) as app:
        app.listed.set()
        await app.started.wait()
        await app.fleet.settle(policy.CONNECT_WAIT_SECONDS)
        shelf = app.services.shelf
        await shelf.index()
        if shelf.embedder is not None:
            await anyio.to_thread.run_sync(shelf.embedder.settle, policy.CONNECT_WAIT_SECONDS)
        return await shelf.search(query, limit=limit)
