"""Calls of real processes over real pipes: one execution each, whatever goes wrong, and the next call works."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import anyio
import pytest

from slimguard import policy
from slimguard.errors import RequestRejected, StoreUnavailable, UpstreamFailed
from slimguard.model import Json

pytestmark = pytest.mark.anyio


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "executed"
    path.touch()
    return path


async def test_a_crash_in_mid_call_is_unknown_once_and_the_next_call_works(upstream_kit: ModuleType, log: Path) -> None:
    async with upstream_kit.running(upstream_kit.raw_stdio(log=log)) as rig:
        lost = await rig.call("crash")
        after = await rig.call("plain")

    assert (lost.state, lost.ran) == ("unknown", "unknown")
    assert "its stdout; exit code 3" in lost.reason
    assert "fatal: disk on fire" in lost.reason
    assert "disk" not in rig.ledger.rows[lost.ref].note, "the ledger's note carries no output of the server"
    assert rig.ledger.rows[lost.ref].state == "unknown"
    assert after.state == "stored"
    assert log.read_text().split() == ["crash", "plain"]


async def test_half_an_answer_is_no_answer(upstream_kit: ModuleType, log: Path) -> None:
    async with upstream_kit.running(upstream_kit.raw_stdio(log=log)) as rig:
        outcome = await rig.call("half")

    assert (outcome.state, outcome.ran) == ("unknown", "unknown")
    assert "middle of an answer" in outcome.reason
    assert log.read_text().split() == ["half"]


async def test_noise_on_stdout_and_floods_do_no_harm(upstream_kit: ModuleType) -> None:
    async with upstream_kit.running(upstream_kit.raw_stdio(mode="banner")) as rig:
        for name in ("garbage", "flood", "double", "plain"):
            outcome = await rig.call(name)
            assert outcome.answer.raw == b'{"content":[{"type":"text","text":"x"}]}', name


async def test_the_servers_own_requests_are_answered(upstream_kit: ModuleType) -> None:
    async with upstream_kit.running(upstream_kit.raw_stdio()) as rig:
        outcome = await rig.call("ask")

    assert json.loads(outcome.answer.raw)["structuredContent"] == {"q0": {}, "q1": {"roots": []}, "q2": -32601}


async def test_an_answer_that_asks_for_input_is_stored_as_an_error_and_never_continued(
    upstream_kit: ModuleType, log: Path
) -> None:
    async with upstream_kit.running(upstream_kit.raw_stdio(log=log, mode="modern")) as rig:
        outcome = await rig.call("input")

    assert (outcome.state, outcome.ran) == ("stored", "unknown")
    assert outcome.stored.is_error
    assert "input_required" in outcome.reason
    assert log.read_text().split() == ["input"]


async def test_arguments_and_meta_arrive_as_they_were_given(upstream_kit: ModuleType) -> None:
    arguments = {"z": "\ud800\u2028é", "a": 1.0, "n": 2**70, "l": [None, True, {}], "": -0.0}
    async with upstream_kit.running(upstream_kit.raw_stdio()) as rig:
        outcome = await rig.call("echo", arguments, meta={"traceparent": "00-1"})

    params = json.loads(outcome.answer.raw)["structuredContent"]["params"]
    assert json.dumps(params["arguments"]) == json.dumps(arguments)
    assert params["_meta"] == {"traceparent": "00-1"}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**5000], ids=["nan", "inf", "digits"])
async def test_arguments_that_json_cannot_carry_are_refused_before_anything(
    value: Json, upstream_kit: ModuleType, log: Path
) -> None:
    async with upstream_kit.running(upstream_kit.raw_stdio(log=log)) as rig:
        execution = rig.execution(rig.tool("echo"), {})
        object.__setattr__(execution, "arguments", {"a": value})
        with pytest.raises(RequestRejected):
            await rig.fleet.start(execution)

    assert rig.ledger.events == []
    assert log.read_text() == ""


async def test_progress_reaches_whoever_asked_for_it(upstream_kit: ModuleType) -> None:
    seen: list[Json] = []
    async with upstream_kit.running(upstream_kit.raw_stdio()) as rig:
        await rig.call("progress", progress=seen.append)

    assert [params["progress"] for params in seen] == [1, 2]


async def test_a_listener_that_fails_does_not_disturb_the_call(upstream_kit: ModuleType) -> None:
    def gone(_: Json) -> None:
        raise ConnectionError

    async with upstream_kit.running(upstream_kit.raw_stdio()) as rig:
        outcome = await rig.call("progress", progress=gone)

    assert outcome.state == "stored"


async def test_a_late_answer_is_stored_after_the_outcome_was_unknown(upstream_kit: ModuleType, log: Path) -> None:
    go = log.with_name("go")
    async with upstream_kit.running(upstream_kit.raw_stdio(log=log)) as rig:
        outcome = await rig.call("sleep", {"seconds": 0, "until": str(go)}, call_seconds=0.1)
        assert (outcome.state, outcome.ran) == ("unknown", "unknown")
        go.touch()
        await rig.ledger.until("keep", outcome.ref)
        late = await rig.fleet.wait(outcome.ref, 60)

    assert (late.state, late.ran) == ("stored", "yes")
    assert log.read_text().split() == ["sleep"]


async def test_a_cancelled_call_is_told_to_the_server_and_its_answer_is_stored(
    upstream_kit: ModuleType, log: Path
) -> None:
    go = log.with_name("go")
    async with upstream_kit.running(upstream_kit.raw_stdio(log=log)) as rig:
        execution = rig.execution(rig.tool("sleep"), {"seconds": 0, "until": str(go)})
        await rig.fleet.start(execution)
        assert rig.fleet.state(execution.ref) == "running"
        await rig.fleet.cancel(execution.ref)
        with anyio.fail_after(60):
            while "cancelled" not in log.read_text():
                await anyio.sleep(0.01)
        go.touch()
        outcome = await rig.fleet.wait(execution.ref, 60)

    assert outcome.state == "stored"
    assert log.read_text().split() == ["sleep", "cancelled"]


async def test_a_call_goes_on_when_its_caller_leaves_between_the_record_and_the_send(
    upstream_kit: ModuleType, log: Path
) -> None:
    ledger = upstream_kit.MemoryLedger(gate=anyio.Event())
    async with upstream_kit.running(upstream_kit.raw_stdio(log=log), ledger=ledger) as rig:
        execution = rig.execution(rig.tool("echo"))
        async with anyio.create_task_group() as caller:
            caller.start_soon(rig.fleet.start, execution)
            await ledger.until("open", execution.ref)
            caller.cancel_scope.cancel()
        ledger.gate.set()
        await ledger.until("keep", execution.ref)

    assert log.read_text().split() == ["echo"]


async def test_without_a_record_a_tool_with_effects_is_not_run_and_a_reading_one_is(
    upstream_kit: ModuleType, log: Path
) -> None:
    ledger = upstream_kit.MemoryLedger(refuse={"open_call"})
    async with upstream_kit.running(upstream_kit.raw_stdio(log=log), ledger=ledger) as rig:
        with pytest.raises(StoreUnavailable):
            await rig.call("echo")
        outcome = await rig.call("plain")

    assert (outcome.state, outcome.ran, outcome.stored) == ("held", "yes", None)
    assert outcome.answer.raw == b'{"content":[{"type":"text","text":"x"}]}'
    assert log.read_text().split() == ["plain"]


async def test_an_answer_that_the_store_refuses_is_held_and_delivered(upstream_kit: ModuleType) -> None:
    ledger = upstream_kit.MemoryLedger(refuse={"keep"})
    async with upstream_kit.running(upstream_kit.raw_stdio(), ledger=ledger) as rig:
        outcome = await rig.call("echo")
        again = await rig.fleet.wait(outcome.ref, 0)

    assert outcome.state == again.state == "held"
    assert outcome.answer == again.answer
    assert outcome.ran == "yes"


async def test_held_answers_are_capped_and_the_state_says_so(
    upstream_kit: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "HELD_BYTES", 3_000)
    ledger = upstream_kit.MemoryLedger(refuse={"keep"})
    async with upstream_kit.running(upstream_kit.raw_stdio(), ledger=ledger) as rig:
        outcomes = [await rig.call("big", {"bytes": 1_000}) for _ in range(4)]
        assert [len(outcome.answer.raw) for outcome in outcomes] == [1_039] * 4
        states = [rig.fleet.state(outcome.ref) for outcome in outcomes]
        first = await rig.fleet.wait(outcomes[0].ref, 0)

    assert states == ["failed", "failed", "held", "held"]
    assert first.ran == "yes"
    assert "could not be stored" in first.reason


async def test_an_answer_over_the_cap_says_that_the_tool_ran(
    upstream_kit: ModuleType, monkeypatch: pytest.MonkeyPatch, log: Path
) -> None:
    monkeypatch.setattr(policy, "MESSAGE_LIMIT_BYTES", 100_000)
    async with upstream_kit.running(upstream_kit.raw_stdio(log=log)) as rig:
        outcome = await rig.call("big", {"bytes": 500_000})
        after = await rig.call("plain")

    assert (outcome.state, outcome.ran) == ("failed", "yes")
    assert "over the limit of 100000 bytes" in outcome.reason
    assert after.state == "stored"
    assert log.read_text().split() == ["big", "plain"]


async def test_equal_calls_in_flight_join_when_the_user_asked_for_it(upstream_kit: ModuleType, log: Path) -> None:
    go = log.with_name("go")
    async with upstream_kit.running(upstream_kit.raw_stdio(log=log), join_within_ms=600_000) as rig:
        held = [{"seconds": seconds, "until": str(go)} for seconds in (0, 0, 0.01)]
        first, second, other = (rig.execution(rig.tool("sleep"), arguments) for arguments in held)
        for execution in (first, second, other):
            await rig.fleet.start(execution)
        go.touch()
        one, two, three = [await rig.fleet.wait(execution.ref, 60) for execution in (first, second, other)]
        later = await rig.call("sleep", held[0])

    assert (one.joined, two.joined, three.joined, later.joined) == (False, True, False, False)
    assert two.ref == one.ref == first.ref
    assert two.stored == one.stored
    assert log.read_text().split() == ["sleep"] * 3


async def test_equal_calls_are_two_calls_by_default(upstream_kit: ModuleType, log: Path) -> None:
    async with upstream_kit.running(upstream_kit.raw_stdio(log=log)) as rig:
        executions = [rig.execution(rig.tool("sleep"), {"seconds": 0}) for _ in range(2)]
        for execution in executions:
            await rig.fleet.start(execution)
        outcomes = [await rig.fleet.wait(execution.ref, 60) for execution in executions]

    assert [outcome.joined for outcome in outcomes] == [False, False]
    assert log.read_text().split() == ["sleep"] * 2


async def test_an_execution_is_never_started_twice(upstream_kit: ModuleType, log: Path) -> None:
    async with upstream_kit.running(upstream_kit.raw_stdio(log=log)) as rig:
        execution = rig.execution(rig.tool("echo"))
        await rig.fleet.start(execution)
        with pytest.raises(UpstreamFailed, match="not sent again"):
            await rig.fleet.start(execution)
        await rig.fleet.wait(execution.ref, 60)

    assert log.read_text().split() == ["echo"]


async def test_a_thousand_calls_at_once_over_three_servers_each_get_their_own_answer(upstream_kit: ModuleType) -> None:
    servers = [upstream_kit.raw_stdio(name) for name in ("a", "b", "c")]
    wrong: list[int] = []
    async with upstream_kit.running(*servers) as rig:

        async def one(number: int) -> None:
            outcome = await rig.call("echo", {"number": number}, server="abc"[number % 3])
            if json.loads(outcome.answer.raw)["structuredContent"]["params"]["arguments"] != {"number": number}:
                wrong.append(number)

        async with anyio.create_task_group() as tasks:
            for number in range(1_000):
                tasks.start_soon(one, number)

    assert wrong == []
    assert len(rig.ledger.answers) == 1_000


async def test_a_large_answer_of_one_server_does_not_keep_another_waiting(upstream_kit: ModuleType) -> None:
    servers = [upstream_kit.raw_stdio(name) for name in ("a", "b")]
    async with upstream_kit.running(*servers) as rig:
        big = rig.execution(rig.tool("big", "a"), {"bytes": 20_000_000})
        await rig.fleet.start(big)
        small = 0
        while rig.fleet.state(big.ref) == "running":
            await rig.call("plain", server="b")
            small += 1
        outcome = await rig.fleet.wait(big.ref, 60)

    assert outcome.state == "stored"
    assert small >= 5, "small calls go on while a large answer is read and taken apart"
