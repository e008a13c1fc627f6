"""What every implementation of `Ledger`, `Snapshots` and `CatalogKeeper` promises, whatever it is made of."""

from __future__ import annotations

import asyncio
import os

import pytest

from slimguard import canonical, policy
from slimguard.errors import RequestRejected, SnapshotUnusable, StoreUnavailable
from slimguard.model import Answer, Tool

pytestmark = pytest.mark.anyio

CHUNK = policy.CHUNK_BYTES


async def stored(store, call, raw=b'{"content":[]}', **changes):
    """Take one call from intent to snapshot."""
    await store.open_call(call)
    return await keep(store, call, raw, **changes)


async def keep(store, call, raw=b'{"content":[]}', *, kind="result", note="", is_error=False, at=None, durable=True):
    answer = Answer(kind, raw, note)
    finished_at = call.created_at if at is None else at
    return await store.keep(call.ref, answer, durable=durable, is_error=is_error, finished_at=finished_at)


async def whole(store, ref, owner="ada"):
    reader = await store.open(ref, owner)
    try:
        return reader.read(0, reader.call.size)
    finally:
        reader.close()


async def test_a_call_is_running_from_its_intent_on(open_store, execution):
    store, call = open_store(), execution()
    await store.open_call(call)
    found = await store.find(call.ref, "ada")
    assert (found.state, found.server, found.tool, found.tool_digest) == (
        "still running", "logs", "read_log", call.tool.digest,
    )  # fmt: skip


async def test_a_call_is_invisible_to_another_owner(open_store, execution):
    store, call = open_store(), execution()
    await stored(store, call)
    assert await store.find(call.ref, "eve") is None
    with pytest.raises(SnapshotUnusable) as refused:
        await store.open(call.ref, "eve")
    with pytest.raises(SnapshotUnusable) as unknown:
        await store.open(execution().ref, "eve")
    assert refused.value.code == unknown.value.code == "not_found"


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, policy.STORE_BATCH_BYTES + 1, 9 << 20])
async def test_bytes_of_any_size_come_back_exactly(open_store, execution, size):
    store, call, raw = open_store(), execution(), os.urandom(size)
    row = await stored(store, call, raw)
    assert (row.state, row.size) == ("stored", size)
    assert row.digest == canonical.manifest_digest(
        size, [bytes.fromhex(canonical.digest_of(part)) for part in canonical.chunks(raw)]
    )
    assert await whole(store, call.ref) == raw


async def test_any_range_of_a_snapshot_is_that_range_of_the_bytes(open_store, execution):
    store, call, raw = open_store(), execution(), os.urandom(2 * CHUNK + 77)
    await stored(store, call, raw)
    reader = await store.open(call.ref, "ada")
    for start, end in [(0, 0), (0, 1), (CHUNK - 1, CHUNK + 1), (CHUNK, 2 * CHUNK), (5, 10**9), (10**9, 10**9 + 5)]:
        assert reader.read(start, end) == raw[start:end]
    reader.close()


@pytest.mark.parametrize("kind", ["result", "error", "illegal"])
async def test_every_kind_of_answer_is_kept_with_its_marks(open_store, execution, kind):
    store, call, raw = open_store(), execution(), b"\xff\x00 not even JSON"
    row = await stored(store, call, raw, kind=kind, note="not an object", is_error=True)
    assert row == await store.find(call.ref, "ada")
    assert (row.kind, row.is_error, row.note) == (kind, True, "not an object")
    assert await whole(store, call.ref) == raw


async def test_results_are_there_after_a_restart(open_store, execution):
    first, call, raw = open_store(), execution(), os.urandom(3 * CHUNK)
    before = await stored(first, call, raw)
    secret = await first.secret()
    await first.close()
    second = open_store()
    assert await second.find(call.ref, "ada") == before
    assert await whole(second, call.ref) == raw
    assert await second.secret() == secret
    assert len(secret) == 32


async def test_equal_bytes_share_storage_but_not_refs(open_store, execution):
    store, raw = open_store(quota=10 * CHUNK), os.urandom(4 * CHUNK)
    calls = [execution() for _ in range(6)]
    for call in calls:
        await stored(store, call, raw)
    await store.gc()
    assert {(await store.find(call.ref, "ada")).state for call in calls} == {"stored"}
    assert await store.remove(calls[0].ref)
    assert await store.find(calls[0].ref, "ada") is None
    assert await whole(store, calls[1].ref) == raw


