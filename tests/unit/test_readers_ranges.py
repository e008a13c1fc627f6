"""Lines, items and bytes: from either end, exact, with their base; sets, blocks and several queries at once."""

from typing import Any

import pytest

TEXT = "".join(f"line {n}\n" for n in range(1, 101))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("lines:3", "line 3\n"),
        ("lines:3-4", "line 3\nline 4\n"),
        ("lines:-2", "line 99\nline 100\n"),
        ("lines:99-", "line 99\nline 100\n"),
        ("lines:-3--2", "line 98\nline 99\n"),
        ("lines:200-210", TEXT[-len("".join(f"line {n}\n" for n in range(90, 101))) :]),
        ("last:1", "line 100\n"),
        ("first:2", "line 1\nline 2\n"),
        ("bytes:0-5", "line 1"),
        ("bytes:-5", " 100\n"),
    ],
)
def test_ranges_are_slices(desk: Any, query: str, expected: str):
    assert desk.body(desk.text(TEXT), query) == expected


def test_a_range_beyond_the_end_gives_the_end_and_says_so(desk: Any):
    assert "beyond the end" in desk.ask(desk.text(TEXT), "lines:200-210").split("\n")[0]


def test_bytes_snap_to_whole_characters(desk: Any):
    assert desk.body(desk.text("aéb设c"), "bytes:2-4") == "éb设"


def test_bases_are_stated(desk: Any):
    assert "(1-based)" in desk.ask(desk.text(TEXT), "lines:3")
    assert "(0-based)" in desk.ask(desk.json([1, 2]), "items:0")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("items:0-1", '{"id":0}\n{"id":1}'),
        ("items:-1", '{"id":29}'),
        ("last:1", '{"id":29}'),
        ("items:0 of other", "1"),
        ("items:1 of meta", '{"_key":"b","_value":2}'),
    ],
)
def test_items_are_of_the_main_array_or_of_a_path(desk: Any, query: str, expected: str):
    value = {"meta": {"a": 1, "b": 2}, "rows": [{"id": n} for n in range(30)], "other": [1, 2, 3]}
    assert desk.body(desk.json(value), query) == expected


def test_items_of_an_object_are_its_entries(desk: Any):
    assert desk.body(desk.json({"a": 1, "b": "x"}), "items:0-5") == '{"_key":"a","_value":1}\n{"_key":"b","_value":"x"}'


def test_items_of_nothing_list_the_arrays(desk: Any):
    error = desk.error(desk.json({"rows": [1, 2], "deep": {"list": [3]}}), "items:0 of nope")
    assert "rows (2)" in error.message
    assert "deep.list (1)" in error.message
    assert "of rows" in error.next_call


def test_a_fat_item_is_viewed_and_says_how_to_get_its_parts(desk: Any):
    source = desk.json([{"id": n, "text": "x" * 30_000} for n in range(3)])
    answer = desk.ask(source, "items:0-1")
    assert '"id":1' in answer
    assert "select:[0]" in answer.split("\n")[0]
    assert desk.counter.count(answer) < 1_000


def test_several_queries_are_answered_in_order_in_one_budget(desk: Any):
    answer = desk.ask(desk.text(TEXT), "lines:1\n/line 7$/\nsql:SELECT 1\nlast:1")
    assert answer.index("== lines:1") < answer.index("== /line 7$/") < answer.index("== last:1")
    assert "line 7" in answer
    assert "no tables" in answer
    assert desk.counter.count(answer) <= desk.page_budget.tokens


def test_several_queries_each_print_how_they_go_on(desk: Any):
    source = desk.text(TEXT * 200)
    answer = desk.ask(source, "lines:1-20000\nlines:3")
    heading = next(line for line in answer.split("\n") if line.startswith("== lines:1-20000"))
    _, query, cursor = desk.next_of("x\n" + heading)
    assert query == "lines:1-20000"
    assert desk.ask(source, query, cursor)


def test_a_set_has_no_lines_but_pages_of_each(desk: Any):
    first, second = desk.text("one\n", number=1), desk.text("two\n", number=2)
    assert "a set of 2" in desk.error([first, second], "lines:1").message
    assert desk.pages([first, second]) == ["one\n", "two\n"]
    assert second.ref in desk.ask([first, second], "two")


def test_queries_on_another_block_address_it(desk: Any):
    source = desk.text("first\nblock\n" * 50, "second\nblock")
    assert desk.body(source, "block:1 lines:1") == "second\n"
    assert "all of 1 hit" in desk.ask(source, "block:1 block")
