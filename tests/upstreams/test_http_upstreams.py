"""Calls over Streamable HTTP and the legacy event stream: one post a call, honest about what is not known."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import anyio
import pytest

from slimguard import policy
from slimguard.errors import UpstreamFailed
from slimguard.settings import ServerConfig

pytestmark = pytest.mark.anyio
PLAIN = b'{"content":[{"type":"text","text":"x"}]}'


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "executed"
    path.touch()
    return path


@pytest.mark.parametrize(
    ("tool", "state", "ran", "words"),
    [
        ("redirect301", "failed", "unknown", "redirect"),
        ("redirect303", "failed", "unknown", "redirect"),
        ("redirect307", "failed", "no", "redirect"),
        ("redirect308", "failed", "no", "redirect"),
        ("status400", "unknown", "unknown", "HTTP status 400"),
        ("status401", "failed", "no", "headers"),
        ("status403", "failed", "no", "HTTP status 403"),
        ("status404", "failed", "no", "ended the session"),
        ("status429", "failed", "no", "HTTP status 429"),
        ("status500", "unknown", "unknown", "HTTP status 500"),
        ("status502", "unknown", "unknown", "HTTP status 502"),
        ("drop", "unknown", "unknown", "connection"),
        ("drop-forever", "unknown", "unknown", "without an answer"),
        ("close-mid-body", "unknown", "unknown", "connection"),
        ("accepted", "unknown", "unknown", "HTTP 202"),
        ("empty", "unknown", "unknown", "without an answer"),
    ],
)
async def test_what_is_no_answer_fails_once_and_the_next_call_works(
    tool: str, state: str, ran: str, words: str, upstream_kit: ModuleType, log: Path
) -> None:
    async with upstream_kit.raw_server("json", log=log) as config, upstream_kit.running(config) as rig:
        outcome = await rig.call(tool)
        after = await rig.call("plain")

    expected = {state, "unknown"} if ran == "unknown" else {state}
    assert outcome.state in expected
    assert outcome.ran == ran
    assert words in outcome.reason
    assert after.answer.raw == PLAIN
    assert log.read_text().split() == [tool, "plain"]


@pytest.mark.parametrize(
    ("tool", "kind", "raw"),
    [
        ("drop-resume", "result", PLAIN),
        ("batch", "result", PLAIN),
        ("html", "illegal", b"<html>hello</html>"),
        ("mismatch", "error", b'{"code": -32020, "message": "Header mismatch"}'),
    ],
)
async def test_what_is_an_answer_is_kept_and_never_asked_for_again(
    tool: str, kind: str, raw: bytes, upstream_kit: ModuleType, log: Path
) -> None:
    async with upstream_kit.raw_server("json", log=log) as config, upstream_kit.running(config) as rig:
        outcome = await rig.call(tool)

    assert (outcome.state, outcome.answer.kind, outcome.answer.raw) == ("stored", kind, raw)
    assert log.read_text().split() == [tool]


@pytest.mark.parametrize("carrier", ["json", "sse", "legacy-sse"])
async def test_the_ordinary_things_work_over_each_carrier(carrier: str, upstream_kit: ModuleType, log: Path) -> None:
    arguments = {"a": "\ud800é", "n": 2**70}
    async with upstream_kit.raw_server(carrier, log=log) as config, upstream_kit.running(config) as rig:
        (status,) = rig.fleet.statuses()
        echoed = await rig.call("echo", arguments)
        wanted = await rig.call("input")
        late = await rig.call("sleep", {"seconds": 0, "until": str(log.with_name("go"))}, call_seconds=0.1)
        log.with_name("go").touch()
        await rig.ledger.until("keep", late.ref)
        big = await rig.call("big", {"bytes": 3_000_000})

    assert (status.state, status.title, status.protocol) == ("ready", "Raw", "2025-11-25")
    assert json.loads(echoed.answer.raw)["structuredContent"]["params"]["arguments"] == arguments
    assert (wanted.state, wanted.ran) == ("stored", "unknown")
    assert late.ran == "unknown"
    assert len(big.answer.raw) == 3_000_039
    assert log.read_text().split() == ["echo", "input", "sleep", "big"]


@pytest.mark.parametrize("carrier", ["json", "sse"])
async def test_servers_of_2026_are_spoken_to_in_their_era(carrier: str, upstream_kit: ModuleType) -> None:
    async with upstream_kit.raw_server(carrier, mode="modern") as config, upstream_kit.running(config) as rig:
        (status,) = rig.fleet.statuses()
        outcome = await rig.call("plain")

    assert (status.protocol, status.instructions, status.version) == ("2026-07-28", "be kind", "2")
    assert outcome.answer.raw == PLAIN


@pytest.mark.parametrize("carrier", ["json", "sse", "legacy-sse"])
async def test_an_answer_over_the_cap_says_that_the_tool_ran_over_http(
    carrier: str, upstream_kit: ModuleType, monkeypatch: pytest.MonkeyPatch, log: Path
) -> None:
    monkeypatch.setattr(policy, "MESSAGE_LIMIT_BYTES", 100_000)
    async with upstream_kit.raw_server(carrier, log=log) as config, upstream_kit.running(config) as rig:
        outcome = await rig.call("big", {"bytes": 500_000})
        after = await rig.call("plain")

    assert (outcome.state, outcome.ran) == ("failed", "yes")
    assert "over the limit" in outcome.reason
    assert after.state == "stored"
    assert log.read_text().split() == ["big", "plain"]


async def test_many_calls_at_once_over_http_each_get_their_own_answer(upstream_kit: ModuleType) -> None:
    wrong: list[int] = []
    async with upstream_kit.raw_server("json") as config, upstream_kit.running(config) as rig:

        async def one(number: int) -> None:
            outcome = await rig.call("echo", {"number": number})
            if json.loads(outcome.answer.raw)["structuredContent"]["params"]["arguments"] != {"number": number}:
                wrong.append(number)

        async with anyio.create_task_group() as tasks:
            for number in range(300):
                tasks.start_soon(one, number)

    assert wrong == []
    assert len(rig.ledger.answers) == 300


async def test_the_servers_own_requests_are_answered_over_http(upstream_kit: ModuleType) -> None:
    async with upstream_kit.raw_server("legacy-sse") as config, upstream_kit.running(config) as rig:
        outcome = await rig.call("ask")

    assert json.loads(outcome.answer.raw)["structuredContent"] == {"q0": {}, "q1": {"roots": []}, "q2": -32601}


async def test_progress_comes_down_the_event_stream(upstream_kit: ModuleType) -> None:
    seen: list[int] = []
    async with upstream_kit.raw_server("sse") as config, upstream_kit.running(config) as rig:
        await rig.call("progress", progress=lambda params: seen.append(params["progress"]))

    assert seen == [1, 2]


async def test_a_lost_event_stream_is_unknown_and_opened_again_for_the_next_call(
    upstream_kit: ModuleType, log: Path
) -> None:
    async with upstream_kit.raw_server("legacy-sse", log=log) as config, upstream_kit.running(config) as rig:
        lost = await rig.call("drop")
        refused = await rig.call("status500")
        after = await rig.call("plain")

    assert (lost.state, lost.ran) == ("unknown", "unknown")
    assert (refused.state, refused.ran) == ("unknown", "unknown")
    assert after.answer.raw == PLAIN
    assert log.read_text().split() == ["plain"]


async def test_a_server_that_comes_back_is_reached_again(upstream_kit: ModuleType, log: Path) -> None:
    async with AsyncExitStack() as stack:
        first = AsyncExitStack()
        base = await first.enter_async_context(upstream_kit.http_process("json", log=log))
        config = ServerConfig(name="raw", transport="http", url=base + "/mcp", fingerprint="raw")
        rig = await stack.enter_async_context(upstream_kit.running(config))
        assert (await rig.call("plain")).state == "stored"
        await first.aclose()
        with pytest.raises(UpstreamFailed) as away:
            await rig.call("echo")
        port = int(base.rpartition(":")[2])
        await stack.enter_async_context(upstream_kit.http_process("json", log=log, port=port))
        assert (await rig.call("plain")).state == "stored"

    assert away.value.ran == "no"
    assert log.read_text().split() == ["plain", "plain"]


async def test_a_server_that_is_away_is_unavailable_and_says_where_but_not_more(upstream_kit: ModuleType) -> None:
    config = ServerConfig(
        name="raw",
        transport="http",
        url="http://user:sentinel-secret@127.0.0.1:9/path-sentinel?token=sentinel",
        headers={"authorization": "Bearer sentinel-secret"},
    )
    async with upstream_kit.running(config, replace(config, name="old", transport="sse")) as rig:
        for status in rig.fleet.statuses():
            assert status.state == "unavailable"
            assert "127.0.0.1:9" in status.reason
            assert "sentinel" not in status.reason
        assert "sentinel" not in repr(rig.logged)


async def test_a_redirect_of_the_handshake_is_followed_within_the_origin(upstream_kit: ModuleType, log: Path) -> None:
    async with upstream_kit.raw_server("json", log=log) as config:
        moved = replace(config, url=config.url.replace("/mcp", "/moved"))
        async with upstream_kit.running(moved) as rig:
            (status,) = rig.fleet.statuses()
            outcome = await rig.call("plain")

    assert status.state == "ready"
    assert outcome.answer.raw == PLAIN
    assert log.read_text().split() == ["plain"]


async def test_headers_of_the_configuration_are_sent_and_a_refusal_is_explained(upstream_kit: ModuleType) -> None:
    async with upstream_kit.raw_server("json", mode="bearer") as config:
        with_token = replace(config, name="good", headers={"Authorization": "Bearer right"})
        async with upstream_kit.running(config, with_token) as rig:
            without, good = rig.fleet.statuses()
            assert rig.tool("plain", "good")
            with pytest.raises(UpstreamFailed, match="401"):
                await rig.fleet.start(rig.execution(replace(rig.tool("plain", "good"), server="raw")))

    assert without.state == "unavailable"
    assert "check the server's `headers`" in without.reason
    assert good.state == "ready"