@pytest.mark.parametrize("state", ["failed", "unknown"])
async def test_an_end_without_an_answer_is_remembered(open_store, execution, state):
    store, call = open_store(), execution()
    await store.open_call(call)
    await store.close_call(call.ref, state, "the server exited", call.created_at + 1)
    found = await store.find(call.ref, "ada")
    assert (found.state, found.note, found.finished_at) == (state, "the server exited", call.created_at + 1)
    with pytest.raises(SnapshotUnusable) as refused:
        await store.open(call.ref, "ada")
    assert (refused.value.code, refused.value.ran) == (state, {"failed": "no", "unknown": "unknown"}[state])


async def test_a_late_answer_is_stored_over_an_unknown_outcome(open_store, execution):
    store, call = open_store(), execution()
    await store.open_call(call)
    await store.close_call(call.ref, "unknown", "timed out", call.created_at + 1)
    assert (await keep(store, call, b"late")).state == "stored"
    assert await whole(store, call.ref) == b"late"


async def test_an_answer_is_never_taken_back_or_exchanged(open_store, execution):
    store, call = open_store(), execution()
    row = await stored(store, call, b"first")
    await store.close_call(call.ref, "unknown", "late", call.created_at + 1)
    assert await keep(store, call, b"first") == row
    with pytest.raises(StoreUnavailable):
        await keep(store, call, b"second")
    assert await whole(store, call.ref) == b"first"


async def test_what_ran_when_its_guard_ended_is_unknown(open_store, execution):
    first, call = open_store(), execution()
    await first.open_call(call)
    await first.close()
    found = await open_store().find(call.ref, "ada")
    assert found.state == "unknown"
    assert "stopped" in found.note


async def test_what_another_live_guard_runs_is_still_running(open_store, execution):
    first, second, call = open_store(), open_store(), execution()
    await first.open_call(call)
    await second.gc()
    assert (await second.find(call.ref, "ada")).state == "still running"
    await keep(first, call, b"done")
    assert await whole(second, call.ref) == b"done"


async def test_an_answer_to_an_intent_that_nobody_recorded_is_refused(open_store, execution):
    with pytest.raises(StoreUnavailable) as refused:
        await keep(open_store(), execution())
    assert refused.value.ran == "yes"


async def test_time_to_live_is_fixed_at_creation_and_remembered_after(open_store, execution, clock):
    store, call = open_store(), execution(ttl=100.0)
    row = await stored(store, call, b"short lived")
    clock.at += 99.0
    assert await whole(store, call.ref) == b"short lived"
    clock.at += 1.0
    for collected in (False, True):
        if collected:
            await store.gc()
            assert (await store.statistics()).stored_bytes == 0
        found = await store.find(call.ref, "ada")
        assert (found.state, found.tool, found.size, found.digest) == ("expired", "read_log", row.size, row.digest)
        with pytest.raises(SnapshotUnusable) as refused:
            await store.open(call.ref, "ada")
        assert refused.value.code == "expired"
    clock.at += policy.STORE_TOMBSTONE_SECONDS
    await store.gc()
    assert await store.find(call.ref, "ada") is None


async def test_the_quota_evicts_the_oldest_and_says_so(open_store, execution):
    store, raw = open_store(quota=5 * CHUNK), [os.urandom(2 * CHUNK) for _ in range(4)]
    calls = [execution() for _ in raw]
    for place, call in enumerate(calls):
        await stored(store, call, raw[place], at=call.created_at + place)
    await store.gc()
    assert [(await store.find(call.ref, "ada")).state for call in calls] == ["evicted", "evicted", "stored", "stored"]
    with pytest.raises(SnapshotUnusable) as refused:
        await store.open(calls[0].ref, "ada")
    assert refused.value.code == "evicted"
    assert await whole(store, calls[3].ref) == raw[3]


async def test_the_newest_result_stays_even_when_it_alone_is_over_the_quota(open_store, execution):
    store, call = open_store(quota=10), execution()
    await stored(store, call, b"x" * 100)
    await store.gc()
    assert (await store.find(call.ref, "ada")).state == "stored"


