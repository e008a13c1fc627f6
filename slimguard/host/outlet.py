"""The way out over stdout: whole lines, one after another, written at once where that cannot block; else by a thread.

It must never block the event loop, nor mix two lines.
"""

from __future__ import annotations

import os
import select
from collections import deque
from collections.abc import Callable

import anyio
import anyio.to_thread

from slimguard.points import nowhere


class Outlet:
    """Takes lines at any time, in their order; `run` writes those that have to wait."""

    def __init__(self, sink: int, at: Callable[[str], None] = nowhere) -> None:
        self._sink = sink
        self._at = at
        self._waiting: deque[bytes] = deque()
        self._writing = False
        self._broken = False
        self._more = anyio.Event()

    @property
    def waiting(self) -> int:
        """Lines that are not written yet."""
        return len(self._waiting) + self._writing

    def post(self, line: bytes) -> None:
        """Write a line with its newline, now or when those before it are written; a host that has left gets none."""
        if self._broken:
            return
        if self.waiting or self._at is not nowhere or not _takes_at_once(self._sink, len(line)):
            self._waiting.append(line)
            self._more.set()
            return
        try:
            _write(self._sink, memoryview(line))
        except OSError:
            self._broken = True

    async def run(self) -> None:
        """Write what waits, in a worker thread; until cancelled, or until the host no longer reads."""
        while not self._broken:
            await self._more.wait()
            self._more = anyio.Event()
            while self._waiting:
                self._writing = True
                line = self._waiting.popleft()
                try:
                    await anyio.to_thread.run_sync(_write_all, self._sink, line, self._at)
                except OSError:
                    self._broken = True
                    self._waiting.clear()
                finally:
                    self._writing = False
                    del line  # a large one must not live until the next comes


def _takes_at_once(sink: int, size: int) -> bool:
    """Whether a write of so many bytes cannot block: a pipe that can be written takes PIPE_BUF bytes."""
    if not hasattr(select, "poll") or size > select.PIPE_BUF:
        return False
    poll = select.poll()
    poll.register(sink, select.POLLOUT)
    return any(event & select.POLLOUT for _, event in poll.poll(0))


def _write_all(sink: int, line: bytes, at: Callable[[str], None]) -> None:
    if at is nowhere:
        _write(sink, memoryview(line))
        return
    _write(sink, memoryview(line)[: len(line) // 2])
    at("reply-half-written")
    _write(sink, memoryview(line)[len(line) // 2 :])
    at("reply-written")


def _write(sink: int, view: memoryview) -> None:
    while view:
        view = view[os.write(sink, view) :]
