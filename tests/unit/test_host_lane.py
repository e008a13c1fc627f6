"""The short way of a plain call: what may go it, and that its answers are those of the long way; the way out."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import pytest

from slimguard.host.lane import KNOWN_ENVELOPES, PROGRESS_WAITING, Accepted, Envelopes, Lane, PlainCall
from slimguard.host.outlet import Outlet

LEGACY = Accepted("2025-11-25", "host")
MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": {"name": "x"}}


class Out:
    """The outlet's place: keeps what is posted, parsed."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.waiting = 0

    def post(self, line: bytes) -> None:
        assert line.endswith(b"\n")
        self.messages.append(json.loads(line))


def lane(call: Any = None, *metas: dict[str, Any]) -> tuple[Lane, Out]:
    envelopes = Envelopes()
    for meta in metas or ({},):
        envelopes.accept(meta, LEGACY)
    out = Out()
    return Lane(envelopes, call, out), out  # type: ignore[arg-type]


def request(**changed: Any) -> dict[str, Any]:
    message = {
        "jsonrpc": "2.0",
        "id": 7,
        "method": "tools/call",
        "params": {"name": "find_tool", "arguments": {"a": 1}},
    }
    return message | changed


def taken(message: Any, *metas: dict[str, Any]) -> PlainCall:
    call = lane(None, *metas)[0].takes(message)
    assert call is not None
    return call


def test_a_plain_call_in_a_known_envelope_goes_the_short_way() -> None:
    call = taken(request())
    assert (call.identifier, call.name, call.arguments, call.token) == (7, "find_tool", {"a": 1}, None)
    assert call.accepted is LEGACY


@pytest.mark.parametrize("meta", [{}, {"progressToken": "p"}, {"progressToken": 0}, {"host/any": [1]}])
def test_what_a_host_adds_for_itself_does_not_change_the_envelope(meta: dict[str, Any]) -> None:
    assert taken(request(params={"name": "x", "_meta": meta})).token == meta.get("progressToken")
    assert taken(request(params={"name": "x", "_meta": {**MODERN, **meta}}), MODERN).token == meta.get("progressToken")


@pytest.mark.parametrize(
    "message",
    [
        None,
        [],
        "tools/call",
        {},
        request(jsonrpc="1.0"),
        request(jsonrpc=None),
        request(id=None),
        request(id=1.5),
        request(id=True),
        request(method="tools/list"),
        request(method="notifications/cancelled", params=None),
        request(method="notifications/cancelled", params={"requestId": None}),
        request(result={}),
        request(params=None),
        request(params=[]),
        request(params={"arguments": {}}),
        request(params={"name": 5}),
        request(params={"name": "x", "task": {"ttl": 1}}),
        request(params={"name": "x", "inputResponses": {}}),
        request(params={"name": "x", "_meta": None}),
        request(params={"name": "x", "_meta": []}),
        request(params={"name": "x", "_meta": {"progressToken": None}}),
        request(params={"name": "x", "_meta": {"progressToken": 1.5}}),
        request(params={"name": "x", "_meta": MODERN}),
        request(params={"name": "x", "_meta": {"io.modelcontextprotocol/logLevel": "debug"}}),
    ],
)
def test_whatever_is_unusual_is_the_sdks_to_judge(message: Any) -> None:
    assert lane()[0].takes(message) is None


def test_another_era_or_client_is_another_envelope() -> None:
    one = lane(None, MODERN)[0]
    assert one.takes(request()) is None
    assert one.takes(request(params={"name": "x", "_meta": dict(MODERN)})) is not None
    other = MODERN | {"io.modelcontextprotocol/clientInfo": {"name": "y"}}
    assert one.takes(request(params={"name": "x", "_meta": other})) is None


def test_a_new_handshake_makes_every_envelope_unknown() -> None:
    one = lane()[0]
    assert one.takes({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}) is None
    assert one.takes(request()) is None


def test_only_so_many_envelopes_are_remembered() -> None:
    metas = [{"io.modelcontextprotocol/x": number} for number in range(KNOWN_ENVELOPES + 1)]
    one = lane(None, *metas)[0]
    took = [one.takes(request(params={"name": "x", "_meta": meta})) is not None for meta in metas]
    assert took == [True] * KNOWN_ENVELOPES + [False]


@pytest.mark.anyio
async def test_the_result_is_answered_under_the_requests_own_id() -> None:
    async def call(plain: PlainCall, _progress: Any) -> dict[str, Any]:
        return {"content": [plain.name]}

    one, out = lane(call)
    for identifier in (7, "7", "a\ud800"):
        plain = one.takes(request(id=identifier))
        assert plain is not None
        await one.answer(plain)
    assert [message["id"] for message in out.messages] == [7, "7", "a\ud800"]
    assert out.messages[0] == {"jsonrpc": "2.0", "id": 7, "result": {"content": ["find_tool"]}}


