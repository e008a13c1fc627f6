"""Outlines: shape, counts and ranges that are true, tables as sql: takes them, levels, headings."""

import json
from typing import Any

import pytest

from slimguard import readers
from slimguard.document import document_of


def test_tables_are_named_with_their_columns(desk: Any):
    source = desk.json({"items": [{"id": n, "user": {"name": f"u{n % 2}"}, "state": "open"} for n in range(30)]})
    body = desk.body(source, "outline")
    assert body.startswith("tables: items(id, user, state, user.name)")
    assert "table items: 30 rows of items[]" in body
    assert "  id: numbers 0–29" in body
    assert "  user.name: u0 15, u1 15" in body
    assert '  constant: state="open"' in body
    assert desk.body(source, "sql:SELECT count(*) FROM items") == "count(*)\n30"


def test_values_dates_and_arrays_are_summarised(desk: Any):
    rows = [
        {"when": f"2026-01-{n + 1:02d}", "tags": ["x"] * (n % 3), "ok": n % 2 == 0, "note": None} for n in range(20)
    ]
    body = desk.body(desk.json(rows), "outline")
    assert "when: dates 2026-01-01–2026-01-20" in body
    assert "tags: arrays of 0–2 texts" in body
    assert "ok: true 10, false 10" in body
    assert "always null: note" in body


def test_a_log_has_levels_times_and_templates(desk: Any):
    lines = [f"2026-01-01 10:00:{n % 60:02d} {'ERROR' if n == 7 else 'INFO'} request {n} done" for n in range(100)]
    body = desk.body(desk.text("\n".join(lines)), "outline")
    assert "INFO 99 (first line 1), ERROR 1 (first line 8)" in body
    assert "time: 2026-01-01 10:00:00 … " in body


def test_prose_has_its_headings_by_line(desk: Any):
    body = desk.body(desk.text("# One\n\ntext\n\n## Two\n\n```\n# no heading\n```\n"), "outline")
    assert "1: # One" in body
    assert "5: ## Two" in body
    assert "no heading" not in body


def test_a_diff_has_its_files(desk: Any):
    text = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,3 @@\n a\n+b\n+c\n-d\n" * 2
    assert "1: x.py +2 -1" in desk.body(desk.text(text), "outline")


def test_part_of_it_is_outlined_by_path(desk: Any):
    source = desk.json({"a": {"b": [1, 2, 3]}, "c": 5})
    assert "a.b: array of 3" in desk.body(source, "outline:a")
    assert "c:" not in desk.body(source, "outline:a")
    assert "keys of the root: a, c" in desk.error(source, "outline:zzz").message


def test_a_long_outline_goes_on(desk: Any):
    source = desk.json({f"key_{n}": {f"inner_{n}_{m}": m for m in range(20)} for n in range(30)})
    text = "\n".join(desk.with_budget(400).pages(source, "outline"))
    assert "key_29.inner_29_19: 19" in text


@pytest.mark.parametrize("value", [{}, [], [[]], [None], {"a": {}}, [1, "x", None, True], [[1], [2, 3]], {"": ""}])
def test_odd_values_have_outlines(desk: Any, value: Any):
    assert "[slimguard outline" in desk.ask(desk.json(value), "outline")


def test_what_the_upstream_says_about_more_is_shown(desk: Any):
    source = desk.json({"items": [{"a": 1}, {"a": 2}], "next_cursor": "abc"})
    assert "upstream says: next_cursor=abc" in desk.body(source, "outline")


def large(desk: Any, value: Any) -> Any:
    """A result that is over the limit of what is parsed."""
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return readers.Source(desk.text("x").ref, document_of(raw, parse_limit=100), desk.text("x").call)


def test_a_result_that_is_too_large_to_parse_has_an_outline_from_one_scan(desk: Any):
    rows = [{"id": n, "user": {"login": "x"}, "tags": ["a"]} for n in range(50)]
    text = "2026-01-01 10:00:00 INFO ready\n" * 200
    source = large(desk, {"content": [{"type": "text", "text": text}], "structuredContent": {"rows": rows}})
    body = desk.body(source, "outline")
    assert "structuredContent.rows: array, 50 elements" in body
    assert "structuredContent.rows[]: object, 3 keys: id (value), user (object), tags (array)" in body
    assert "200 line ends" in body
    assert "INFO 200 (first line 1)" in body


@pytest.mark.parametrize(
    "raw", [b"\xff" * 300, b"[" * 5_000, b'{"a": "' + b"x" * 300, b"]" * 300, b" " * 300, b'"' * 301]
)
def test_a_scan_survives_what_is_no_json(desk: Any, raw: bytes):
    assert "[slimguard outline" in desk.ask(large(desk, raw), "outline")
