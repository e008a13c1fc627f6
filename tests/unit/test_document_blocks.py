"""Documents: which blocks a stored result has, whatever its bytes."""

from __future__ import annotations

import json

import pytest

from slimguard.document import document_of
from slimguard.document.blocks import same_value


def document(**result):
    return document_of(json.dumps(result).encode())


def text(value):
    return {"type": "text", "text": value}


def test_structured_content_that_mirrors_a_text_block_is_no_block_of_its_own():
    value = {"a": [1, 2.5, None]}
    found = document(content=[text(json.dumps(value, indent=2))], structuredContent=value)
    assert [block.type for block in found.blocks] == ["text"]
    assert found.mirrored


def test_structured_content_that_only_wraps_the_text_is_no_block_but_stays_in_the_delivery():
    found = document(content=[text("hello")], structuredContent={"result": "hello"})
    assert [block.type for block in found.blocks] == ["text"]
    assert not found.mirrored


def test_structured_content_that_differs_is_a_block():
    found = document(content=[text("two rows")], structuredContent={"rows": [1, 2]})
    assert [block.type for block in found.blocks] == ["text", "structured"]


@pytest.mark.parametrize(
    ("left", "right"), [(1, True), (1, 1.0), (0.0, -0.0), ({"a": 1}, {"a": 1, "b": None}), ([1], [1, 1])]
)
def test_equality_of_values_is_strict_in_type(left, right):
    assert not same_value(left, right)
    assert same_value(left, left) and same_value(right, right)


@pytest.mark.parametrize(
    "raw", [b"", b"\xff", b"5", b"[" * 100_000, b'{"content":[5,null,{"type":7}]}', b'{"content":"x"}']
)
def test_any_bytes_make_a_document(raw):
    found = document_of(raw)
    assert found.raw == raw
    assert all(block.text is None or isinstance(block.text, str) for block in found.blocks)


def test_a_result_over_the_parse_limit_is_one_block_of_raw_text():
    found = document_of(b'{"content":[{"type":"text","text":"abc"}]}', parse_limit=10)
    assert [block.type for block in found.blocks] == ["raw"]
    assert "not parsed" in found.notes[0]


def test_an_error_answer_has_its_message_and_data():
    found = document_of(b'{"code":-32000,"message":"it broke","data":{"why":42}}', "error")
    assert found.is_error
    assert [block.text for block in found.blocks] == ["it broke", '{"why":42}']