async def test_what_is_read_or_running_is_neither_evicted_nor_expired_under_the_reader(open_store, execution, clock):
    store = open_store(quota=1)
    leased, running, newest, raw = execution(ttl=10), execution(ttl=10), execution(ttl=10**6), os.urandom(2 * CHUNK)
    await stored(store, leased, raw)
    reader = await store.open(leased.ref, "ada")
    await store.open_call(running)
    await stored(store, newest, b"newest", at=newest.created_at + 1)
    clock.at += 100
    await store.gc()
    assert reader.read(0, 2 * CHUNK) == raw
    assert (await store.find(running.ref, "ada")).state == "still running"
    reader.close()
    await store.gc()
    assert (await store.find(leased.ref, "ada")).state == "expired"
    assert (await store.statistics()).stored_bytes == len(b"newest")


async def test_reading_goes_on_while_another_guard_removes_the_bytes(open_store, execution):
    store, other, call, raw = open_store(), open_store(), execution(), os.urandom(2 * CHUNK)
    await stored(store, call, raw)
    reader = await store.open(call.ref, "ada")
    assert await other.remove(call.ref)
    assert reader.read(0, 2 * CHUNK) == raw
    reader.close()
    assert await store.find(call.ref, "ada") is None


async def test_recent_lists_the_newest_of_one_owner_and_scope(open_store, execution, clock):
    store = open_store()
    calls = []
    for _ in range(5):
        clock.at += 1
        calls.append(execution())
        await stored(store, calls[-1])
    for other in (execution(owner="eve"), execution(scope="elsewhere")):
        await stored(store, other)
    assert [row.ref for row in await store.recent("ada", "here", 3)] == [call.ref for call in calls[:1:-1]]
    assert len(await store.list_calls(None, None, 100)) == 7


async def test_an_answer_is_stored_although_nobody_waits_for_it_any_more(open_store, execution):
    store, call, raw = open_store(), execution(), os.urandom(6 << 20)
    await store.open_call(call)
    task = asyncio.create_task(keep(store, call, raw))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await store.close()
    assert await whole(open_store(), call.ref) == raw


async def test_many_calls_at_once_each_keep_their_own_bytes(open_store, execution):
    store, calls = open_store(), [execution() for _ in range(60)]
    await asyncio.gather(*(stored(store, call, call.ref.encode() * 3000, durable=False) for call in calls))
    for call in calls:
        assert await whole(store, call.ref) == call.ref.encode() * 3000


async def test_export_hands_on_the_exact_bytes(open_store, execution):
    store, call, raw, parts = open_store(), execution(), os.urandom(3 << 20), []
    await stored(store, call, raw)
    assert (await store.export(call.ref, "ada", parts.append)).ref == call.ref
    assert b"".join(parts) == raw


async def test_verify_reads_everything_and_reports_progress(open_store, execution):
    store, calls, seen = open_store(), [execution() for _ in range(3)], []
    for call in calls:
        await stored(store, call, os.urandom(CHUNK + 1))
    report = await store.verify(lambda done, total: seen.append((done, total)))
    assert [(item.ref, item.fault) for item in report] == [(call.ref, "") for call in calls]
    assert seen[-1] == (3 * (CHUNK + 1), 3 * (CHUNK + 1))


async def test_remove_refuses_what_runs_or_is_read_and_other_owners(open_store, execution):
    store, running, leased = open_store(), execution(), execution()
    await store.open_call(running)
    await stored(store, leased)
    reader = await store.open(leased.ref, "ada")
    for call in (running, leased):
        with pytest.raises(RequestRejected):
            await store.remove(call.ref)
    reader.close()
    assert not await store.remove(leased.ref, "eve")
    assert await store.remove(leased.ref, "ada")
    assert not await store.remove(leased.ref, "ada")


async def test_a_kept_catalog_belongs_to_server_and_fingerprint(open_store):
    first = open_store()
    definitions = [{"name": f"t{i}", "description": "\ud800 é", "_meta": {"i": i}} for i in range(3)]
    tools = [Tool("s", d["name"], d, canonical.definition_digest(d)) for d in definitions]
    await first.save("s", "old", tools[:1])
    await first.save("s", "new", tools)
    await first.save("s", "new", tools[1:])
    await first.close()
    second = open_store()
    assert await second.load({"s": "new", "other": "x"}) == {"s": tools[1:]}
    assert await second.load({"s": "changed"}) == {}


async def test_a_closed_store_says_so(open_store, execution):
    store = open_store()
    await store.open_call(execution())
    await store.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        await store.open_call(execution())
    with pytest.raises(StoreUnavailable, match="closed"):
        await store.find(execution().ref, "ada")
