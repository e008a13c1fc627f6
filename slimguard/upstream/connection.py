"""One live conversation with a server, from opening its wire to closing it; after it began, no exception leaves it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol, cast

import anyio
import anyio.abc

from slimguard import policy
from slimguard.errors import UpstreamFailed
from slimguard.model import Tool
from slimguard.settings import ServerConfig
from slimguard.upstream.handshake import Era, Greeting, StartAsLegacy, negotiate
from slimguard.upstream.listing import list_tools
from slimguard.upstream.peer import Peer
from slimguard.upstream.wire import Inbound, Wire


class OpenWire(Protocol):
    """Opens the carrier of a configuration and closes it on leaving."""

    def __call__(self, config: ServerConfig, inbound: Inbound, at: Callable[[str], None]) -> Any:
        """An asynchronous context manager of a `Wire`."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """What a connection is made from, and whom it tells what."""

    config: ServerConfig
    open_wire: OpenWire
    seconds: float
    """For the handshake, and for each listing."""
    take: Callable[[tuple[Tool, ...], tuple[str, ...]], None]
    """Gets each listing: tools, and a line for each definition that was skipped."""
    detail: Callable[[str], None]
    """Gets what more is known of why it could not be made."""
    at: Callable[[str], None]
    log: Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Connection:
    """A conversation that calls can be sent on."""

    peer: Peer
    wire: Wire
    greeting: Greeting

    async def cancel(self, request_id: int) -> None:
        """Tell the server that nobody waits for this request; over 2026 HTTP that would close the answer's stream."""
        if self.wire.cancels_by_message:
            params = {"requestId": request_id, "reason": "cancelled by the host"}
            await self.peer.tell("notifications/cancelled", params)


async def serve(plan: Plan, known: Era | None, *, task_status: anyio.abc.TaskStatus[Connection]) -> None:
    """Own one connection: report it as started once the tools are listed, and stay until it may be closed.

    Before that, raises `UpstreamFailed(ran="no")`, `StartAsLegacy`, or whatever the carrier raised.
    """
    started = False
    failure: Exception | None = None
    changed = _Changes()
    peer = Peer(plan.at, changed.note)
    try:
        async with _opened(plan, peer) as wire:
            try:
                greeting = await negotiate(peer, wire, plan.config.protocol, known, plan.seconds)
                await _list(plan, peer, wire)
                task_status.started(Connection(peer, wire, greeting))
                started = True
                await _follow(plan, Connection(peer, wire, greeting), changed)
            except (UpstreamFailed, StartAsLegacy) as error:
                failure = error
            finally:
                if not started:
                    plan.detail(explain(peer, wire))
    except Exception as error:
        if not started:
            raise
        peer.closed(f"the connection failed: {innermost(error)}")
    if failure is not None and not started:
        raise failure


def explain(peer: Peer, wire: Wire) -> str:
    """Why a connection ended, for the owner: the reason, the exit code and the last lines of stderr."""
    return "\n".join(part for part in (peer.reason, wire.diagnosis()) if part)


def innermost(error: BaseException) -> str:
    """The name of the error inside of groups of errors."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return type(error).__name__


class _Changes:
    """Whether the server said that its tools changed since this was last asked."""

    def __init__(self) -> None:
        self._event = anyio.Event()

    def note(self) -> None:
        self._event.set()

    async def wait(self) -> None:
        await self._event.wait()
        self._event = anyio.Event()


@asynccontextmanager
async def _opened(plan: Plan, peer: Peer) -> AsyncGenerator[Wire, None]:
    async with plan.open_wire(plan.config, peer, plan.at) as wire, anyio.create_task_group() as tasks:
        peer.attach(wire)
        tasks.start_soon(peer.answer_server)
        yield wire
        tasks.cancel_scope.cancel()


async def _follow(plan: Plan, connection: Connection, changed: _Changes) -> None:
    """Keep the listing current until the connection may be closed."""
    if connection.greeting.era == "modern" and connection.greeting.list_changed:
        await connection.peer.ask("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_relist, plan, connection, changed)
        await connection.peer.idle.wait()
        tasks.cancel_scope.cancel()


async def _relist(plan: Plan, connection: Connection, changed: _Changes) -> None:
    while True:
        await changed.wait()
        try:
            with anyio.fail_after(plan.seconds):
                await _list(plan, connection.peer, connection.wire)
        except (UpstreamFailed, TimeoutError) as error:
            plan.log(f"{plan.config.name}: the changed tools could not be listed ({type(error).__name__})")
        await anyio.sleep(policy.RELIST_SECONDS)


async def _list(plan: Plan, peer: Peer, wire: Wire) -> None:
    plan.take(*await list_tools(peer, plan.config.name, wire.refuses))
