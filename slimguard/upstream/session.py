"""The supervisor of one server: connects, lists, reconnects for the next call; it never repeats a call.

Whatever the server does ends here: nothing that it sends or fails at reaches another server's task.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import anyio
import anyio.abc

from slimguard import policy
from slimguard.errors import RequestRejected, UpstreamFailed
from slimguard.model import ServerState, ServerStatus, Tool
from slimguard.settings import ServerConfig
from slimguard.upstream.connection import Connection, OpenWire, Plan, explain, innermost, serve
from slimguard.upstream.handshake import Era, Greeting, StartAsLegacy
from slimguard.upstream.offered import offered

_RETIRED = "the server was removed from the configuration, or its entry changed"


@dataclass(frozen=True, slots=True)
class Hooks:
    """What a session tells its fleet."""

    on_change: Callable[[], None]
    on_listed: Callable[[ServerConfig, Sequence[Tool]], None]
    at: Callable[[str], None]
    log: Callable[[str], None]


class Session:
    """One configured server over the time of a fleet."""

    def __init__(self, config: ServerConfig, open_wire: OpenWire, hooks: Hooks) -> None:
        self.config = config
        self._open_wire = open_wire
        self._hooks = hooks
        self._era: Era | None = None
        self._connection: Connection | None = None
        self._tools: tuple[Tool, ...] = ()
        self._by_name: Mapping[str, Tool] = {}
        self._listed = False
        self._skipped: tuple[str, ...] = ()
        self._greeting: Greeting | None = None
        self._state: ServerState = "connecting"
        self._reason = ""
        self._attempts = 0
        self._progressed = anyio.Event()
        self._demand = anyio.Event()
        self._retired = anyio.Event()
        self._hopeless = False
        self._detail = ""
        self._tasks: anyio.abc.TaskGroup | None = None
        self.settled = anyio.Event()
        """Set once the first attempt to connect has ended, one way or the other."""

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The live listing, or the kept one until there is a live one."""
        return self._tools

    @property
    def status(self) -> ServerStatus:
        """What is known now."""
        greeting = self._greeting
        return ServerStatus(
            name=self.config.name,
            state=self._state,
            reason=self._reason,
            title=greeting.title if greeting else "",
            version=greeting.version if greeting else "",
            protocol=greeting.protocol if greeting else "",
            instructions=greeting.instructions if greeting else "",
            tools=len(self._tools),
            skipped=self._skipped,
            offers=greeting.offers if greeting else (),
        )

    @property
    def start_seconds(self) -> float:
        """How long this server may take to start and to list its tools."""
        return self.config.timeouts.start_seconds or policy.START_SECONDS

    def keep(self, tools: Sequence[Tool]) -> None:
        """Offer the tools of an earlier run; a live listing wins."""
        if not self._listed and not self._tools:
            self._tools = tuple(tools)
            self._hooks.on_change()

    def retire(self, reason: str = _RETIRED) -> None:
        """Start nothing new; calls in flight finish, then the connection closes and `run` returns."""
        self._retired.set()
        self._demand.set()
        self._wake()
        if self._connection is not None:
            self._connection.peer.stale(reason)

    def check(self, tool: Tool) -> None:
        """Refuse a tool whose definition is not the live one; raises `RequestRejected`."""
        live = self._by_name.get(tool.name)
        if live is None:
            message = f"{tool.id} is no longer offered by its server"
            raise RequestRejected(message, code="tool_gone", next_call="find_tool with what you want to do")
        if live.digest != tool.digest:
            message = f"the definition of {tool.id} has changed"
            call = f'find_tool(query="{tool.name}") and call the new tool_ref'
            raise RequestRejected(message, code="tool_changed", next_call=call)

    async def connection(self) -> Connection:
        """The live connection, made if need be; raises `UpstreamFailed(ran="no")` with the reason why not."""
        if (connection := self._usable()) is not None:
            return connection
        seen = self._attempts
        with anyio.move_on_after(self.start_seconds + policy.RECONNECT_SECONDS[1]):
            while True:
                if (connection := self._usable()) is not None:
                    return connection
                if self._hopeless or self._retired.is_set() or self._attempts > seen:
                    break
                self._demand.set()
                await self._progressed.wait()
        reason = self._reason or "it is still starting"
        raise UpstreamFailed(f"the server {self.config.name} cannot be reached: {reason}", code="unreachable")

    async def beyond(self) -> tuple[str, ...]:
        """Those of `prompts` and `resources` that the server lists; nothing when it is not connected."""
        connection = self._usable()
        return () if connection is None else await offered(connection.peer, connection.greeting.offers)

    async def run(self) -> None:
        """Supervise until retired or cancelled; never raises."""
        config = self.config
        if config.disabled or config.problem:
            reason = config.problem or "disabled in the configuration"
            self._hopeless = True
            self._become("disabled" if config.disabled else "unavailable", reason)
            return
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            await self._supervise()

    async def _supervise(self) -> None:
        failures = 0
        while not self._retired.is_set():
            connection = await self._attempt()
            if connection is None:
                failures += 1
            else:
                lived = await self._outlive(connection)
                failures = 0 if lived >= policy.STEADY_SECONDS else failures + 1
            if not self._retired.is_set():
                await self._pause(failures)

    async def _outlive(self, connection: Connection) -> float:
        """Wait until the connection takes no more calls; returns the seconds that it did."""
        began = anyio.current_time()
        if self._retired.is_set():
            connection.peer.stale(_RETIRED)
        await connection.peer.unusable.wait()
        self._connection = None
        self._become("unavailable", explain(connection.peer, connection.wire))
        return anyio.current_time() - began

    async def _pause(self, failures: int) -> None:
        """Wait before the next attempt: longer each time, but a call need not wait more than a second."""
        steps = policy.RECONNECT_SECONDS
        delay: float = steps[min(failures, len(steps) - 1)]
        if failures > 1:
            await anyio.sleep(min(delay, steps[1]))
        if self.config.transport == "stdio" and failures > policy.RECONNECT_STDIO_ATTEMPTS:
            delay = float("inf")
        with anyio.move_on_after(delay):
            await self._demand.wait()

    async def _attempt(self) -> Connection | None:
        """Try once to connect, in the other era if the first try ended the server; None when it did not work."""
        self._become("connecting", self._reason)
        self._detail = ""
        try:
            self._connection = await self._connect_in_either_era()
        finally:
            # Whoever asked while this went on gets its outcome; only later demands ask for another attempt.
            self._attempts += 1
            self._demand = anyio.Event()
        if self._connection is not None:
            self._become("ready", "")
        return self._connection

    async def _connect_in_either_era(self) -> Connection | None:
        known: Era | None = "legacy" if self.config.transport == "sse" else self._era
        try:
            with anyio.fail_after(self.start_seconds):
                try:
                    return await self._connect(known)
                except StartAsLegacy:
                    return await self._connect("legacy")
        except TimeoutError:
            self._fail_attempt(f"it did not start and list its tools within {self.start_seconds:g} s")
        except UpstreamFailed as error:
            self._fail_attempt(error.message)
        except Exception as error:  # noqa: BLE001 - P8: a server's trouble is its own
            self._fail_attempt(f"connecting failed: {innermost(error)}")
        self._era = None
        return None

    async def _connect(self, known: Era | None) -> Connection:
        if self._tasks is None:
            raise UpstreamFailed("the fleet is not running")
        plan = Plan(
            config=self.config,
            open_wire=self._open_wire,
            seconds=self.start_seconds,
            take=self._take,
            detail=self._note_detail,
            at=self._hooks.at,
            log=self._hooks.log,
        )
        connection: Connection = await self._tasks.start(serve, plan, known)
        self._era = connection.greeting.era
        self._greeting = connection.greeting
        return connection

    def _take(self, tools: tuple[Tool, ...], skipped: tuple[str, ...]) -> None:
        """A live listing replaces what was known."""
        self._listed = True
        self._tools, self._skipped = tools, skipped
        self._by_name = {tool.name: tool for tool in tools}
        self._hooks.on_listed(self.config, tools)
        self._hooks.on_change()

    def _note_detail(self, detail: str) -> None:
        self._detail = detail

    def _usable(self) -> Connection | None:
        connection = self._connection
        return connection if connection is not None and not connection.peer.unusable.is_set() else None

    def _fail_attempt(self, reason: str) -> None:
        more = [line for line in self._detail.split("\n") if line and line not in reason]
        self._become("unavailable", "\n".join([reason, *more]))

    def _become(self, state: ServerState, reason: str) -> None:
        self._state, self._reason = state, reason
        if state != "connecting":
            self.settled.set()
        self._wake()
        self._hooks.on_change()

    def _wake(self) -> None:
        progressed, self._progressed = self._progressed, anyio.Event()
        progressed.set()
