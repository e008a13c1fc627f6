"""What a request carries as a result spelled it."""

from __future__ import annotations

import json

from slimguard.upstream.spelling import spelled_out, with_marks


def test_a_value_is_sent_with_its_own_digits_in_ascii_and_on_one_line():
    params = {"name": "t", "arguments": {"a": [1, {"x": 1.5}], "b": "\U0001f600"}}
    marked, marks = with_marks(params, {("a", 1): '{"x":\n 1.50, "é\U0001f600": 1E400}'}, "rref")
    body = spelled_out(json.dumps(marked).encode("ascii"), marks)
    assert b'{"x":  1.50, "\\u00e9\\ud83d\\ude00": 1E400}' in body
    assert body.isascii() and b"\n" not in body
    assert json.loads(body)["arguments"]["a"][1]["é\U0001f600"] == float("inf")
    assert params["arguments"]["a"][1] == {"x": 1.5}


def test_without_such_values_nothing_changes():
    params = {"name": "t", "arguments": {"a": "rref spelled 0"}}
    marked, marks = with_marks(params, {}, "rref")
    assert marked is params
    assert spelled_out(b"{}", marks) == b"{}"
