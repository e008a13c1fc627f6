"""Each fault at each point of a call: the tool runs at most once, and the ref tells the truth afterwards."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from slimguard.points import POINTS

CALL_SECONDS = 1.0
"""`timeouts.call_seconds` of the cases that time out."""

SIZE = 200_000
"""Bytes of the answer: four chunks, more than a view shows."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    import fault_table

    if "case" not in metafunc.fixturenames:
        return
    wanted = "every" in metafunc.function.__name__
    chosen = [
        case
        for case in fault_table.CASES
        if wanted or (case.carrier, case.fault, case.point) in fault_table.REPRESENTATIVES
    ]
    metafunc.parametrize("case", chosen, ids=[case.name for case in chosen])


@pytest.mark.faults
def test_every_case_runs_the_tool_at_most_once_and_tells_the_truth(fault_rig, helpers, until, case):
    record(case.name, None)
    record(case.name, play(fault_rig(case.carrier), case, helpers, until))


def test_a_case_of_the_matrix_runs_the_tool_at_most_once_and_tells_the_truth(fault_rig, helpers, until, case):
    play(fault_rig(case.carrier), case, helpers, until)


def test_the_page_tells_the_table_and_the_last_whole_run():
    import fault_page

    text = fault_page.PAGE.read_text()
    assert text == fault_page.page_with(text, fault_page.section(fault_page.results())), (
        "run tests/faults/fault_page.py"
    )
    assert {case.name for case in fault_page.CASES} == set(fault_page.results())


def record(name: str, ending: tuple[int, str] | None) -> None:
    """Note how a case ended, for the page, when FAULT_RESULTS names a file; None takes an earlier note back."""
    if not (recording := os.environ.get("FAULT_RESULTS")):
        return
    path = Path(recording)
    known = json.loads(path.read_text()) if path.exists() else {}
    known.pop(name, None)
    endings = known if ending is None else {**known, name: ending}
    path.write_text(json.dumps(dict(sorted(endings.items())), indent=0) + "\n")


def play(rig: Any, case: Any, helpers: Any, until: Any) -> tuple[int, str]:
    """One case from start to end; how it ended."""
    arguments = arguments_of(case)
    if case.fault == "timeout":
        rig.bench.section["timeouts"] |= {"call_seconds": CALL_SECONDS}
    host = rig.guard(f"{case.point}:{'kill' if case.fault == 'guard killed' else 'pause'}")
    rig.note_children(host)
    rig.arm()
    call = {"name": "call_tool", "arguments": {"tool_ref": "up/act", "arguments": arguments}}
    identifier = host.post("tools/call", call)
    rig.await_reached()
    rig.note_children(host)
    reply = STRIKES[case.fault](rig, case, host, identifier, helpers, until)
    host.close()
    rig.assert_no_orphans()
    return judge(rig, case, arguments, reply, helpers)


def arguments_of(case: Any) -> dict[str, Any]:
    """How the server must behave so that the fault meets the call where it should."""
    arguments: dict[str, Any] = {"text": "once", "size": SIZE}
    if case.point == "half-response":
        return arguments | {"halves": True}
    if case.point == "after-flush" and case.fault in ("server killed", "connection dropped"):
        return arguments | {"delay": 8}
    if case.fault == "timeout" and POINTS.index(case.point) <= POINTS.index("after-flush"):
        return arguments | {"delay": CALL_SECONDS * 1.6}
    return arguments


# --- the faults; each returns the host's reply, or None when there is nobody to hear it ---


def kill_guard(rig: Any, case: Any, host: Any, identifier: int, helpers: Any, until: Any) -> None:
    host.process.wait(60)
    rig.let_second_half()


def kill_server(rig: Any, case: Any, host: Any, identifier: int, helpers: Any, until: Any) -> Any:
    if case.point == "after-flush":
        until(rig.executed, what="the run of the tool")
    rig.kill_upstream()
    rig.release()
    return host.answer(identifier)["result"]


def drop_connection(rig: Any, case: Any, host: Any, identifier: int, helpers: Any, until: Any) -> Any:
    if case.point == "after-flush":
        until(rig.executed, what="the run of the tool")
    rig.drop_connection()
    rig.release()
    return host.answer(identifier)["result"]


def cancel(rig: Any, case: Any, host: Any, identifier: int, helpers: Any, until: Any) -> None:
    host.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": identifier}})
    rig.release()
    until(lambda: is_settled(host, helpers), what="the end of the cancelled call")


def hang_up(rig: Any, case: Any, host: Any, identifier: int, helpers: Any, until: Any) -> None:
    host.process.stdin.close()
    rig.release()
    host.process.wait(60)


def pass_time(rig: Any, case: Any, host: Any, identifier: int, helpers: Any, until: Any) -> Any:
    if case.point == "half-response":
        rig.release_guard()
        reply = host.answer(identifier)["result"]
        assert "tool ran: unknown" in helpers.text_of(reply)
        rig.let_second_half()
    else:
        if POINTS.index(case.point) > POINTS.index("after-flush"):
            time.sleep(CALL_SECONDS * 1.2)  # what is tested is that time passes
        rig.release()
        reply = host.answer(identifier)["result"]
    until(
        lambda: "stored" in helpers.text_of(host.read()),
        what=f"the late answer in the store ({helpers.text_of(host.read())})",
    )
    return reply


STRIKES = {
    "guard killed": kill_guard,
    "server killed": kill_server,
    "connection dropped": drop_connection,
    "cancelled": cancel,
    "host gone": hang_up,
    "timeout": pass_time,
}


def is_settled(host: Any, helpers: Any) -> bool:
    """Whether the one call has ended, or was never begun."""
    for _ in range(3):
        listing = helpers.text_of(host.read())
        if "still running" in listing:
            return False
        if "up/act" in listing:
            return True
    return True


# --- what must be true afterwards ---


def judge(rig: Any, case: Any, arguments: dict[str, Any], reply: Any, helpers: Any) -> tuple[int, str]:
    import faulty_common

    exact = faulty_common.result_of(arguments)
    rows = rig.rows()
    assert len(rows) <= 1
    state = rows[0]["state"] if rows else "-"
    executed = rig.executed()
    assert executed <= 1
    assert (executed, state) in case.endings, rows
    if state == "stored":
        assert rig.exported(rows[0]["result_ref"]) == exact
    if reply is not None:
        check_reply(reply, executed, state, rows, helpers)
    if case.fault == "guard killed" and rows:
        check_after_restart(rig, rows[0]["result_ref"], state, helpers)
    assert rig.executed() == executed
    return executed, state


def check_reply(reply: dict[str, Any], executed: int, state: str, rows: Any, helpers: Any) -> None:
    """What the host was told must fit what the server did."""
    text = helpers.text_of(reply)
    if not reply.get("isError"):
        assert executed == 1 and f"result_ref={rows[0]['result_ref']}" in text
        return
    assert "tool ran: " in text
    ran = text.partition("tool ran: ")[2].split()[0].rstrip(".;,)")
    assert ran in {0: ("no", "unknown"), 1: ("yes", "unknown")}[executed], text
    if state == "failed":
        assert ran == "no", text


def check_after_restart(rig: Any, ref: str, state: str, helpers: Any) -> None:
    """A new guard says the same of the ref, and sends nothing."""
    host = rig.guard()
    text = helpers.text_of(host.read(ref))
    if state == "stored":
        assert f"result_ref={ref}" in text and "line of once" in text
    else:
        assert "unknown" in text and "tool ran: unknown" in text
    host.close()
