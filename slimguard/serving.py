"""Run a guard towards its hosts: stdio, HTTP, or one question of the command line; what runs is app.py's."""

from __future__ import annotations

import logging
import signal
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import anyio

from slimguard import policy, ranking
from slimguard.app import App, running
from slimguard.guard import read as reading
from slimguard.host.server import Context, initialization_options, make_server
from slimguard.host.stdio import host_streams, stderr_log
from slimguard.model import Caller, JsonObject, Reply
from slimguard.points import nowhere
from slimguard.settings import Settings


async def serve_stdio(
    settings: Settings, at: Callable[[str], None] = nowhere, reload: Callable[[], Settings] | None = None
) -> None:
    """Serve one host over stdin and stdout until it hangs up or a signal comes; `at` is for the fault tests."""
    _silence_libraries()
    async with running(settings, at=at, reload=reload) as app, anyio.create_task_group() as group:
        group.start_soon(_stop_on_signal, group.cancel_scope)
        server, announce = make_server(app, owner_of=lambda _: app.owner, log=stderr_log, listed=app.listed.set)
        if settings.mode == "native":
            group.start_soon(_announce_changes, app, announce)
        async with host_streams(stderr_log, at) as (read, write):
            await server.run(read, write, initialization_options(server, tools_changed=settings.mode == "native"))
        group.cancel_scope.cancel()


async def _announce_changes(app: App, announce: Callable[[], Awaitable[None]]) -> None:
    """Tell the host of changed tools (native mode)."""
    while True:
        await app.changed.wait()
        await announce()


async def serve_http(
    settings: Settings, *, host: str, port: int, token: str, reload: Callable[[], Settings] | None = None
) -> None:
    """Serve hosts over Streamable HTTP until a signal comes."""
    import uvicorn  # noqa: PLC0415 - only here

    from slimguard.host.http import application, owner_of_token  # noqa: PLC0415

    _silence_libraries()
    owner = owner_of_token(token)

    def owner_of(_context: Context) -> str:
        return owner

    async with running(settings, reload=reload) as app:
        app.listed.set()
        server, _ = make_server(app, owner_of=owner_of, log=stderr_log, listed=app.listed.set)
        asgi: Any = application(server, token=token, host=host, port=port)
        config = uvicorn.Config(asgi, host=host, port=port, log_level="warning", timeout_graceful_shutdown=1)
        await uvicorn.Server(config).serve()


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
