"""Daemon threads with a queue: blocking work of the store off the event loop; never a retry or a result of its own."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from slimguard.errors import StoreUnavailable

T = TypeVar("T")

FIRST, NORMAL, LAST = 0, 1, 2
"""Order of work: intents before bytes, housekeeping when nothing else waits."""


class Workers:
    """A few threads that take work from one queue, the most urgent first.

    Work that was handed over is always done, also when the task that waits for it is cancelled: a cancelled wait
    must not lose an answer. The threads start with the first work and never keep the process alive.
    """

    def __init__(self, name: str, count: int) -> None:
        self._name = name
        self._count = count
        self._waiting: list[tuple[int, int, Callable[[], object] | None]] = []
        """A heap; for each thing in it there is a token in `_tokens`, which wakes one thread at the least cost."""
        self._tokens: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._unfinished = 0
        """Work that was handed over and is not done: waiting or under way."""
        self._closed = False

    def submit(self, work: Callable[[], T], order: int = NORMAL) -> Future[T]:
        """Hand `work` over; raises `StoreUnavailable` after `close`."""
        future: Future[T] = Future()
        future.set_running_or_notify_cancel()

        def carry_out() -> None:
            try:
                value = work()
            except BaseException as error:  # noqa: BLE001  whatever it is, the waiting side raises it
                future.set_exception(error)
            else:
                future.set_result(value)

        self.post(carry_out, order)
        return future

    def post(self, work: Callable[[], object], order: int = NORMAL) -> None:
        """As `submit`, for work that never raises and that nobody waits for here."""
        with self._lock:
            if self._closed:
                raise StoreUnavailable("the result store is closed")
            heapq.heappush(self._waiting, (order, next(self._numbers), work))
            self._unfinished += 1
            if len(self._threads) < min(self._count, self._unfinished):
                self._add_thread()
        self._tokens.put(None)

    def call(self, work: Callable[[], T], order: int = NORMAL) -> T:
        """Hand `work` over and wait for it, from another thread."""
        return self.submit(work, order).result()

    async def run(self, work: Callable[[], T], order: int = NORMAL) -> T:
        """Hand `work` over and wait for it on the event loop; a cancelled wait leaves the work running."""
        return await wait_for(self.submit(work, order))

    def close(self, seconds: float) -> bool:
        """Take no more work, finish what was handed over, wait at most `seconds`; whether all threads ended."""
        with self._lock:
            self._closed = True
            for _ in self._threads:
                heapq.heappush(self._waiting, (LAST + 1, next(self._numbers), None))
                self._tokens.put(None)
        for thread in self._threads:
            thread.join(seconds)
        return not any(thread.is_alive() for thread in self._threads)

    def _add_thread(self) -> None:
        thread = threading.Thread(target=self._work, name=f"{self._name}-{len(self._threads)}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _work(self) -> None:
        while True:
            self._tokens.get()
            with self._lock:
                _, _, work = heapq.heappop(self._waiting)
            if work is None:
                return
            with contextlib.suppress(BaseException):  # whoever waits was told by the work itself
                work()
            del work  # what it holds, such as a whole answer, must not live until the next work comes
            with self._lock:
                self._unfinished -= 1


async def wait_for(future: Future[T]) -> T:
    """Wait on the event loop for what a thread does; a cancelled wait does not cancel it."""
    loop = asyncio.get_running_loop()
    waiting: asyncio.Future[T] = loop.create_future()
    future.add_done_callback(lambda done: _pass_on(loop, waiting, done))
    return await waiting


def _pass_on(loop: asyncio.AbstractEventLoop, waiting: asyncio.Future[Any], done: Future[Any]) -> None:
    """Bring a finished piece of work to the loop; a loop that is gone needs nothing."""

    def settle() -> None:
        if waiting.done():
            done.exception()
            return
        error = done.exception()
        if error is not None:
            waiting.set_exception(error)
            return
        waiting.set_result(done.result())

    try:
        loop.call_soon_threadsafe(settle)
    except RuntimeError:
        return
