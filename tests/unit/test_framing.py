"""The pure half of the upstream edge: lines, events, spans and definitions, for every byte that a server may send."""

from __future__ import annotations

import json
import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slimguard import policy
from slimguard.upstream.definitions import read_page
from slimguard.upstream.events import EventParser
from slimguard.upstream.framing import (
    LineFramer,
    Noise,
    Notification,
    Oversized,
    Request,
    Response,
    recovered_id,
    split,
)
from slimguard.upstream.spans import checked_value_end, element_spans, value_end

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
SPACE = st.text(alphabet=" \t\r", max_size=3).map(str.encode)


def cut(data: bytes, places: list[int]) -> list[bytes]:
    ends = sorted({place % (len(data) + 1) for place in places} | {0, len(data)})
    return [data[start:end] for start, end in pairwise(ends)]


@given(
    st.lists(st.binary(max_size=30).map(lambda line: line.replace(b"\n", b"")), max_size=8), st.lists(st.integers(0))
)
@settings(max_examples=100)
def test_lines_do_not_depend_on_how_the_bytes_arrive(lines: list[bytes], places: list[int]) -> None:
    framer = LineFramer()
    seen = [bytes(line) for chunk in cut(b"\n".join(lines), places) for line in framer.feed(chunk)]

    assert [*seen, bytes(framer.rest())] == (lines or [b""])


@given(st.integers(1, 400), st.lists(st.integers(0), max_size=5))
@settings(max_examples=50)
def test_a_line_over_the_limit_keeps_only_its_ends(size: int, places: list[int]) -> None:
    line = b'{"id":7,"x":"' + b"y" * size + b'"}'
    framer = LineFramer(limit=50)
    seen = [part for chunk in cut(line + b"\nnext\n", places) for part in framer.feed(chunk)]

    assert bytes(seen[1]) == b"next"
    if len(line) <= 50:
        assert bytes(seen[0]) == line
    else:
        assert isinstance(seen[0], Oversized)
        assert (seen[0].size, seen[0].id) == (len(line), 7)


@given(JSON, SPACE, SPACE, st.booleans())
@settings(max_examples=200)
def test_the_span_of_a_result_is_exactly_the_text_of_its_value(
    value: object, before: bytes, after: bytes, id_first: bool
) -> None:
    raw = json.dumps({"content": value}, ensure_ascii=False).encode("utf-8", "surrogatepass")
    members = [b'"id":3', b'"result":' + before + raw + after]
    message = split(b"{" + b",".join(members if id_first else members[::-1]) + b"}")

    assert isinstance(message, Response)
    assert message.id == 3
    assert message.answer.raw == raw


@given(JSON)
@settings(max_examples=200)
def test_the_two_ways_to_find_a_values_end_agree(value: object) -> None:
    raw = json.dumps(value).encode() + b" ,x"

    assert value_end(raw, 0) == checked_value_end(raw)(0) == len(raw) - 3


@given(st.binary(max_size=200))
@settings(max_examples=300)
def test_no_bytes_at_all_make_splitting_fail(data: bytes) -> None:
    for prefix in (b"", b'{"id":1,"result":', b'{"jsonrpc":"2.0","id":1,"result":{"content":["'):
        message = split(prefix + data)
        assert isinstance(message, Noise | Notification | Request | Response)


@given(st.lists(JSON, max_size=6), SPACE)
@settings(max_examples=100)
def test_elements_are_found_one_by_one(values: list[object], space: bytes) -> None:
    parts = [json.dumps(value).encode() for value in values]
    raw = b"[" + b",".join(space + part + space for part in parts) + space + b"]"

    assert [raw[start:end] for start, end in element_spans(raw, 0)] == parts


@given(
    st.lists(
        st.tuples(st.sampled_from(["", "message", "endpoint"]), st.lists(st.text(max_size=10), min_size=1)), max_size=4
    ),
    st.sampled_from([b"\n", b"\r\n", b"\r"]),
    st.lists(st.integers(0)),
)
@settings(max_examples=150)
def test_events_do_not_depend_on_line_ends_nor_on_how_the_bytes_arrive(
    events: list[tuple[str, list[str]]], end: bytes, places: list[int]
) -> None:
    clean = [
        (name, [line.replace("\r", "").replace("\n", "").encode("utf-8", "replace") for line in lines])
        for name, lines in events
    ]
    wire = b"".join(
        (b"event: " + name.encode() + end if name else b"")
        + b"".join(b"data: " + line + end for line in lines)
        + b": a comment"
        + end
        + end
        for name, lines in clean
    )
    parser = EventParser()
    seen = [(event.name, bytes(event.data)) for chunk in cut(wire + b": bye", places) for event in parser.feed(chunk)]

    assert seen == [(name or "message", b"\n".join(lines)) for name, lines in clean]


