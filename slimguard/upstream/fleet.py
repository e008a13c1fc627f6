"""All configured servers together: the catalog that they offer and the calls that they run (ports of the guard).

The catalog is an immutable value that is swapped; a call belongs to the fleet, never to the request that asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import anyio
import anyio.abc

from slimguard import policy
from slimguard.canonical import value_digest
from slimguard.errors import SlimguardError, UpstreamFailed
from slimguard.model import CallState, Execution, Json, Outcome, ServerStatus, Tool
from slimguard.points import nowhere
from slimguard.ports import CatalogKeeper, Clock, Ledger
from slimguard.settings import ServerConfig
from slimguard.upstream.calls import Executor
from slimguard.upstream.carriers import open_wire
from slimguard.upstream.run import Run
from slimguard.upstream.session import Hooks, Session
from slimguard.upstream.shelf import Shelf
from slimguard.upstream.warden import Warden


def _ignore(_: str) -> None:
    """The default of hooks that nobody set."""


class Fleet:
    """Implements the ports `Upstreams` and `Calls`; lives while `run` does."""

    def __init__(
        self,
        servers: Mapping[str, ServerConfig],
        ledger: Ledger,
        keeper: CatalogKeeper,
        clock: Clock,
        *,
        on_change: Callable[[], None] = lambda: None,
        at: Callable[[str], None] = nowhere,
        log: Callable[[str], None] = _ignore,
        join_within_ms: int = 0,
    ) -> None:
        self._keeper = keeper
        self._clock = clock
        self._on_change = on_change
        self._at = at
        self._log = log
        self._join_seconds = join_within_ms / 1000
        self._shelf = Shelf()
        self._warden = Warden()
        self._joinable: dict[str, tuple[float, Run]] = {}
        self._executor = Executor(ledger, clock, log, self._shelf.kept)
        self._sessions = {name: self._session(config) for name, config in servers.items()}
        self._tools: tuple[Tool, ...] = ()
        self._tasks: anyio.abc.TaskGroup | None = None
        self._closing = False
        self._stop = anyio.Event()
        self._stopped = anyio.Event()

    def tools(self) -> Sequence[Tool]:
        """All tools known now, of live servers and of the kept catalog."""
        return self._tools

    def statuses(self) -> Sequence[ServerStatus]:
        """One status a configured server, in the order of the configuration."""
        return tuple(session.status for session in self._sessions.values())

    async def settle(self, seconds: float) -> None:
        """Wait until every server is ready or unavailable, at most `seconds`."""
        with anyio.move_on_after(seconds):
            for session in list(self._sessions.values()):
                await session.settled.wait()

    async def beyond(self) -> Mapping[str, tuple[str, ...]]:
        """What connected servers offer beyond tools, of `prompts` and `resources`; servers without are left out."""
        found: dict[str, tuple[str, ...]] = {}

        async def ask(name: str, session: Session) -> None:
            found[name] = await session.beyond()

        async with anyio.create_task_group() as tasks:
            for name, session in self._sessions.items():
                tasks.start_soon(ask, name, session)
        return {name: found[name] for name in self._sessions if found.get(name)}

    async def run(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Own all servers until `shutdown`, or until cancelled; children are gone when it returns."""
        try:
            async with anyio.create_task_group() as tasks:
                self._tasks = tasks
                for session in self._sessions.values():
                    tasks.start_soon(session.run)
                with anyio.move_on_after(policy.KEPT_LOAD_SECONDS):
                    await self._load_kept(dict(self._sessions))
                task_status.started()
                await self._stop.wait()
                tasks.cancel_scope.cancel()
        finally:
            self._closing = True
            self._tasks = None
            self._warden.dismiss()
            self._stopped.set()

    async def shutdown(self, seconds: float = policy.SHUTDOWN_SECONDS) -> None:
        """End everything within `seconds`: idle servers at once, calls in flight get nearly all of it."""
        self._closing = True
        for session in self._sessions.values():
            session.retire(_SHUT_DOWN)
        with anyio.move_on_after(max(0.0, seconds - _MARGIN_SECONDS)):
            for run in list(self._shelf.in_flight()):
                await run.done.wait()
        with anyio.move_on_after(_MARGIN_SECONDS):
            for run in list(self._shelf.in_flight()):
                if run.connection is not None:
                    run.connection.wire.hurry()
                await self._executor.give_up(run, _SHUT_DOWN)
        self._stop.set()
        if self._tasks is not None:
            await self._stopped.wait()

    async def reload(self, servers: Mapping[str, ServerConfig]) -> None:
        """Take a changed configuration: only servers whose entry changed are ended or started."""
        before, after = self._sessions, dict[str, Session]()
        added: dict[str, Session] = {}
        for name, config in servers.items():
            session = before.get(name)
            if session is None or session.config != config:
                session = added[name] = self._session(config)
            after[name] = session
        self._sessions = after
        for name, session in before.items():
            if after.get(name) is not session:
                session.retire()
        if self._tasks is not None:
            for session in added.values():
                self._tasks.start_soon(session.run)
            self._tasks.start_soon(self._load_kept, added)
        self._swap()

    async def start(
        self, execution: Execution, *, progress: Callable[[Json], None] | None = None, within: float | None = None
    ) -> None:
        """Record the intent, send once, return; the execution goes on by itself (port `Calls`)."""
        if self._closing or self._tasks is None:
            raise UpstreamFailed("the guard is shutting down; nothing was sent", code="closing")
        run, session = self._join(execution), self._sessions.get(execution.tool.server)
        if run is None:
            if session is None:
                message = f"the server {execution.tool.server} is not configured any more"
                raise UpstreamFailed(message, code="no_server")
            run = self._begin(execution, session, progress)
        elif progress is not None:
            run.progress.append(progress)
        try:
            with anyio.move_on_after(within) as patience:
                await run.opened.wait()
                patience.deadline = anyio.current_time() + policy.SEND_WAIT_SECONDS
                await run.sent.wait()
            if not run.opened.is_set():
                raise self._still_connecting(run, execution)
        except anyio.get_cancelled_exc_class():
            self._abandon(run, execution)
            raise
        if run.refusal is not None:
            raise _again(run.refusal)

    def _abandon(self, run: Run, execution: Execution) -> None:
        run.abandoned = run.execution.ref == execution.ref and not self._is_joined(run)

    def _still_connecting(self, run: Run, execution: Execution) -> UpstreamFailed:
        """The deadline passed before the intent was recorded: nothing was sent, and nothing will be."""
        self._abandon(run, execution)
        server = execution.tool.server
        return UpstreamFailed(
            f"the server {server} is still connecting; nothing was sent", next_call="call it again", code="connecting"
        )

    async def wait(self, ref: str, seconds: float, *, stored: bool = True) -> Outcome:
        """Wait until the execution ended, at most `seconds`; `state` is `running` if it has not.

        With `stored` false it is enough that the server answered.
        The answer's bytes are there for those who waited while it came; when `stored` is set, the snapshot has them.
        """
        run = self._shelf.runs.get(ref)
        if run is None:
            return Outcome(ref=ref, state="unknown", reason="this process does not know the call; ask the ledger")
        run.waiting += 1
        try:
            with anyio.move_on_after(seconds):
                await (run.done if stored else run.heard).wait()
            outcome = run.outcome(joined=run.execution.ref != ref)
            run.delivered = run.delivered or outcome.answer is not None
        finally:
            run.waiting -= 1
            self._shelf.trim()
        return outcome

    def state(self, ref: str) -> CallState | None:
        """State of an execution of this process, None when this process does not know it."""
        run = self._shelf.runs.get(ref)
        return None if run is None else run.state

    async def cancel(self, ref: str) -> None:
        """Tell the server that nobody waits any more; the capture goes on, for a while."""
        run = self._shelf.runs.get(ref)
        if run is None or run.done.is_set() or run.execution.ref != ref or self._is_joined(run):
            return
        run.cancelled = True
        run.patience.deadline = min(run.patience.deadline, anyio.current_time() + policy.CANCEL_SECONDS)
        if run.connection is not None and run.request_id is not None:
            await run.connection.cancel(run.request_id)

    def _session(self, config: ServerConfig) -> Session:
        hooks = Hooks(self._swap, self._save, self._at, self._log)
        return Session(config, partial(open_wire, warden=self._warden), hooks)

    def _begin(self, execution: Execution, session: Session, progress: Callable[[Json], None] | None) -> Run:
        if execution.ref in self._shelf.runs or self._tasks is None:
            raise UpstreamFailed("this execution was started before; it is not sent again", code="started")
        run = Run(execution, [progress] if progress is not None else [])
        self._shelf.runs[execution.ref] = run
        if self._join_seconds > 0 and not execution.tool.read_only:
            self._joinable[_same(execution)] = (self._clock.monotonic(), run)
        self._tasks.start_soon(self._executor.execute, run, session)
        return run

    def _join(self, execution: Execution) -> Run | None:
        """The run that this one is a duplicate of (`calls.join_within_ms`), which then answers for both refs."""
        if self._join_seconds <= 0 or execution.tool.read_only:
            return None
        now = self._clock.monotonic()
        self._joinable = {key: item for key, item in self._joinable.items() if now - item[0] <= self._join_seconds}
        _, run = self._joinable.get(_same(execution), (0.0, None))
        if run is None or run.done.is_set() or run.abandoned:
            return None
        self._shelf.runs[execution.ref] = run
        return run

    def _is_joined(self, run: Run) -> bool:
        return any(other is run and ref != run.execution.ref for ref, other in self._shelf.runs.items())

    def _swap(self) -> None:
        tools = tuple(tool for session in self._sessions.values() for tool in session.tools)
        if tools != self._tools:
            self._tools = tools
        self._on_change()

    def _save(self, config: ServerConfig, tools: Sequence[Tool]) -> None:
        if self._tasks is not None and self._sessions.get(config.name) is not None:
            self._tasks.start_soon(self._save_kept, config, tools)

    async def _save_kept(self, config: ServerConfig, tools: Sequence[Tool]) -> None:
        try:
            await self._keeper.save(config.name, config.fingerprint, tools)
        except Exception as error:  # noqa: BLE001 - P6: a catalog that cannot be kept is no trouble now
            self._log(f"{config.name}: the catalog could not be kept ({type(error).__name__})")

    async def _load_kept(self, sessions: Mapping[str, Session]) -> None:
        keys = {name: session.config.fingerprint for name, session in sessions.items() if not session.config.disabled}
        try:
            kept = await self._keeper.load(keys)
        except Exception as error:  # noqa: BLE001 - P6: without a kept catalog the servers are listed when they answer
            self._log(f"the kept catalog could not be read ({type(error).__name__})")
            return
        for name, tools in kept.items():
            if name in sessions:
                sessions[name].keep(tools)


def _same(execution: Execution) -> str:
    """What makes two executions duplicates of each other."""
    tool = execution.tool
    return value_digest([execution.owner, execution.scope, tool.server, tool.digest, execution.arguments_digest])


def _again(error: SlimguardError) -> SlimguardError:
    """A copy to be raised: one refusal may reach several callers."""
    return type(error)(error.message, ran=error.ran, next_call=error.next_call, detail=error.detail, code=error.code)


_MARGIN_SECONDS = 0.4
"""Part of a shutdown that is left for the store and for the last process to be reaped."""

_SHUT_DOWN = "the guard was shut down before the server answered"
