"""A store that fails under a running guard: before the tool runs it is refused, after it ran nothing is lost."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

SERVER = Path(__file__).resolve().parent.parent.parent / "fixtures" / "servers" / "faulty_stdio.py"


@pytest.fixture
def before_store(bench, helpers):
    """Starts a guard on a store at `path`, before the faulty server; `limit` is the size that its files may have."""

    def start(path: Path | None = None, *, limit: int | None = None):
        bench.environment["FAULT_FOLDER"] = str(bench.folder)
        bench.servers["up"] = {
            "command": sys.executable,
            "args": [str(SERVER)],
            "env": {"FAULT_FOLDER": str(bench.folder)},
        }
        if path is not None:
            bench.section["store"] = {"path": str(path)}
        if limit is None:
            host = bench.host()
        else:
            code = (
                "import resource,os,sys;resource.setrlimit(resource.RLIMIT_FSIZE,(int(sys.argv[1]),)*2);"
                "os.execv(sys.executable,[sys.executable,*sys.argv[2:]])"
            )
            command = [sys.executable, "-c", code, str(limit), "-m", "slimguard", "serve", "--config"]
            host = helpers.RawHost([*command, str(bench.write())])
            bench.hosts.append(host)
            host.initialize()
        host.await_tool("up/act")
        return host

    return start


def executed(bench, name="act") -> int:
    path = bench.folder / "counter.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return sum(json.loads(line)["name"] == name for line in lines)


def database(bench) -> Path:
    return Path(bench.section["store"]["path"])


def start_call(host, until, bench, **arguments):
    """A call that has reached its tool and not been answered."""
    call = {"name": "call_tool", "arguments": {"tool_ref": "up/act", "arguments": {"text": "x", **arguments}}}
    identifier = host.post("tools/call", call)
    until(lambda: executed(bench), what="the run of the tool")
    return identifier


def complaints(host) -> list[str]:
    return [line for line in host.stderr.decode().splitlines() if "store" in line]


def assert_exact_without_ref(result, arguments) -> None:
    import faulty_common

    assert result == json.loads(faulty_common.result_of({"text": "x", **arguments}))


@pytest.mark.parametrize("trouble", ["unwritable", "corrupt"])
def test_without_a_store_an_act_is_refused_a_look_goes_on_and_stderr_says_why_once(
    before_store, bench, helpers, trouble
):
    path = bench.folder / "file" / "results.db"
    if trouble == "unwritable":
        path.parent.write_text("a file where a folder should be")
    else:
        path.parent.mkdir(mode=0o700)
        path.write_bytes(b"this is no database " * 1000)
        path.chmod(0o600)
    host = before_store(path)
    for _ in range(3):
        refused = host.tool("up/act", {"text": "x"})
        text = helpers.text_of(refused)
        assert refused["isError"] is True and "tool ran: no" in text and str(path.parent) in text
        looked = host.tool("up/look", {"text": "x", "size": 40_000})
        assert_exact_without_ref(looked, {"size": 40_000})
    assert executed(bench) == 0
    assert executed(bench, "look") == 3
    host.close()
    (line,) = complaints(host)
    assert str(path.parent) in line and "refused" in line and "read-only" in line


def test_on_a_full_disk_the_exact_result_is_delivered_without_a_ref(before_store, bench, helpers):
    host = before_store(limit=600_000)
    arguments = {"size": 3_000_000}
    result = host.tool("up/act", {"text": "x", **arguments})
    assert_exact_without_ref(result, arguments)
    assert executed(bench) == 1
    small = host.tool("up/act", {"text": "y"})
    assert small.get("isError") is not True or "tool ran: no" in helpers.text_of(small)
    host.close()
    assert len(complaints(host)) <= 2


def test_a_lock_of_another_process_is_waited_for(before_store, bench, helpers, until):
    host = before_store()
    host.tool("up/act", {"text": "first"})
    lock = sqlite3.connect(database(bench), isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    call = {"name": "call_tool", "arguments": {"tool_ref": "up/act", "arguments": {"text": "x", "size": 40_000}}}
    identifier = host.post("tools/call", call)
    assert helpers.text_of(host.call("find_tool", {"query": "up/act"}))
    assert executed(bench) == 1
    lock.execute("ROLLBACK")
    lock.close()
    result = host.answer(identifier)["result"]
    assert helpers.ref_of(result)
    assert executed(bench) == 2


@pytest.mark.faults
def test_a_lock_that_stays_refuses_before_the_tool_and_delivers_exactly_after_it(before_store, bench, helpers, until):
    host = before_store()
    host.tool("up/look", {"text": "warm"})
    identifier = start_call(host, until, bench, size=40_000, delay=2)
    lock = sqlite3.connect(database(bench), isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    try:
        result = host.answer(identifier, 40)["result"]
        assert_exact_without_ref(result, {"size": 40_000, "delay": 2})
        refused = host.tool("up/act", {"text": "y"}, 40)
        assert "tool ran: no" in helpers.text_of(refused)
    finally:
        lock.close()
    assert executed(bench) == 1
    assert helpers.ref_of(host.tool("up/act", {"text": "z", "size": 40_000}))


def test_a_store_damaged_while_the_tool_runs_costs_the_ref_and_not_the_result(before_store, bench, helpers, until):
    host = before_store()
    host.tool("up/look", {"text": "warm"})
    identifier = start_call(host, until, bench, size=40_000, delay=1)
    for path in database(bench).parent.glob("results.db*"):
        with path.open("r+b") as file:
            file.write(b"\xde\xad\xbe\xef" * 8192)
    result = host.answer(identifier)["result"]
    if "result_ref=" in helpers.text_of(result):
        pages = "\n".join(host.pages(helpers.ref_of(result), "raw:"))
        assert "line of x" in pages
    else:
        assert_exact_without_ref(result, {"size": 40_000, "delay": 1})
    assert executed(bench) == 1


def test_a_store_deleted_while_the_tool_runs_is_made_anew_and_the_result_is_stored(before_store, bench, helpers, until):
    import faulty_common

    host = before_store()
    identifier = start_call(host, until, bench, size=40_000, delay=1)
    for path in database(bench).parent.glob("results.db*"):
        path.unlink()
    result = host.answer(identifier)["result"]
    ref = helpers.ref_of(result)
    command = [sys.executable, "-m", "slimguard", "results", "export", ref, "--config", str(bench.config)]
    exported = subprocess.run(command, capture_output=True, check=True, timeout=60).stdout
    assert exported == faulty_common.result_of({"text": "x", "size": 40_000, "delay": 1})
    assert executed(bench) == 1


def test_two_guards_on_one_store_serve_their_hosts_and_see_each_others_results(before_store, bench, helpers):
    first, second = before_store(), before_store()
    refs = [helpers.ref_of(host.tool("up/act", {"text": "x", "size": 40_000})) for host in (first, second)]
    for host in (first, second):
        for ref in refs:
            assert "line of x" in helpers.text_of(host.read(ref))
    assert executed(bench) == 2
