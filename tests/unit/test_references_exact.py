"""Exact parts of stored results: whole, as they are spelled, and refused rather than guessed."""

from __future__ import annotations

import json

import pytest

from slimguard.errors import QueryRejected
from slimguard.query import parse
from slimguard.readers import read_exact


def exact(desk, sources, query=""):
    sources = sources if isinstance(sources, list) else [sources]
    return read_exact(sources, parse(query)[0], desk.context)


def refused(desk, sources, query=""):
    with pytest.raises(QueryRejected) as caught:
        exact(desk, sources, query)
    return f"{caught.value.message} | {caught.value.next_call}"


def test_a_text_is_given_whole_whatever_its_size(desk):
    text = "line\r\n" * 50_000 + "é"
    assert exact(desk, desk.text(text)).text == text
    assert exact(desk, desk.text("short", text)).text == text
    assert exact(desk, desk.text("short", text), "block:0").text == "short"


def test_ranges_are_exact_and_must_be_within(desk):
    source = desk.text("a\nbé\r\nc\nd")
    assert exact(desk, source, "lines:2-3").text == "bé\r\nc\n"
    assert exact(desk, source, "lines:-1").text == "d"
    assert exact(desk, source, "bytes:2-3").text == "bé"
    assert exact(desk, source, "first:1").text == "a\n"
    assert "they are 1 to 4" in refused(desk, source, "lines:3-9")
    assert "not within" in refused(desk, source, "bytes:99-100")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("select:rows[0].v", "1.50"),
        ("select:rows[?k=='b'].v", "[15E-1]"),
        ("select:rows[?k=='b'] | [0]", '{"k": "b", "v":15E-1}'),
        ("select:rows", '[{"k": "a", "v":1.50},\n {"k": "b", "v":15E-1}]'),
        ("select:@", None),
        ("select:none", "null"),
        ("select:empty", "[]"),
        ("select:length(rows)", "2"),
        ("select:rows[].[k, v]", '[["a",1.5],["b",1.5]]'),
        ("items:1", '{"k": "b", "v":15E-1}'),
        ("items:0-1", '[{"k": "a", "v":1.50},{"k": "b", "v":15E-1}]'),
        ("last:1", '{"k": "b", "v":15E-1}'),
    ],
)
def test_json_is_given_as_it_is_spelled(desk, query, expected):
    text = '{"rows": [{"k": "a", "v":1.50},\n {"k": "b", "v":15E-1}], "none": null, "empty": []}'
    part = exact(desk, desk.text(text), query)
    assert part.is_json
    assert part.text == (text if expected is None else expected)


def test_a_text_in_json_is_given_as_it_reads(desk):
    part = exact(desk, desk.text('{"a": {"b": "x\\u00e9\\n"}}'), "select:a.b")
    assert not part.is_json and part.text == "xé\n"


def test_structured_content_is_given_from_the_stored_bytes(desk):
    raw = b'{"content":[{"type":"text","text":"2 rows"}], "structuredContent": {"v": [1.10, 2]} }'
    assert exact(desk, desk.result(raw), "select:v").text == "[1.10, 2]"


def test_structured_content_alone_is_given_as_a_text_from_the_stored_bytes(desk):
    part = exact(desk, desk.result(b'{"content":[], "structuredContent": {"v": [1.10, 1e2]} }'), "")
    assert part.text == '{"v": [1.10, 1e2]}' and not part.is_json


def test_several_results_are_joined_without_marks(desk):
    sources = [desk.json({"items": [{"n": 1}]}, 1), desk.json({"items": [{"n": 2}]}, 2)]
    assert json.loads(exact(desk, sources, "select:items").text) == [{"n": 1}, {"n": 2}]
    assert json.loads(exact(desk, sources, "items:0-1").text) == [{"n": 1}, {"n": 2}]
    assert "not one text" in refused(desk, sources)


def test_data_of_an_image_is_its_base64(desk):
    image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    source = desk.result({"content": [{"type": "text", "text": "a chart"}, image]})
    assert exact(desk, source, "block:1").text == "aGk="
    link = desk.result({"content": [{"type": "resource_link", "uri": "file:///x", "name": "x"}]})
    assert "neither text nor data" in refused(desk, link, "block:0")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("select:nothing", "no key nothing"),
        ("select:rows[?k=='z']", "finds nothing"),
        ("select:rows[", "JMESPath"),
        ("block:7", "no block 7"),
        ("items:5", "not within"),
    ],
)
def test_what_is_not_there_is_refused(desk, query, words):
    assert words in refused(desk, desk.json({"rows": [{"k": "a"}]}), query)


def test_blocks_with_different_values_are_not_guessed_between(desk):
    source = desk.text('{"a": 1, "pad": "xxxxxxxxxxxx"}', structuredContent={"a": 2, "pad": "xxxxxxxxxxxx"})
    assert "different values" in refused(desk, source, "select:a")
    assert exact(desk, source, "block:0 select:a").text == "1"


def test_a_result_too_large_for_reading_as_blocks_is_still_given_by_its_blocks(desk, monkeypatch):
    text = "x" * 3_000
    monkeypatch.setattr("slimguard.document.blocks.document_of.__kwdefaults__", {"parse_limit": 1_000})
    source = desk.text(text)
    assert source.document.result is None
    assert exact(desk, source).text == text
