"""The straight line of one execution: connect, record, send once, capture, keep; it never sends a second time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping

import anyio

from slimguard import policy
from slimguard.errors import RequestRejected, SlimguardError, StoreUnavailable, UpstreamFailed
from slimguard.model import Answer, Execution, Json, Ran
from slimguard.ports import Clock, Ledger
from slimguard.upstream.connection import Connection
from slimguard.upstream.framing import Response
from slimguard.upstream.run import Run
from slimguard.upstream.session import Session
from slimguard.upstream.wire import NotSent

INPUT_REQUIRED = "input_required"


class Executor:
    """Runs executions against sessions and the ledger."""

    def __init__(
        self, ledger: Ledger, clock: Clock, log: Callable[[str], None], on_kept: Callable[[Run], None]
    ) -> None:
        self._ledger = ledger
        self._clock = clock
        self._log = log
        self._on_kept = on_kept
        self._said = ""

    async def execute(self, run: Run, session: Session) -> None:
        """The whole life of one execution, in a task of the fleet; every way out leaves a state behind."""
        try:
            if not await self._send(run, session):
                return
            await self._await_answer(run)
        except Exception as error:  # noqa: BLE001 - P8: one execution's trouble must not end the others
            self._log(f"{run.execution.tool.id}: the execution ended with {type(error).__name__}")
            await self._close(run, "unknown", "unknown", "an internal error", "")

    async def _send(self, run: Run, session: Session) -> bool:
        """Connect, record the intent, send; whether there is an answer to wait for."""
        execution = run.execution
        try:
            params = call_params(execution)
            run.connection = await session.connection()
            session.check(execution.tool)
            if run.abandoned:
                raise UpstreamFailed("the caller left before anything was sent", code="abandoned")
            await self._open(run)
        except SlimguardError as error:
            run.refuse(error)
            return False
        run.opened.set()
        try:
            try:
                await self._put_on_wire(run, run.connection, params)
            except NotSent:
                if run.ticket.spent:
                    raise
                # The connection was gone before the ticket was touched: nothing was sent, another one may be used.
                run.connection = await session.connection()
                session.check(execution.tool)
                await self._put_on_wire(run, run.connection, params)
        except TimeoutError:
            ran = "unknown" if run.ticket.spent else "no"
            await self._not_sent(run, NotSent("the server did not take the request in time", ran=ran))
            return False
        except NotSent as error:
            await self._not_sent(run, error)
            return False
        except SlimguardError as error:
            await self._not_sent(run, NotSent(error.message, ran="no"))
            return False
        run.sent.set()
        if run.cancelled and run.request_id is not None:
            await run.connection.cancel(run.request_id)
        return True

    async def _put_on_wire(self, run: Run, connection: Connection, params: Mapping[str, Json]) -> None:
        tool, arguments = run.execution.tool, run.execution.arguments
        headers = connection.wire.call_headers(tool.name, tool.input_schema, arguments)
        progress = run.progressed if run.progress else None
        with anyio.fail_after(run.execution.call_seconds):
            run.request_id = await connection.peer.call(
                params, run, run.ticket, headers=headers, progress=progress, spelled=run.execution.spelled
            )

    async def _open(self, run: Run) -> None:
        """Commit the intent; only a read-only tool goes on without (FACTS: the answer is then delivered exactly)."""
        try:
            await self._ledger.open_call(run.execution)
        except StoreUnavailable as error:
            self._say(f"{error.message}; calls that may have effects are refused, read-only ones get no result_ref")
            if not run.execution.tool.read_only:
                raise
            return
        run.recorded = True
        self._said = ""

    async def _not_sent(self, run: Run, error: NotSent) -> None:
        state = "failed" if error.ran == "no" else "unknown"
        await self._close(run, state, error.ran, error.reason, _diagnosis(run))
        if error.ran == "no":
            run.refusal = UpstreamFailed(f"{run.execution.tool.id} was not called: {run.reason}", code="not_sent")

    async def _await_answer(self, run: Run) -> None:
        """Wait for the one answer: for so long as agreed, then say `unknown`, and go on listening all the same."""
        run.patience.deadline = min(run.patience.deadline, anyio.current_time() + run.execution.call_seconds)
        with run.patience:
            await run.replied.wait()
        if not run.replied.is_set():
            await self._close(run, "unknown", "unknown", "the server did not answer in time", "")
            await run.replied.wait()
        if run.response is not None:
            await self._keep(run, run.response)
        elif not run.done.is_set():
            state = "unknown" if run.lost_ran == "unknown" else "failed"
            await self._close(run, state, run.lost_ran, run.lost, _diagnosis(run))

    async def _keep(self, run: Run, response: Response) -> None:
        """Commit the answer; whatever the store says, it is there for whoever waits."""
        answer, ran, is_error = _judged(response)
        run.answer, run.response = answer, None
        run.heard.set()
        if not run.recorded:
            run.finish("held", ran, answer.note)
            self._on_kept(run)
            return
        durable = not run.execution.tool.read_only
        if not durable and len(answer.raw) <= policy.INLINE_WORK_BYTES:
            await asyncio.sleep(0)  # whoever waits may be done with so little before the store's thread begins
        try:
            run.stored = await self._ledger.keep(
                run.execution.ref, answer, durable=durable, is_error=is_error, finished_at=self._clock.now()
            )
        except Exception as error:  # noqa: BLE001 - P6: after the tool ran, no trouble of the store loses its answer
            why = error.message if isinstance(error, StoreUnavailable) else type(error).__name__
            self._say(f"{why}; results are delivered in full and without a result_ref")
            run.finish("held", ran, answer.note)
        else:
            run.finish("stored", ran, answer.note)
        self._on_kept(run)

    def _say(self, line: str) -> None:
        """One line about the store's trouble, and not the same one again until it is over."""
        if line != self._said:
            self._said = line
            self._log(line)

    async def _close(self, run: Run, state: str, ran: Ran, reason: str, detail: str) -> None:
        """Record an end without an answer; the note in the ledger carries no output of the server (P12)."""
        if run.recorded:
            ended = "failed" if state == "failed" else "unknown"
            try:
                await self._ledger.close_call(run.execution.ref, ended, reason, self._clock.now())
            except StoreUnavailable:
                self._log(f"{run.execution.tool.id}: its end could not be recorded; it will read as unknown")
        run.finish("failed" if state == "failed" else "unknown", ran, f"{reason}; {detail}" if detail else reason)

    async def give_up(self, run: Run, reason: str) -> None:
        """End a run whose answer nobody will hear any more."""
        if not run.done.is_set():
            await self._close(run, "unknown", "unknown", reason, "")


def call_params(execution: Execution) -> Mapping[str, Json]:
    """`params` of the `tools/call`: name, the arguments as they are, `_meta`; raises `RequestRejected`."""
    params: dict[str, Json] = {"name": execution.tool.name, "arguments": execution.arguments}
    if execution.meta:
        params["_meta"] = dict(execution.meta)
    try:
        json.dumps(params, allow_nan=False)
    except (ValueError, RecursionError, TypeError) as error:
        message = f"the arguments cannot be written as JSON ({type(error).__name__}): no NaN, Infinity or 1e400"
        raise RequestRejected(message, code="unencodable") from None
    return params


def _judged(response: Response) -> tuple[Answer, Ran, bool]:
    """The answer with its note, whether the tool ran, and whether it is an error."""
    answer = response.answer
    if answer.kind == "result" and response.result_type == INPUT_REQUIRED:
        note = f"{INPUT_REQUIRED}: the server asks for input before it goes on, which is not supported"
        return Answer(answer.kind, answer.raw, note), "unknown", True
    return answer, "unknown" if answer.kind == "error" else "yes", response.is_error


def _diagnosis(run: Run) -> str:
    return run.connection.wire.diagnosis() if run.connection is not None else ""