@pytest.mark.anyio
@pytest.mark.parametrize(("identifier", "named", "answers"), [(7, "7", 0), ("7", 7, 0), ("a", "a", 0), (7, 8, 1)])
async def test_a_cancelled_request_is_not_answered_and_another_is(identifier: Any, named: Any, answers: int) -> None:
    began, ended, stopped = anyio.Event(), anyio.Event(), list[bool]()

    async def call(_plain: PlainCall, _progress: Any) -> dict[str, Any]:
        began.set()
        try:
            await ended.wait()
        except anyio.get_cancelled_exc_class():
            stopped.append(True)
            raise
        return {}

    one, out = lane(call)
    plain = one.takes(request(id=identifier))
    assert plain is not None
    async with anyio.create_task_group() as group:
        group.start_soon(one.answer, plain)
        await began.wait()
        assert (
            one.takes({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": named}}) is None
        )
        ended.set()
    assert (len(out.messages), len(stopped)) == (answers, 1 - answers)


@pytest.mark.anyio
async def test_a_call_that_is_stopped_with_the_connection_says_so() -> None:
    async def call(_plain: PlainCall, _progress: Any) -> dict[str, Any]:
        await anyio.sleep_forever()
        return {}

    one, out = lane(call)
    plain = one.takes(request())
    assert plain is not None
    async with anyio.create_task_group() as group:
        group.start_soon(one.answer, plain)
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()
    assert [(message["id"], message["error"]["code"]) for message in out.messages] == [(7, -32000)]


@pytest.mark.anyio
async def test_progress_goes_before_the_answer_and_none_after_it() -> None:
    kept: list[Callable[[Any], None]] = []

    async def call(_plain: PlainCall, progress: Callable[[Any], None]) -> dict[str, Any]:
        kept.append(progress)
        for params in (
            {"progress": 1, "total": 3, "message": "one", "other": 1},
            {"progress": 2.5, "total": "three", "message": 5},
            {"progress": float("nan")},
            {"progress": True},
            {"progress": "4"},
            [],
        ):
            progress(params)
        return {}

    one, out = lane(call)
    plain = one.takes(request(params={"name": "x", "_meta": {"progressToken": "p"}}))
    assert plain is not None
    await one.answer(plain)
    kept[0]({"progress": 9})
    assert [message.get("params") for message in out.messages] == [
        {"progressToken": "p", "progress": 1, "total": 3, "message": "one"},
        {"progressToken": "p", "progress": 2.5},
        None,
    ]


@pytest.mark.anyio
async def test_progress_that_nobody_reads_or_asked_for_is_dropped() -> None:
    async def call(_plain: PlainCall, progress: Callable[[Any], None]) -> dict[str, Any]:
        progress({"progress": 1})
        return {}

    one, out = lane(call)
    for meta, waiting in (({}, 0), ({"progressToken": 1}, PROGRESS_WAITING)):
        out.waiting = waiting
        plain = one.takes(request(params={"name": "x", "_meta": meta}))
        assert plain is not None
        await one.answer(plain)
    assert all("result" in message for message in out.messages)


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    source, sink = os.pipe()
    yield source, sink
    for descriptor in (source, sink):
        try:
            os.close(descriptor)
        except OSError:
            continue


@pytest.mark.anyio
async def test_small_and_large_lines_leave_whole_and_in_order(pipe: tuple[int, int]) -> None:
    source, sink = pipe
    lines = [b"a\n", b"b" * 500_000 + b"\n", b"c\n", b"d" * 9_000 + b"\n", b"e\n"]
    outlet = Outlet(sink)

    def read() -> bytes:
        taken = b""
        while not taken.endswith(b"e\n"):
            taken += os.read(source, 1 << 16)
        return taken

    async with anyio.create_task_group() as group:
        group.start_soon(outlet.run)
        for line in lines:
            outlet.post(line)
        assert await anyio.to_thread.run_sync(read) == b"".join(lines)
        await anyio.wait_all_tasks_blocked()
        assert outlet.waiting == 0
        group.cancel_scope.cancel()


@pytest.mark.anyio
async def test_a_host_that_has_left_gets_nothing_and_nothing_breaks(pipe: tuple[int, int]) -> None:
    source, sink = pipe
    os.close(source)
    outlet = Outlet(sink)
    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            group.start_soon(outlet.run)
            outlet.post(b"x" * 100_000 + b"\n")
            outlet.post(b"y\n")
    outlet.post(b"z\n")
    assert outlet.waiting == 0


@pytest.mark.anyio
async def test_the_points_of_a_reply_are_passed_in_their_order(pipe: tuple[int, int]) -> None:
    source, sink = pipe
    seen: list[str] = []
    outlet = Outlet(sink, seen.append)
    async with anyio.create_task_group() as group:
        group.start_soon(outlet.run)
        outlet.post(b"one\n")
        while len(seen) < 2:
            await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()
    assert seen == ["reply-half-written", "reply-written"]
    assert os.read(source, 100) == b"one\n"
