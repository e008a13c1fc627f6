"""The composition root: configuration -> edges -> operations -> server; the only place where they meet."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from slimguard import policy
from slimguard.audit import FileAudit, audit_path
from slimguard.clock import SystemClock, os_user
from slimguard.errors import ConfigurationError, RequestRejected
from slimguard.guard import call as calling
from slimguard.guard import find as finding
from slimguard.guard import read as reading
from slimguard.guard.services import Services
from slimguard.guard.shelf import Shelf
from slimguard.host.native import NativeSurface, native_surface
from slimguard.host.profiles import profile_of
from slimguard.host.server import HostRequest, Surface
from slimguard.host.stdio import stderr_log
from slimguard.host.surface import CALL, FIND, READ, listed_tools, own_tool
from slimguard.model import Caller, Json, JsonObject, Reply, Tool
from slimguard.points import nowhere
from slimguard.semantic import Meanings, installed, load, vectors_path
from slimguard.settings import Settings
from slimguard.store import Store
from slimguard.store.tables import SqliteTables
from slimguard.tokens import Tokens
from slimguard.upstream.fleet import Fleet

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Threads:
    """Bounded work in worker threads (port `Compute`)."""

    small: anyio.CapacityLimiter
    large: anyio.CapacityLimiter

    async def run(self, function: Callable[[], T], *, large: bool = False) -> T:
        """Run `function` in a worker thread and return its value."""
        return await anyio.to_thread.run_sync(function, limiter=self.large if large else self.small)


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
    changed: anyio.Event = field(default_factory=anyio.Event)
    """Set, and replaced, when the servers' tools change."""

    async def tools(self, host: str) -> list[JsonObject]:
        """The definitions for one host: our three, or in native mode those of the tools themselves."""
        if self.settings.mode == "native":
            return list((await self._native()).definitions)
        return listed_tools(self.settings, host)

    def tools_changed(self) -> None:
        """Called by the fleet after its catalog was swapped."""
        self.changed.set()
        self.changed = anyio.Event()

    async def _native(self) -> NativeSurface:
        """The native surface; at a start without a kept catalog it waits a moment for the servers."""
        self.listed.set()
        await self.started.wait()
        with anyio.move_on_after(policy.NATIVE_LIST_SECONDS):
            while not self.services.shelf.catalog().tools and self._connecting():
                await self.changed.wait()
        return native_surface(self.services.shelf.catalog().tools)

    async def _native_tool(self, name: str, *, patient: bool) -> Tool | None:
        """The tool of a listed name; when `patient`, one that is not there yet is waited for while servers connect."""
        surface = await self._native()
        with anyio.move_on_after(policy.CONNECT_WAIT_SECONDS if patient else 0):
            while name not in surface.by_name and self._connecting():
                await self.changed.wait()
                surface = await self._native()
        return surface.by_name.get(name)

    def _connecting(self) -> bool:
        return any(status.state == "connecting" for status in self.fleet.statuses())

    async def call(self, name: str, arguments: JsonObject, request: HostRequest) -> Reply:
        """Run one of our tools for the host; raises `SlimguardError`."""
        self.listed.set()
        if not self.started.is_set():
            await self.started.wait()
        caller = Caller(request.owner, self.settings.scope, request.session, self._profile(request.client))
        if self.settings.mode == "native" and name not in (FIND, CALL, READ):
            return await self._call_native(name, arguments, caller, request)
        return await self._call_own(own_tool(name, self.settings.servers), arguments, caller, request)

    async def _call_own(self, name: str, arguments: JsonObject, caller: Caller, request: HostRequest) -> Reply:
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

    async def _call_native(self, name: str, arguments: JsonObject, caller: Caller, request: HostRequest) -> Reply:
        own = own_tool(name, self.settings.servers)
        tool = await self._native_tool(name, patient=own == name)
        if tool is None and own != name:
            return await self._call_own(own, arguments, caller, request)
        if tool is None:
            raise RequestRejected(
                f"no tool {name[:80]!r} is listed", next_call="list the tools again", code="unknown_tool"
            )
        channel = _Channel(request.progress)
        return await calling.call_directly(self.services, caller, tool, arguments, channel)

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
    settings: Settings,
    *,
    log: Callable[[str], None] = stderr_log,
    at: Callable[[str], None] = nowhere,
    reload: Callable[[], Settings] | None = None,
) -> AsyncGenerator[App, None]:
    """A guard with its store and upstreams; on leaving, calls in flight get 2 s and no child stays."""
    async with anyio.create_task_group() as group:
        app = _compose(settings, group, log, at)
        group.start_soon(_start_upstreams, app, group)
        if reload is not None:
            group.start_soon(_watch_configuration, app, reload, log)
        try:
            yield app
        finally:
            if app.services.shelf.embedder is not None:
                app.services.shelf.embedder.close()
            with anyio.CancelScope(shield=True), anyio.move_on_after(policy.SHUTDOWN_SECONDS + 1):
                await app.fleet.shutdown(policy.SHUTDOWN_SECONDS)
                await app.store.close()
            group.cancel_scope.cancel()


