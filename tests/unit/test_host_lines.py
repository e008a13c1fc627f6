"""Lines from and to the host: cut in linear time, read or answered, written whatever they hold."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from slimguard.errors import RequestRejected
from slimguard.host.server import enveloped, error_result, result_of
from slimguard.host.stdio import encode, lines_of, parse_line
from slimguard.model import Reply

LEGACY, MODERN = "2025-11-25", "2026-07-28"
STAMP = {"name": "slimguard", "version": "1"}
INFO = "io.modelcontextprotocol/serverInfo"


def cut(chunks: Sequence[bytes], limit: int = 1_000) -> tuple[list[bytes], list[str]]:
    """Lines and log of a stream; driven by hand, since nothing in it waits."""
    said: list[str] = []

    async def stream() -> AsyncGenerator[bytes, None]:
        for chunk in chunks:
            yield chunk

    async def run() -> list[bytes]:
        return [line async for line in lines_of(stream(), said.append, limit)]

    try:
        run().send(None)
    except StopIteration as done:
        return done.value, said
    raise AssertionError("it waited")


@given(
    st.lists(st.binary(min_size=1, max_size=20).map(lambda line: line.replace(b"\n", b"x") + b"."), max_size=8),
    st.data(),
)
@settings(max_examples=60)
def test_lines_are_the_same_however_the_stream_is_cut(lines: list[bytes], data: st.DataObject) -> None:
    whole = b"".join(line + b"\n" for line in lines)
    places = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=6)))
    chunks = [whole[a:b] for a, b in zip([0, *places], [*places, len(whole)], strict=True)]
    assert cut(chunks) == (lines, [])


def test_empty_lines_are_passed_over_and_a_last_line_needs_no_end() -> None:
    assert cut([b"\n  \n{}\n\n[]"]) == ([b"{}", b"[]"], [])


@pytest.mark.parametrize(
    "chunks", [[b"x" * 60 + b"\nok\n"], [b"x" * 30, b"x" * 30, b"\nok\n"], [b"x" * 60, b"\n", b"ok", b"\n"]]
)
def test_a_line_over_the_limit_is_dropped_and_said_and_the_next_is_read(chunks: list[bytes]) -> None:
    lines, said = cut(chunks, limit=50)
    assert lines == [b"x" * 60 + b"\0", b"ok"]
    assert len(said) == 1
    assert "50 bytes" in said[0]


def test_a_last_line_over_the_limit_is_said_too() -> None:
    lines, said = cut([b"ok\n", b"x" * 30, b"x" * 30], limit=50)
    assert (lines, len(said)) == ([b"ok", b"x" * 60 + b"\0"], 1)


@pytest.mark.parametrize("step", [1, 7, 100, 5_000])
def test_a_request_over_the_limit_is_answered_under_its_id(step: int) -> None:
    whole = b'{"jsonrpc":"2.0","id":7,"method":"ping","x":"' + b"x" * 3_000 + b'"}\n{}\n'
    lines, _ = cut([whole[at : at + step] for at in range(0, len(whole), step)], limit=1_000)
    assert [len(line) for line in lines] == [401, 2]
    answer = parse_line(lines[0])
    assert isinstance(answer, bytes)
    assert json.loads(answer)["id"] == 7
    assert json.loads(answer)["error"]["code"] == -32700


def test_a_request_is_read() -> None:
    message = parse_line(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
    assert isinstance(message, SessionMessage)
    assert isinstance(message.message, JSONRPCRequest)


@pytest.mark.parametrize(
    ("line", "code", "identifier"),
    [
        (b"not json", -32700, None),
        (b'{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":NaN}}', -32700, 7),
        (b'{"jsonrpc":"2.0","id":"a","method":"\xff"}', -32700, "a"),
        (b"[" * 100_000, -32700, None),
        (b'{"jsonrpc":"2.0","id":3,"method":"x","params":5}', -32602, 3),
        (b'{"id":4}', -32600, 4),
        (b"[]", -32600, None),
        (b"5", -32600, None),
    ],
)
def test_a_line_that_is_no_message_is_answered(line: bytes, code: int, identifier: Any) -> None:
    answer = parse_line(line)
    assert isinstance(answer, bytes)
    assert answer.endswith(b"\n")
    body = json.loads(answer)
    assert (body["error"]["code"], body["id"]) == (code, identifier)


@pytest.mark.parametrize("identifier", ["null", "1.5", "true", "[1]", '{"a":1}', "1e400"])
def test_a_request_whose_id_is_none_is_answered(identifier: str) -> None:
    answer = parse_line(f'{{"jsonrpc":"2.0","id":{identifier},"method":"ping"}}'.encode())
    assert isinstance(answer, bytes)
    assert json.loads(answer)["id"] is None
    assert json.loads(answer)["error"]["code"] == -32600


def test_a_response_is_one_line_with_the_result_as_it_is() -> None:
    result = {"content": [], "unknown": {"kept": 1.0}, "text": "ü \n"}
    line = encode(JSONRPCResponse(jsonrpc="2.0", id=1, result=result))
    assert line.count(b"\n") == 1
    assert json.loads(line) == {"jsonrpc": "2.0", "id": 1, "result": result}
    assert "ü".encode() in line


def test_a_lone_surrogate_is_written_escaped() -> None:
    line = encode(JSONRPCResponse(jsonrpc="2.0", id=1, result={"text": "\ud800"}))
    assert b"\\ud800" in line
    assert json.loads(line)["result"]["text"] == "\ud800"


def test_a_notification_is_written_without_what_it_does_not_have() -> None:
    body = json.loads(encode(JSONRPCNotification(jsonrpc="2.0", method="notifications/x")))
    assert body == {"jsonrpc": "2.0", "method": "notifications/x"}


def test_an_older_host_gets_no_envelope() -> None:
    assert enveloped(LEGACY, {"content": [], "resultType": "complete"}, STAMP) == {"content": []}


def test_a_newer_host_gets_ours_in_place_of_the_servers() -> None:
    theirs = {"content": [], "resultType": "input_required", "_meta": {INFO: {"name": "theirs"}, "kept": 1}}
    out = enveloped(MODERN, theirs, STAMP)
    assert out == {"content": [], "resultType": "complete", "_meta": {INFO: STAMP, "kept": 1}}
    assert theirs["_meta"] == {INFO: {"name": "theirs"}, "kept": 1}


def test_a_foreign_stamp_alone_leaves_no_empty_meta() -> None:
    assert enveloped(LEGACY, {"content": [], "_meta": {INFO: {}}}, STAMP) == {"content": []}


def test_a_reply_is_exact_or_one_text_with_its_media() -> None:
    exact = {"content": [], "structuredContent": {"a": 1}}
    assert result_of(Reply(exact=exact)) == exact
    image = {"type": "image", "data": "", "mimeType": "image/png"}
    assert result_of(Reply(text="t", media=(image,))) == {"content": [{"type": "text", "text": "t"}, image]}
    assert result_of(Reply(text="t", is_error=True))["isError"] is True


def test_an_error_says_whether_the_tool_ran() -> None:
    out = error_result(RequestRejected("no", next_call="try"))
    assert out["isError"] is True
    assert "tool ran: no" in out["content"][0]["text"]


def test_an_image_that_no_message_can_carry_is_passed_with_what_shows_it() -> None:
    image = {"type": "image", "data": "AAAA", "mimeType": "image/\ud800", "score": float("nan")}
    result = result_of(Reply(text="half \ud800", media=(image, {"type": "audio", "data": "BBBB", "x": 1})))
    assert result["content"] == [
        {"type": "text", "text": "half \ufffd"},
        {"type": "image", "data": "AAAA", "mimeType": "image/\ufffd"},
        {"type": "audio", "data": "BBBB", "x": 1},
    ]
