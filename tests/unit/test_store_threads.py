"""The store's threads: order, carried through although nobody waits, closed with what was handed over."""

from __future__ import annotations

import asyncio
import threading
import weakref

import pytest

from slimguard.errors import StoreUnavailable
from slimguard.store.threads import FIRST, LAST, NORMAL, Workers

pytestmark = pytest.mark.anyio


async def test_work_runs_most_urgent_first_and_in_its_order():
    workers, gate, done = Workers("t", 1), threading.Event(), []
    blocked = workers.submit(gate.wait)
    futures = [
        workers.submit(lambda name=name: done.append(name), order)
        for name, order in [("late", LAST), ("a", NORMAL), ("b", NORMAL), ("urgent", FIRST)]
    ]
    gate.set()
    for future in (blocked, *futures):
        future.result(60)
    assert done == ["urgent", "a", "b", "late"]


async def test_work_is_done_although_its_waiting_task_was_cancelled():
    workers, gate, done = Workers("t", 1), threading.Event(), threading.Event()
    task = asyncio.create_task(workers.run(lambda: (gate.wait(60), done.set())))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    gate.set()
    assert await asyncio.to_thread(done.wait, 60)


async def test_an_error_is_raised_where_it_is_waited_for():
    workers = Workers("t", 1)
    with pytest.raises(ZeroDivisionError):
        await workers.run(lambda: 1 // 0)
    assert await workers.run(lambda: "still works") == "still works"


async def test_closing_finishes_what_was_handed_over_and_takes_no_more():
    workers, done = Workers("t", 2), []
    futures = [workers.submit(lambda place=place: done.append(place)) for place in range(20)]
    assert workers.close(60)
    assert sorted(done) == list(range(20))
    assert all(future.done() for future in futures)
    with pytest.raises(StoreUnavailable):
        workers.submit(list)


async def test_several_threads_work_at_once():
    workers, meeting = Workers("t", 3), threading.Barrier(3)
    await asyncio.gather(*(workers.run(lambda: meeting.wait(60)) for _ in range(3)))


async def test_a_thread_that_waits_holds_nothing_of_its_last_work():
    class Answer:
        pass

    workers, answer = Workers("t", 1), Answer()
    gone = threading.Event()
    weakref.finalize(answer, gone.set)
    await workers.run(lambda kept=answer: None)
    del answer
    assert await asyncio.to_thread(gone.wait, 60)
