"""Start, deadlines, death and exit, over real processes."""

from __future__ import annotations

import os
import signal
import sys
import time

import psutil
import pytest

from raw_host import PATIENCE, eventually, is_alive, least


def children(process) -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


def test_initialize_and_tools_list_do_not_wait_for_a_server_that_sleeps(bench):
    bench.counting("slow", START_SLEEP="600")
    host = bench.host()
    assert len(host.request("tools/list")["tools"]) == 3


def test_a_slow_call_answers_still_running_and_is_read_later_without_a_second_run(bench, helpers, until):
    bench.counting()
    bench.section["timeouts"] = {"soft_seconds": 1}
    host = bench.host()
    host.await_tool("count/wait")
    go = bench.folder / "go"
    result = host.tool("count/wait", {"seconds": 0, "until": str(go)})
    text = helpers.text_of(result)
    ref = helpers.ref_of(result)
    assert "still running" in text and f'read_result(result_ref="{ref}")' in text
    go.touch()
    until(lambda: "done waiting" in helpers.text_of(host.read(ref)), what="the late answer")
    assert len(bench.calls("wait")) == 1


def test_a_server_killed_in_mid_call_ran_once_and_the_next_call_works(bench, helpers):
    bench.counting()
    bench.counting("other")
    host = bench.host()
    result = host.tool("count/die")
    assert result["isError"] is True and "tool ran: unknown" in helpers.text_of(result)
    assert len(bench.calls("die")) == 1
    assert helpers.text_of(host.tool("other/record", {"text": "other"})) == "recorded other"
    assert helpers.text_of(host.tool("count/record", {"text": "again"})) == "recorded again"
    assert len(bench.calls("die")) == 1


def test_a_cancelled_call_is_captured_all_the_same(bench, helpers, until):
    bench.counting()
    host = bench.host()
    host.await_tool("count/wait")
    go = bench.folder / "go"
    arguments = {"tool_ref": "count/wait", "arguments": {"seconds": 0, "until": str(go)}}
    identifier = host.post("tools/call", {"name": "call_tool", "arguments": arguments})
    until(lambda: bench.calls("wait"), what="the run of the tool")
    host.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": identifier}})
    host.request("tools/list")  # the cancel was read before this
    go.touch()
    listing = until(
        lambda: (lambda t: t if "stored" in t and "count/wait" in t else None)(helpers.text_of(host.read()))
    )
    ref = next(word for word in listing.replace("=", " ").split() if word.startswith("r") and len(word) == 15)
    assert "done waiting" in helpers.text_of(host.read(ref))
    assert len(bench.calls("wait")) == 1


@pytest.mark.parametrize("ending", ["stdin", "SIGTERM", "SIGINT"])
def test_the_guard_and_its_children_are_gone_within_two_seconds(bench, ending):
    bench.counting(IGNORE_EOF="1")

    def seconds_to_leave() -> float:
        host = bench.host()
        host.await_tool("count/record")
        pids = [child.pid for child in children(host.process)]
        assert pids
        began = time.monotonic()
        if ending == "stdin":
            host.process.stdin.close()
        else:
            os.kill(host.process.pid, getattr(signal, ending))
        host.process.wait(PATIENCE)
        took = time.monotonic() - began
        eventually(lambda: not any(map(is_alive, pids)), what="the end of children that never leave by themselves")
        return took

    assert least(seconds_to_leave, 2.5) < 2.5


@pytest.mark.skipif(sys.platform != "linux", reason="PR_SET_PDEATHSIG is of Linux")
def test_children_die_with_a_guard_that_was_killed(bench, until):
    bench.counting(IGNORE_EOF="1")
    host = bench.host()
    host.await_tool("count/record")
    pids = [child.pid for child in children(host.process)]
    assert pids
    host.process.kill()
    until(lambda: not any(map(is_alive, pids)), what="the end of children that never leave by themselves")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"no json", -32700),
        (
            b'{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"call_tool","arguments":{"x":"\xff"}}}',
            -32700,
        ),
        (b'{"jsonrpc":"2.0","id":77,"method":5}', -32600),
        (b"[" * 100_000, -32700),
        (b'{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"x","arguments":{"a":NaN}}}', -32700),
    ],
)
def test_bad_lines_of_the_host_are_answered_and_the_guard_goes_on(guard, bench, line, code):
    host = guard()
    host.write(line + b"\n")
    message = host.answer(77 if b'"id":77' in line else None)
    assert message["error"]["code"] == code
    assert len(host.request("tools/list")["tools"]) == 3
    assert bench.calls() == []


def test_text_that_is_no_unicode_survives_both_ways(guard, bench):
    host = guard()
    host.write(
        b'{"jsonrpc":"2.0","id":"s","method":"tools/call","params":{"name":"call_tool","arguments":'
        b'{"tool_ref":"count/record","arguments":{"text":"a\\ud800b"}}}}\n'
    )
    assert "result" in host.answer("s")
    assert bench.calls("record")[0]["arguments"]["text"] == "a\ud800b"
    assert len(host.request("tools/list")["tools"]) == 3


def test_a_call_of_a_server_that_is_still_connecting_ends_at_the_soft_deadline_unsent(bench, helpers):
    bench.counting(START_SLEEP="${SLEEP:-0}")
    first = bench.host()
    first.await_tool("count/record")
    first.close()
    bench.environment["SLEEP"] = "600"
    bench.section["timeouts"] = {"soft_seconds": 1}
    host = bench.host()
    text = helpers.text_of(host.tool("count/record", {"text": "x"}))
    assert "still connecting" in text
    assert "tool ran: no" in text
    assert bench.calls() == []


def test_a_call_of_a_dead_server_says_why_it_is_dead(bench, helpers):
    bench.servers["dead"] = {"command": "sh", "args": ["-c", "echo no license >&2; exit 3"]}
    host = bench.host()
    text = helpers.text_of(host.tool("dead/anything"))
    assert "exit code 3" in text and "no license" in text and "tool ran: no" in text
    assert "no license" in helpers.text_of(host.call("find_tool"))