def _compose(settings: Settings, group: TaskGroup, log: Callable[[str], None], at: Callable[[str], None]) -> App:
    """All parts of one guard, each given what it needs of the others; nothing is opened or started here."""
    made: list[App] = []
    clock = SystemClock()
    store = Store(settings.store, clock, at=at)
    fleet = Fleet(
        settings.servers,
        store,
        store,
        clock,
        on_change=lambda: made[0].tools_changed() if made else None,
        at=at,
        log=log,
        join_within_ms=settings.join_within_ms,
    )
    compute = Threads(
        anyio.CapacityLimiter(policy.COMPUTE_THREADS), anyio.CapacityLimiter(policy.LARGE_COMPUTE_THREADS)
    )

    def background(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        group.start_soon(work)

    services = Services(
        settings=lambda: made[0].settings,
        upstreams=fleet,
        calls=fleet,
        snapshots=store,
        compute=compute,
        tables=SqliteTables(),
        counter=Tokens(),
        clock=clock,
        audit=FileAudit(audit_path(Path(settings.store.path)), clock.now),
        shelf=Shelf(fleet, lambda: made[0].settings, compute, _embedder(settings, log)),
        background=background,
        at=at,
    )
    made.append(App(settings, store, fleet, services, os_user()))
    return made[0]


def _embedder(settings: Settings, log: Callable[[str], None]) -> Meanings | None:
    """What knows what tools mean, when the extra `slimguard[semantic]` is installed and `find_tool` is offered."""
    version = "" if settings.mode == "native" else installed()
    return Meanings(load, version, vectors_path(Path(settings.store.path)), log) if version else None


async def _start_upstreams(app: App, group: TaskGroup) -> None:
    """Start the servers once the host has its list of tools, so that the start is not shared with them."""
    with anyio.move_on_after(policy.LISTED_WAIT_SECONDS):
        await app.listed.wait()
    await app.store.start()
    await group.start(app.fleet.run)
    app.started.set()
    if app.services.shelf.embedder is not None:
        await app.fleet.settle(policy.CONNECT_WAIT_SECONDS)
        await app.services.shelf.index()


async def _watch_configuration(app: App, reload: Callable[[], Settings], log: Callable[[str], None]) -> None:
    """Swap the settings when the file changes; a file that is wrong changes nothing and is said once."""
    seen = _stamp(app.settings.source)
    while True:
        await anyio.sleep(policy.RELOAD_SECONDS)
        now = _stamp(app.settings.source)
        if now == seen:
            continue
        seen = now
        try:
            settings = await anyio.to_thread.run_sync(reload)
        except ConfigurationError as error:
            log(f"the changed configuration is not used: {error.message}")
            continue
        if (settings.store, settings.mode) != (app.settings.store, app.settings.mode):
            log("a changed store or mode takes effect at the next start")
        app.settings = replace(settings, store=app.settings.store, mode=app.settings.mode)
        await app.fleet.reload(settings.servers)
        app.tools_changed()


def _stamp(source: str) -> tuple[int, int, int]:
    try:
        status = Path(source).stat()
    except OSError:
        return (0, 0, 0)
    return (status.st_mtime_ns, status.st_size, status.st_ino)