def test_a_stream_remembers_its_last_id_and_its_wait() -> None:
    parser = EventParser()
    events = list(parser.feed(b"\xef\xbb\xbfid: a\nretry: 250\ndata:\n\nid: b\0\ndata:x\n\n"))

    assert [bytes(event.data) for event in events] == [b"", b"x"]
    assert (parser.last_id, parser.retry_seconds) == ("a", 0.25)


@pytest.mark.parametrize(
    ("data", "identity"),
    [
        (b'{"id":12,"result":{"a":[}', 12),
        (b'{"result":{"a":[},"id":"x y"}', "x y"),
        (b'{"result":"\\"id\\":5', None),
        (b'{"id" : -3 ,', -3),
    ],
)
def test_the_id_of_a_damaged_answer_is_found_at_its_ends(data: bytes, identity: object) -> None:
    assert recovered_id(data[:300], data[-300:]) == identity


def test_a_damaged_notification_is_noise_and_a_damaged_answer_is_not() -> None:
    assert isinstance(split(b'{"method":"notifications/x","params":{"result":'), Noise)
    assert isinstance(split(b'{"level":"info","msg":"started"}'), Noise)
    assert isinstance(split(b"Listening on port 3000"), Noise)
    assert isinstance(split(b'{"jsonrpc":"2.0","result":{"method":'), Response)


def test_an_answer_that_is_too_large_to_be_parsed_is_taken_by_its_brackets(monkeypatch: pytest.MonkeyPatch) -> None:
    value = {"content": [{"text": '"]}{["\\', "n": [1, [2, [3, {"a": {}}]]]}] * 50, "isError": True}
    raw = json.dumps(value).encode()
    data = b'{"jsonrpc":"2.0","id":1,"result":' + raw + b',"x":[{}]}'
    parsed = split(data)
    monkeypatch.setattr(policy, "PARSE_LIMIT_BYTES", 10)

    assert split(data) == parsed
    assert isinstance(parsed, Response)
    assert (parsed.answer.raw, parsed.is_error) == (raw, True)


@pytest.mark.parametrize(
    "piece",
    [
        b'"' + b"x" * 1000 + b'",',
        b'"' + b'\\"a' * 300 + b'",',
        b'{"a":[1,"b",{"c":"d"}]},',
        b"12345,",
        b"[[[[[[]]]]]],",
    ],
    ids=["text", "escapes", "records", "numbers", "nested"],
)
def test_finding_the_end_takes_time_in_proportion_to_the_size(piece: bytes) -> None:
    def seconds(size: int) -> float:
        data = b"[" + piece * (size // len(piece)) + b"1]"
        best = float("inf")
        for _ in range(3):
            began = time.thread_time()
            assert value_end(data, 0) == len(data)
            best = min(best, time.thread_time() - began)
        return best

    small, large = seconds(60_000), seconds(480_000)

    assert large < small * 8 * 4 + 0.02


def test_definitions_are_read_one_by_one() -> None:
    raw = (
        b'{"nextCursor":"c","tools":[{"name":"a","inputSchema":{}},7,{"name":"b"},{"name":""},{"name":"c","x":"\xff"}]}'
    )
    page = read_page("s", raw)

    assert [tool.id for tool in page.tools] == ["s/a", "s/b"]
    assert len(page.skipped) == 3
    assert page.cursor == "c"


@pytest.mark.parametrize(
    "bad",
    [
        b'{"name":"x","n":NaN}',
        b'{"name":"two\\nlines"}',
        b'{"name":"hidden\\u200b"}',
        b'{"name":"' + b"x" * 300 + b'"}',
    ],
)
def test_a_definition_that_nobody_could_show_costs_only_itself(bad: bytes) -> None:
    page = read_page("s", b'{"tools":[' + bad + b',{"name":"good"}]}')

    assert [tool.name for tool in page.tools] == ["good"]
    assert len(page.skipped) == 1


@pytest.mark.parametrize("raw", [b"{}", b"[]", b'{"tools":{}}', b'{"tools":[', b'{"tools":null}'])
def test_a_listing_without_a_list_is_refused(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r"expected|no `tools`|never ends"):
        read_page("s", raw)
