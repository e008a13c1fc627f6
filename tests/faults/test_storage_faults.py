"""What the store does when the disk, the file system, another process or a crash is against it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from slimguard import canonical, policy
from slimguard.errors import SnapshotUnusable, StoreUnavailable
from slimguard.model import Answer, Execution, Tool
from slimguard.store import Store, migrations

pytestmark = [pytest.mark.anyio, pytest.mark.faults]

CHUNK = policy.CHUNK_BYTES
CHILD = Path(__file__).with_name("store_child.py")
ROOT = os.geteuid() == 0
NOBODY = 65534
needs_mount = pytest.mark.skipif(
    not ROOT or shutil.which("unshare") is None, reason="needs root and unshare to mount a disk"
)


def execution() -> Execution:
    definition = {"name": "pay"}
    tool = Tool("bank", "pay", definition, canonical.definition_digest(definition))
    ref = canonical.make_ref(os.urandom(canonical.REF_RANDOM_BYTES))
    return Execution(ref, "ada", "here", tool, {}, "0" * 64, time.time(), time.time() + 3600, 60.0)


def content(ref: str, size: int) -> bytes:
    return (ref.encode() * (size // len(ref) + 1))[:size]


async def keep(store: Store, ref: str, raw: bytes):
    return await store.keep(ref, Answer("result", raw), durable=True, is_error=False, finished_at=time.time())


async def stored(store: Store, size: int = 3 * CHUNK) -> str:
    call = execution()
    await store.open_call(call)
    await keep(store, call.ref, content(call.ref, size))
    return call.ref


async def whole(store: Store, ref: str) -> bytes:
    reader = await store.open(ref, "ada")
    try:
        return reader.read(0, reader.call.size)
    finally:
        reader.close()


def child(*arguments: object, **options) -> subprocess.Popen[str]:
    command = [sys.executable, str(CHILD), *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options)


def finished(process: subprocess.Popen[str]) -> list[list[str]]:
    out, _ = process.communicate(timeout=60)
    return [line.split() for line in out.splitlines()]


def in_own_mounts(script: str, *arguments: object) -> str:
    """Run a shell script in a mount namespace of its own; what it printed."""
    command = ["unshare", "-m", "sh", "-c", script, "sh", *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if "permi" in run.stderr.lower() and not run.stdout:
        pytest.skip("mounting is not allowed here")
    assert run.returncode == 0, run.stderr
    return run.stdout


def flip(path: Path, wanted: bytes) -> None:
    """Turn one bit of the only place where `wanted` stands in the file."""
    data = bytearray(path.read_bytes())
    assert data.count(wanted) == 1
    data[data.index(wanted) + len(wanted) // 2] ^= 0x10
    path.write_bytes(data)


# --- disk full ---


async def test_a_full_disk_costs_the_result_that_did_not_fit_and_nothing_else(open_store):
    store = open_store(page_limit=100)
    small = await stored(store, 1000)
    call = execution()
    await store.open_call(call)
    with pytest.raises(StoreUnavailable, match="disk is full") as refused:
        await keep(store, call.ref, os.urandom(1 << 20))
    assert refused.value.ran == "yes"
    assert (await store.find(call.ref, "ada")).state == "still running"
    assert await whole(store, small) == content(small, 1000)
    assert await stored(store, 2000)


async def test_a_large_result_that_did_not_fit_leaves_no_bytes_behind(open_store):
    store = open_store(page_limit=2000)
    call = execution()
    await store.open_call(call)
    with pytest.raises(StoreUnavailable, match="disk is full"):
        await keep(store, call.ref, os.urandom(policy.STORE_BATCH_BYTES * 3))
    await store.gc()
    assert (await store.statistics()).stored_bytes == 0
    ref = await stored(store, policy.STORE_BATCH_BYTES + 1)
    assert len(await whole(store, ref)) == policy.STORE_BATCH_BYTES + 1


async def test_an_intent_that_cannot_be_recorded_is_refused_before_the_tool_runs(open_store):
    store = open_store(page_limit=40)
    refused = None
    for _ in range(2000):
        try:
            await store.open_call(execution())
        except StoreUnavailable as error:
            refused = error
            break
    assert refused is not None
    assert (refused.ran, "disk is full" in refused.message, "\n" in refused.message) == ("no", True, False)


async def test_an_answer_is_stored_although_its_intent_could_not_be(open_store, path):
    store = open_store(busy_seconds=0.1)
    await store.secret()
    blocker = sqlite3.connect(path, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    call = execution()
    with pytest.raises(StoreUnavailable):
        await store.open_call(call)
    assert (await store.find(call.ref, "ada")).state == "still running"
    assert await store.find(call.ref, "eve") is None
    blocker.close()
    assert (await keep(store, call.ref, b"read-only tools went on")).state == "stored"
    assert await whole(store, call.ref) == b"read-only tools went on"


@needs_mount
def test_a_real_full_disk_is_reported_and_over_when_there_is_room_again(tmp_path):
    script = 'mount -t tmpfs -o size=8m none "$1" && exec "$2" "$3" fill "$1/state/results.db" 200000'
    out = in_own_mounts(script, tmp_path, sys.executable, CHILD)
    told = json.loads(out)
    assert "disk is full" in told["reason"]
    assert told["kept"] == told["intact"] > 3


# --- read-only, locked ---


def filled(path: Path, *, log_left: bool) -> str:
    """A store of three results, its write-ahead log left behind by a crash or not; the ref of one result."""
    ref = [words[1] for words in finished(child("write", path, 3, 70_000)) if words[0] == "kept"][1]
    if log_left:
        process = child("hold", path)
        process.stdout.readline()
        process.kill()
        process.communicate()
    return ref


@pytest.mark.skipif(not ROOT, reason="needs root to become another user")
@pytest.mark.parametrize("log_left", [False, True])
def test_a_store_without_permission_to_write_is_still_read(log_left):
    with tempfile.TemporaryDirectory(dir="/tmp") as open_to_all:
        place = Path(open_to_all) / "state"
        ref = filled(place / "results.db", log_left=log_left)
        Path(open_to_all).chmod(0o755)
        for item in (place, *place.iterdir()):
            os.chown(item, NOBODY, NOBODY)
            item.chmod(0o500 if item.is_dir() else 0o400)
        process = child("attempt", place / "results.db", ref, env={**os.environ, "AS_USER": str(NOBODY)})
        told = json.loads(process.communicate(timeout=60)[0])
    assert told["read"] is True
    assert "permission denied" in told["write"] or "read-only" in told["write"]


@needs_mount
@pytest.mark.parametrize("log_left", [False, True])
def test_a_store_on_a_read_only_disk_is_still_read(tmp_path, log_left):
    ref = filled(tmp_path / "results.db", log_left=log_left)
    script = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && exec "$2" "$3" attempt "$1/results.db" "$4"'
    told = json.loads(in_own_mounts(script, tmp_path, sys.executable, CHILD, ref))
    assert told["read"] is True
    assert "read-only" in told["write"]


async def test_a_lock_of_another_process_is_waited_for(open_store, path):
    store = open_store()
    await store.secret()
    process = child("lock", path)
    assert process.stdout.readline() == "locked\n"
    process.stdin.write("\n")
    process.stdin.flush()
    ref = await stored(store)
    assert await whole(store, ref) == content(ref, 3 * CHUNK)
    process.communicate()


async def test_a_lock_that_stays_is_reported_in_time_and_does_not_stop_reading(open_store, path):
    store = open_store(busy_seconds=4)
    ref = await stored(store)
    blocker = sqlite3.connect(path, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    began = time.monotonic()
    results = await asyncio.gather(*(store.open_call(execution()) for _ in range(8)), return_exceptions=True)
    assert time.monotonic() - began < 8, "as long as one wait for the lock, not as two"
    assert all(isinstance(error, StoreUnavailable) and "locked" in error.message for error in results)
    assert await whole(store, ref) == content(ref, 3 * CHUNK)
    blocker.close()
    assert await stored(store)


# --- damage ---


async def test_a_flipped_bit_in_stored_bytes_is_a_loud_error_and_never_partial_data(open_store, path):
    first = open_store()
    call, raw = execution(), os.urandom(3 * CHUNK)
    await first.open_call(call)
    await keep(first, call.ref, raw)
    intact = await stored(first)
    await first.close()
    flip(path, raw[CHUNK + 20_000 : CHUNK + 20_060])
    store, written = open_store(), []
    reader = await store.open(call.ref, "ada")
    assert reader.read(0, CHUNK) == raw[:CHUNK]
    for start, end in [(CHUNK, CHUNK + 1), (0, 3 * CHUNK), (2 * CHUNK - 1, 2 * CHUNK + 1)]:
        with pytest.raises(SnapshotUnusable, match="digest mismatch") as damaged:
            reader.read(start, end)
        assert damaged.value.ran == "yes"
        assert damaged.value.next_call
    reader.close()
    with pytest.raises(SnapshotUnusable, match="digest mismatch"):
        await store.export(call.ref, "ada", written.append)
    assert written == []
    assert [(item.ref, item.fault) for item in await store.verify()] == [(call.ref, "chunk 2 of 3"), (intact, "")]
    assert await whole(store, intact) == content(intact, 3 * CHUNK)


async def test_a_flipped_bit_in_a_chunk_digest_is_found_when_the_snapshot_is_opened(open_store, path):
    first = open_store()
    call, raw = execution(), os.urandom(2 * CHUNK)
    await first.open_call(call)
    await keep(first, call.ref, raw)
    await first.close()
    flip(path, bytes.fromhex(canonical.digest_of(raw[CHUNK:])))
    store = open_store()
    with pytest.raises(SnapshotUnusable, match="digest mismatch"):
        await store.open(call.ref, "ada")
    assert [item.fault for item in await store.verify()] == ["manifest"]


async def test_damaged_bytes_are_never_shared_with_a_new_result(open_store, path):
    first = open_store()
    call, again, raw = execution(), execution(), os.urandom(2 * CHUNK)
    await first.open_call(call)
    await keep(first, call.ref, raw)
    await first.close()
    flip(path, raw[20_000:20_060])
    store = open_store()
    await store.open_call(again)
    await keep(store, again.ref, raw)
    assert await whole(store, again.ref) == raw


async def test_a_damaged_page_never_gives_wrong_bytes(open_store, path):
    first = open_store()
    refs = [await stored(first, 2 * CHUNK) for _ in range(4)]
    await first.close()
    healthy, size = path.read_bytes(), 4096
    outcomes = set()
    for page in range(1, len(healthy) // size, 7):
        path.write_bytes(healthy[: page * size] + b"\xa5" * size + healthy[(page + 1) * size :])
        store = open_store()
        for ref in refs:
            try:
                assert await whole(store, ref) == content(ref, 2 * CHUNK)
                outcomes.add("exact")
            except (SnapshotUnusable, StoreUnavailable) as error:
                outcomes.add(type(error).__name__)
        await store.close()
    assert {"exact", "SnapshotUnusable"} <= outcomes


@pytest.mark.parametrize("damage", ["header", "text", "empty"])
async def test_a_file_that_is_no_database_is_refused_and_left_alone(open_store, path, damage):
    path.parent.mkdir(mode=0o700)
    if damage == "header":
        first = open_store()
        await stored(first)
        await first.close()
        path.write_bytes(b"\0" * 100 + path.read_bytes()[100:])
    else:
        path.write_bytes(b"dear diary\n" * 500 if damage == "text" else b"")
    before = path.read_bytes()
    store = open_store()
    if damage == "empty":
        assert await stored(store)
        return
    with pytest.raises(StoreUnavailable, match="not a database"):
        await store.open_call(execution())
    with pytest.raises(StoreUnavailable):
        await store.find(execution().ref, "ada")
    assert path.read_bytes() == before


async def test_a_bit_flipped_in_the_log_never_gives_wrong_bytes(open_store, path):
    process = child("hold", path)
    process.stdout.readline()
    writer = child("write", path, 6, 70_000)
    refs = [words[1] for words in finished(writer) if words[0] == "kept"]
    process.kill()
    process.communicate()
    log = path.with_name("results.db-wal")
    data = bytearray(log.read_bytes())
    data[len(data) // 2] ^= 1
    log.write_bytes(data)
    store, told = open_store(), []
    for ref in refs:
        call = await store.find(ref, "ada")
        told.append(call.state if call else "not found")
        if call is not None and call.state == "stored":
            assert await whole(store, ref) == content(ref, 70_000)
    assert set(told) <= {"stored", "unknown", "not found"}


# --- deleted, replaced ---


@pytest.mark.parametrize("what", ["file", "side files", "directory"])
async def test_a_deleted_store_is_made_anew_and_never_swallows_a_write(open_store, path, what):
    store = open_store()
    old, running = await stored(store), execution()
    await store.open_call(running)
    reader = await store.open(old, "ada")
    if what == "directory":
        shutil.rmtree(path.parent)
    else:
        for item in path.parent.iterdir() if what == "side files" else [path]:
            item.unlink()
    assert await store.find(old, "ada") is None
    new = await stored(store)
    await keep(store, running.ref, b"answered after the deletion")
    reader.close()
    await store.close()
    again = open_store()
    assert await whole(again, new) == content(new, 3 * CHUNK)
    assert await whole(again, running.ref) == b"answered after the deletion"
    assert await again.find(old, "ada") is None


@pytest.mark.parametrize("crash", [False, True])
async def test_a_lost_log_is_noticed_and_nothing_acknowledged_is_lost(open_store, path, crash):
    store = open_store()
    refs = [await stored(store)]
    path.with_name("results.db-wal").unlink()
    refs += [await stored(store) for _ in range(3)]
    if crash:
        copied = path.with_name("copy")
        shutil.copytree(path.parent, copied, ignore=shutil.ignore_patterns("*.guard-*", "*-shm"))
        again = open_store(copied / path.name)
    else:
        await store.close()
        again = open_store()
    for ref in refs:
        assert await whole(again, ref) == content(ref, 3 * CHUNK)


async def test_two_guards_agree_after_the_file_was_deleted(open_store, path):
    first, second = open_store(), open_store()
    await stored(first)
    await stored(second)
    path.unlink()
    refs = await asyncio.gather(*(stored(store) for store in (first, second) * 4))
    for store in (first, second):
        for ref in refs:
            assert await whole(store, ref) == content(ref, 3 * CHUNK)


# --- refused places ---


@pytest.mark.skipif(not ROOT, reason="needs root to give a file away")
@pytest.mark.parametrize("name", ["results.db", "results.db-wal", ""])
async def test_a_file_or_directory_of_another_user_is_refused(open_store, path, name):
    first = open_store()
    await stored(first)
    await first.close()
    target = path.parent / name
    target.touch()
    os.chown(target, NOBODY, NOBODY)
    with pytest.raises(StoreUnavailable, match="belongs to user 65534") as refused:
        await open_store().open_call(execution())
    assert refused.value.code == "store_refused"


@pytest.mark.parametrize("name", ["results.db", "results.db-wal", "results.db.lock", ""])
async def test_a_symbolic_link_is_refused_and_not_followed(open_store, tmp_path, path, name):
    victim = tmp_path / "victim"
    if name:
        path.parent.mkdir(mode=0o700)
        victim.write_bytes(b"")
    else:
        victim.mkdir(mode=0o700)
    (path.parent / name).symlink_to(victim)
    with pytest.raises(StoreUnavailable, match="symbolic link"):
        await open_store().open_call(execution())
    assert victim.is_dir() or victim.read_bytes() == b""


async def test_a_directory_that_others_may_write_is_refused(open_store, path):
    path.parent.mkdir()
    path.parent.chmod(0o777)
    with pytest.raises(StoreUnavailable, match="chmod 700"):
        await open_store().open_call(execution())


async def test_a_fifo_is_refused_without_waiting(open_store, path):
    path.parent.mkdir(mode=0o700)
    os.mkfifo(path)
    with pytest.raises(StoreUnavailable, match="not a regular file"):
        await open_store().open_call(execution())


async def test_everything_is_private_from_creation_whatever_the_umask(open_store, path):
    before = os.umask(0)
    try:
        store = open_store(path.parent / "deeper" / "results.db")
        await stored(store)
    finally:
        os.umask(before)
    places = [path.parent, path.parent / "deeper", *(path.parent / "deeper").iterdir()]
    modes = {item.name.split("-")[-1]: stat.S_IMODE(item.stat().st_mode) for item in places}
    assert len(modes) >= 6
    assert {mode for name, mode in modes.items() if name in ("state", "deeper")} == {0o700}
    assert {mode for name, mode in modes.items() if name not in ("state", "deeper")} == {0o600}


async def test_a_file_that_others_could_read_is_closed_to_them(open_store, path):
    first = open_store()
    await stored(first)
    await first.close()
    path.chmod(0o644)
    await stored(open_store())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


# --- schema versions ---


async def test_an_older_schema_is_taken_over_with_its_results(open_store, path):
    first = open_store()
    ref = await stored(first)
    await first.close()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript("DROP TABLE catalogs; DROP TABLE definitions; PRAGMA user_version = 1")
    store = open_store()
    assert await whole(store, ref) == content(ref, 3 * CHUNK)
    await store.save("bank", "key", [execution().tool])
    assert len((await store.load({"bank": "key"}))["bank"]) == 1
    assert (await store.statistics()).schema == migrations.VERSION


async def test_a_newer_schema_is_refused_and_left_alone(open_store, path):
    first = open_store()
    await stored(first)
    await first.close()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {migrations.VERSION + 1}")
    store = open_store()
    with pytest.raises(StoreUnavailable, match="newer slimguard"):
        await store.open_call(execution())
    with pytest.raises(StoreUnavailable, match="newer slimguard"):
        await store.recent("ada", "here", 5)


async def test_another_programs_database_is_refused(open_store, path):
    path.parent.mkdir(mode=0o700)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript("CREATE TABLE bookmarks (url TEXT)")
    with pytest.raises(StoreUnavailable, match="another program"):
        await open_store().open_call(execution())


# --- crashes, several processes ---


@pytest.mark.parametrize("acknowledged", [1, 4, 9, 14])
async def test_kill_9_loses_nothing_that_was_acknowledged(open_store, path, acknowledged):
    process = child("write", path, 1000, 90_000)
    lines = [process.stdout.readline().split() for _ in range(acknowledged)]
    process.kill()
    lines += [line.split() for line in process.communicate()[0].splitlines()]
    store = open_store()
    kept = {ref for word, ref in lines if word == "kept"}
    for ref in kept:
        assert await whole(store, ref) == content(ref, 90_000)
    for word, ref in lines:
        if word == "open" and ref not in kept:
            assert (await store.find(ref, "ada")).state in ("unknown", "stored")
    assert (await store.statistics()).check == "ok"


@pytest.mark.parametrize("size", [500, 9_000_000])
@pytest.mark.parametrize(
    ("point", "states"),
    [
        ("accepted-dispatched-committed", {"unknown"}),
        ("snapshot-half-written", {"unknown"}),
        ("snapshot-committed", {"stored"}),
    ],
)
async def test_kill_9_at_each_point_leaves_an_honest_state(open_store, path, point, states, size):
    lines = finished(child("die", path, point, size))
    ref = lines[0][1]
    store = open_store()
    call = await store.find(ref, "ada")
    assert call.state in states
    if call.state == "stored":
        assert await whole(store, ref) == content(ref, size)
    await store.gc()
    assert (await store.find(ref, "ada")).state == call.state
    assert (await store.statistics()).stored_bytes == (size if call.state == "stored" else 0)
    assert not list(path.parent.glob("*.guard-*"))[1:]


async def test_a_live_guards_call_is_running_and_a_dead_guards_is_unknown(open_store, path):
    process = child("hold", path)
    ref = process.stdout.readline().split()[1]
    store = open_store()
    assert (await store.find(ref, "ada")).state == "still running"
    await store.gc()
    assert (await store.find(ref, "ada")).state == "still running"
    process.kill()
    process.communicate()
    assert (await store.find(ref, "ada")).state == "unknown"
    await store.gc()
    assert (await store.find(ref, "ada")).state == "unknown"


async def test_two_processes_write_at_once_and_lose_nothing(open_store, path):
    processes = [child("write", path, 25, 80_000) for _ in range(2)]
    store = open_store()
    own = [await stored(store) for _ in range(10)]
    refs = [words[1] for process in processes for words in finished(process) if words[0] == "kept"]
    assert len(refs) == 50
    for ref in refs:
        assert await whole(store, ref) == content(ref, 80_000)
    for ref in own:
        assert await whole(store, ref) == content(ref, 3 * CHUNK)
    assert (await store.statistics()).check == "ok"
