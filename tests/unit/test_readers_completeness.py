"""Whether a list goes on elsewhere, by what the upstream itself says."""

from typing import Any

import pytest

from slimguard.readers.completeness import aggregate_note, incomplete

ROWS = [{"id": n} for n in range(10)]


@pytest.mark.parametrize(
    ("fields", "open_ended"),
    [
        ({}, False),
        ({"has_more": True}, True),
        ({"has_more": False, "next_cursor": "stale"}, False),
        ({"hasNextPage": False}, False),
        ({"pageInfo": {"hasNextPage": True, "endCursor": "x"}}, True),
        ({"next_cursor": None}, False),
        ({"next_cursor": "abc"}, True),
        ({"nextPageToken": ""}, False),
        ({"isLast": False}, True),
        ({"isLast": True}, False),
        ({"total": 250}, True),
        ({"total": 10}, False),
        ({"page": 1, "total_pages": 4}, True),
        ({"page": 4, "total_pages": 4, "total": 400}, False),
        ({"truncated": True}, True),
        ({"truncated": False, "row_count": 10}, False),
    ],
)
def test_what_the_upstream_says_decides(desk: Any, fields: dict[str, Any], open_ended: bool):
    assert bool(incomplete([desk.json({"items": ROWS, **fields})])) is open_ended


def test_a_set_is_complete_when_one_of_its_pages_is_the_last(desk: Any):
    first, last = desk.json({"items": ROWS, "has_more": True}), desk.json({"items": ROWS, "has_more": False}, number=2)
    assert not incomplete([first, last])
    assert incomplete([first, first])


@pytest.mark.parametrize(
    "query", ["SELECT count(*) FROM rows", "length(items)", "sort_by(items, &id)[0]", "sum(items[].id)"]
)
def test_only_aggregates_are_warned_of(desk: Any, query: str):
    source = desk.json({"items": ROWS, "has_more": True})
    assert "has_more=true" in aggregate_note([source], query)
    assert aggregate_note([source], "items[0].id") == ""
