"""A connection over the pipes of a child process; never answers, retries or interprets anything itself."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread

from slimguard import policy
from slimguard.points import nowhere
from slimguard.settings import ServerConfig
from slimguard.upstream.framing import LineFramer, Message, Oversized, Response, split
from slimguard.upstream.process import Child, PipeBroken, spawn
from slimguard.upstream.spans import Bytes, after_space, element_spans
from slimguard.upstream.warden import Warden
from slimguard.upstream.wire import Inbound, NotSent, Outgoing

_LINES_A_TURN = 64
_LAST_BYTES_SECONDS = 0.3


class StdioWire:
    """Newline-framed messages to and from one child."""

    def __init__(self, child: Child, inbound: Inbound, at: Callable[[str], None]) -> None:
        self.child = child
        self._inbound = inbound
        self._at = at
        self._writing = anyio.Lock(fast_acquire=True)
        self._broken = False
        self._last_read = 0.0

    @property
    def cancels_by_message(self) -> bool:
        """Always."""
        return True

    async def send(self, outgoing: Outgoing) -> None:
        """Write one line; a line that was cut off makes the connection useless for good."""
        async with self._writing:
            if self._broken:
                raise NotSent("the connection to the server is gone", ran="no")
            line = outgoing.body + b"\n"
            if outgoing.ticket is not None:
                if self.child.has_exited():
                    self._inbound.stale("the server has ended")
                    raise NotSent("the server has ended", ran="no")
                outgoing.ticket.spend()
                self._at("before-write")
            finished = False
            try:
                half = len(line) // 2 if outgoing.ticket is not None and self._at is not nowhere else 0
                await self._write(line, 0, half)
                if half:
                    self._at("half-written")
                await self._write(line, half, len(line))
                finished = True
            finally:
                if not finished:
                    self._broken = True
                    self._inbound.stale("the server does not read what it is sent")
            if outgoing.ticket is not None:
                self._at("after-flush")

    def settled_on(self, version: str) -> None:
        """Nothing to do: pipes carry no headers."""

    async def listen(self) -> None:
        """Nothing to do: everything comes down the one pipe."""

    def refuses(self, input_schema: Any) -> str | None:  # noqa: ARG002 - pipes carry every tool
        """Nothing."""
        return None

    def call_headers(self, name: str, input_schema: Any, arguments: Mapping[str, Any]) -> Mapping[str, str]:  # noqa: ARG002
        """None: pipes carry no headers."""
        return {}

    def hurry(self) -> None:
        """Wait less for the child when it is ended."""
        self.child.hurry()

    def diagnosis(self) -> str:
        """The exit code, if it ended, and the last lines of stderr."""
        self.child.reap()
        code = self.child.exit_code
        ended = "" if code is None else f"exit code {code}" if code >= 0 else f"killed by signal {-code}"
        tail = self.child.stderr.text()
        return "\n".join(part for part in (ended, tail and f"stderr: {tail}") if part)

    async def run(self) -> None:
        """Read until the child's stdout ends or the child does, then say so."""
        reason = "the server ended, and somebody else held its stdout open"
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self.child.drain_stderr)
                tasks.start_soon(self._end_with_child, tasks.cancel_scope)
                reason = await self._read_lines()
                self._inbound.stale(reason)
                await self.child.last_words(_LAST_BYTES_SECONDS)
                tasks.cancel_scope.cancel()
        except Exception as error:  # noqa: BLE001 - whatever a server makes us stumble over stays its own problem
            reason = f"reading from the server failed: {type(error).__name__}"
        finally:
            self._broken = True
            self._inbound.closed(reason)

    async def _write(self, line: bytes, start: int, end: int) -> None:
        try:
            await self.child.write(line[start:end])
        except PipeBroken as broken:
            await self.child.last_words(_LAST_BYTES_SECONDS)
            taken = start + broken.written
            reason = f"the server stopped reading after {taken} of {len(line)} bytes"
            raise NotSent(reason, ran="no" if taken == 0 else "unknown") from broken

    async def _read_lines(self) -> str:
        """Take lines until stdout ends; returns why there will be no more."""
        framer = LineFramer(policy.MESSAGE_LIMIT_BYTES)
        while chunk := await self.child.read():
            self._last_read = anyio.current_time()
            self._inbound.first_bytes()
            await self._take_all(framer.feed(chunk))
            del chunk
        rest = framer.rest()
        if isinstance(rest, Oversized) or not rest:
            return "the server closed its stdout"
        message = await split_aside(rest)
        if isinstance(message, Response) and message.answer.kind == "illegal":
            return f"the server ended in the middle of an answer, after {len(rest)} bytes"
        self._inbound.message(message)
        return "the server closed its stdout"

    async def _take_all(self, lines: Iterator[Bytes | Oversized]) -> None:
        # A function of its own, so that nothing holds the last line while the next one is waited for.
        for count, line in enumerate(lines, 1):
            await self._take(line)
            if count % _LINES_A_TURN == 0:
                await anyio.lowlevel.checkpoint()

    async def _take(self, line: Bytes | Oversized) -> None:
        if isinstance(line, Oversized):
            reason = f"the answer of {line.size} bytes is over the limit of {policy.MESSAGE_LIMIT_BYTES} bytes"
            self._inbound.failed(line.id, reason, "yes")
            return
        for part in parts_of(line):
            self._inbound.message(await split_aside(part))

    async def _end_with_child(self, scope: anyio.CancelScope) -> None:
        # Somebody else may hold the pipe open after the server died: take what is still coming, then stop.
        await self.child.exited()
        ended = anyio.current_time()
        while anyio.current_time() - max(ended, self._last_read) < _LAST_BYTES_SECONDS:  # noqa: ASYNC110 - nothing tells
            await anyio.sleep(_LAST_BYTES_SECONDS)
        scope.cancel()


def parts_of(data: Bytes) -> Iterable[Bytes]:
    """The messages of one line or event: itself, or those of a batch, which older protocols allow."""
    start = after_space(data, 0)
    if data[start : start + 1] != b"[":
        return (data,) if data else ()
    try:
        spans = element_spans(data, start)
    except ValueError:
        return (data,)
    return (data[first:end] for first, end in spans)


async def split_aside(data: Bytes) -> Message:
    """`split`, in a worker thread when the message is large."""
    if len(data) <= policy.THREAD_SPLIT_BYTES:
        return split(data)
    return await anyio.to_thread.run_sync(split, data, abandon_on_cancel=True)


@asynccontextmanager
async def open_stdio(
    config: ServerConfig, inbound: Inbound, at: Callable[[str], None], warden: Warden
) -> AsyncGenerator[StdioWire, None]:
    """Start the child and read from it; on leaving, the child and its group are ended."""
    child = spawn(config)
    warden.watch(child.pid)
    wire = StdioWire(child, inbound, at)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wire.run)
            try:
                yield wire
            finally:
                with anyio.CancelScope(shield=True):
                    await child.end()
                tasks.cancel_scope.cancel()
    finally:
        child.kill()
        warden.forget(child.pid)
