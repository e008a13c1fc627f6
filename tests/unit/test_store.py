"""What the SQLite store promises beyond the contract: cheap to import and make, sealed, tidy, grouped writes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slimguard import canonical, policy
from slimguard.errors import SnapshotUnusable, StoreUnavailable
from slimguard.model import Answer, Execution, Tool
from slimguard.settings import StoreSettings
from slimguard.store import Store

pytestmark = pytest.mark.anyio
CHUNK = policy.CHUNK_BYTES
SENTINEL = "s3nt1nel-4711"


def execution(ttl: float = 1000.0) -> Execution:
    definition = {"name": "pay"}
    tool = Tool("bank", "pay", definition, canonical.definition_digest(definition))
    ref = canonical.make_ref(os.urandom(canonical.REF_RANDOM_BYTES))
    now = time.time()
    return Execution(ref, "ada", "here", tool, {"pin": SENTINEL}, "0" * 64, now, now + ttl, 60.0, {"trace": SENTINEL})


async def stored(store: Store, raw: bytes, ttl: float = 1000.0) -> str:
    call = execution(ttl)
    await store.open_call(call)
    await store.keep(call.ref, Answer("result", raw), durable=True, is_error=False, finished_at=time.time())
    return call.ref


def test_importing_the_store_is_cheap():
    code = "import sys, slimguard.store; print([m for m in ('sqlite_utils', 'mcp', 'anyio') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


async def test_any_name_of_a_directory_will_do(tmp_path, clock):
    odd = os.fsdecode(b"caf\xe9 ?mode=ro&x=%20#\xff")
    store = Store(StoreSettings(str(tmp_path / odd / "results.db")), clock)
    ref = await stored(store, b"x")
    assert (await store.find(ref, "ada")).state == "stored"
    await store.close()
    assert (tmp_path / odd / "results.db").exists()


async def test_making_a_store_touches_nothing(path, open_store):
    open_store()
    assert not path.parent.exists()


async def test_start_opens_in_the_background_and_reports_nothing_itself(path, open_store):
    path.parent.mkdir()
    path.parent.chmod(0o777)
    store = open_store()
    await store.start()
    with pytest.raises(StoreUnavailable):
        await store.secret()
    path.parent.chmod(0o700)
    assert len(await store.secret()) == 32


async def test_nothing_but_the_answer_itself_reaches_the_disk(path, open_store):
    store = open_store()
    await stored(store, b"the answer")
    assert SENTINEL.encode() not in b"".join(item.read_bytes() for item in path.parent.iterdir())


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE chunks SET data = x'00'",
        "INSERT OR REPLACE INTO chunks (id, digest, data) SELECT id, digest, x'00' FROM chunks",
        "DELETE FROM chunks",
        "UPDATE blobs SET size = 1",
        "INSERT OR REPLACE INTO blobs (id, digest, size, guard) SELECT id, digest, 1, guard FROM blobs",
        "DELETE FROM blobs",
        "UPDATE calls SET digest = 'x'",
        "INSERT OR REPLACE INTO calls SELECT * FROM calls",
    ],
)
async def test_stored_rows_resist_any_statement_that_would_change_them(path, open_store, statement):
    store = open_store()
    ref = await stored(store, b"immutable")
    with contextlib.closing(sqlite3.connect(path)) as connection, pytest.raises(sqlite3.IntegrityError):
        connection.execute(statement)
    reader = await store.open(ref, "ada")
    assert reader.read(0, 100) == b"immutable"
    reader.close()


async def test_one_failing_write_of_a_burst_harms_no_other(open_store):
    store = open_store()
    calls = [execution() for _ in range(40)]
    again = [calls[0], *calls, calls[7]]
    results = await asyncio.gather(*(store.open_call(call) for call in again), return_exceptions=True)
    assert sum(isinstance(result, StoreUnavailable) for result in results) == 2
    assert all(isinstance(result, StoreUnavailable | None) for result in results)
    for call in calls:
        assert (await store.find(call.ref, "ada")).state == "still running"


async def test_the_event_loop_runs_on_while_the_store_waits_for_a_lock(path, open_store):
    store = open_store(busy_seconds=60)
    await store.secret()
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as blocker:
        blocker.execute("BEGIN IMMEDIATE")
        waiting = asyncio.create_task(store.open_call(execution()))
        for _ in range(100):  # turns of the loop that would not come before the lock is given up
            await asyncio.sleep(0.005)
        assert not waiting.done()
        blocker.execute("ROLLBACK")
        await waiting


async def test_fault_points_are_passed_in_order(open_store):
    points: list[str] = []
    store = open_store(at=points.append)
    await stored(store, os.urandom(policy.STORE_BATCH_BYTES * 2))
    await stored(store, b"")
    once = ["accepted-dispatched-committed", "snapshot-half-written", "snapshot-committed"]
    assert points == once * 2


async def test_a_reader_that_rested_goes_on_or_says_that_its_bytes_went(open_store):
    store, other, raw = open_store(), open_store(), os.urandom(2 * CHUNK)
    ref = await stored(store, raw)
    reader = await store.open(ref, "ada")
    reader.rest(0)
    assert reader.read(5, CHUNK + 5) == raw[5 : CHUNK + 5]
    reader.rest(0)
    await other.remove(ref)
    with pytest.raises(SnapshotUnusable, match="not found"):
        reader.read(0, 1)
    reader.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        reader.read(0, 1)


async def test_removed_bytes_are_given_back_to_the_file_system(path, open_store):
    store = open_store()
    ref = await stored(store, os.urandom(3 << 20))
    await store.remove(ref)
    await store.gc()
    await store.close()
    assert path.stat().st_size < 400_000


async def test_the_log_does_not_grow_without_bound(path, open_store):
    store = open_store(quota=4 << 20)
    reader = await store.open(await stored(store, b"held open"), "ada")
    for _ in range(20):
        await stored(store, os.urandom(1 << 20))
        reader.rest(0)
    await store.gc()
    reader.close()
    assert (await store.statistics()).log_bytes < 16 << 20
    assert (await store.statistics()).stored_bytes <= 4 << 20


async def test_tombstones_are_forgotten_oldest_first_when_they_are_many(open_store, monkeypatch, clock):
    monkeypatch.setattr(policy, "STORE_TOMBSTONE_ROWS", 5)
    store = open_store()
    refs = [await stored(store, b"x", ttl=100 + place) for place in range(8)]
    clock.at += 500
    await store.gc()
    left = [ref for ref in refs if await store.find(ref, "ada")]
    assert left == refs[3:]


async def test_statistics_describe_the_store(path, open_store):
    store = open_store(quota=10**6)
    await stored(store, b"x" * 1000)
    await store.open_call(execution())
    figures = await store.statistics()
    assert (figures.path, figures.directory_mode, figures.file_mode) == (str(path), 0o700, 0o600)
    assert (figures.stored_bytes, figures.quota_bytes, figures.check) == (1000, 10**6, "ok")
    assert figures.rows == {"stored": 1, "running": 1}
    assert figures.guards_alive == 1


async def test_closing_leaves_only_the_database(path, open_store):
    store = open_store()
    await stored(store, b"x")
    await store.close()
    assert sorted(item.name for item in path.parent.iterdir()) == ["results.db", "results.db.lock"]


async def test_closing_does_not_wait_for_a_lock_that_stays(path, open_store):
    enough = policy.STORE_CLOSE_SECONDS + 1
    took: list[float] = []
    while len(took) < 3 and not (took and min(took) < enough):  # a busy machine only ever adds to one
        store = open_store(busy_seconds=120)
        await stored(store, b"x")
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as blocker:
            blocker.execute("BEGIN IMMEDIATE")
            began = time.monotonic()
            await store.close()
            took.append(time.monotonic() - began)
    assert min(took) < enough


@pytest.fixture
def unsealed(path: Path, clock):
    """A stored value, and a way to change its bytes in place, past the seat belts."""
    raw = os.urandom(CHUNK + 5000)

    async def make() -> str:
        store = Store(StoreSettings(str(path)), clock)
        ref = await stored(store, raw)
        await store.close()
        return ref

    ref = asyncio.run(make())
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript("DROP TRIGGER chunks_never_change; DROP TRIGGER blobs_never_change")
    return path, ref, raw


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(position=st.integers(0, CHUNK + 4999), bit=st.integers(0, 7), column=st.sampled_from(["data", "digest"]))
def test_any_flipped_bit_is_detected(unsealed, clock, position, bit, column):
    path, ref, raw = unsealed
    number, offset = divmod(position, CHUNK)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(f"SELECT id, {column} FROM chunks ORDER BY id").fetchall()
        identity, before = rows[number]
        after = bytearray(before)
        after[offset % len(after)] ^= 1 << bit
        connection.execute(f"UPDATE chunks SET {column} = ? WHERE id = ?", (bytes(after), identity))
        connection.commit()

        async def read() -> None:
            store = Store(StoreSettings(str(path)), clock)
            try:
                reader = await store.open(ref, "ada")
                reader.read(0, len(raw))
            finally:
                await store.close()

        with pytest.raises(SnapshotUnusable, match="digest mismatch"):
            asyncio.run(read())
        connection.execute(f"UPDATE chunks SET {column} = ? WHERE id = ?", (before, identity))
        connection.commit()
