"""Rows of boxes, as query services send them: named by the list beside them, left alone when there is none."""

from __future__ import annotations

import json

from slimguard.document import document_of, tables_of
from slimguard.document.tables import main_array
from slimguard.model import Budget
from slimguard.tokens import Tokens
from slimguard.views.render import render_strictly

COUNTER = Tokens()
BUDGET = Budget(1_740, 6_900, 198, 2_000)


def document_with(value):
    return document_of(json.dumps({"content": [{"type": "text", "text": json.dumps(value)}]}).encode())


def main_of(value):
    return tables_of(document_with(value))[0]


def days(count):
    return {
        "schema": {"fields": [{"name": "day", "type": "DATE"}, {"name": "sessions", "type": "INTEGER"}]},
        "rows": [{"f": [{"v": f"2026-03-{place % 28 + 1:02d}"}, {"v": str(place * 3)}]} for place in range(count)],
    }


def test_rows_of_boxes_have_the_columns_of_the_schema():
    table = main_of(days(60))
    assert (table.name, table.columns, table.count) == ("rows", ("day", "sessions"), 60)
    assert table.rows[4] == ["2026-03-05", "12"]
    body = render_strictly(document_with(days(60)), BUDGET, COUNTER).body
    assert "sessions: 0 … 177" in body
    assert "sum 5310" in body


def test_items_of_rows_of_boxes_are_the_rows_as_they_are():
    path, rows = main_array(document_with(days(20)))
    assert path == ("rows",)
    assert rows[0] == {"f": [{"v": "2026-03-01"}, {"v": "0"}]}


def test_rows_of_two_lists_are_named_by_two_lists():
    report = {
        "dimensionHeaders": [{"name": "country"}, {"name": "device"}],
        "metricHeaders": [{"name": "users", "type": "TYPE_INTEGER"}],
        "rows": [
            {"dimensionValues": [{"value": f"c{place}"}, {"value": "mobile"}], "metricValues": [{"value": str(place)}]}
            for place in range(30)
        ],
    }
    table = main_of(report)
    assert table.columns == ("country", "device", "users")
    assert table.rows[7] == ["c7", "mobile", "7"]


def test_boxes_without_names_stay_records():
    assert main_of({"rows": days(20)["rows"]}).columns == ("f",)


def test_rows_with_null_boxes_and_short_rows_are_padded():
    value = days(20)
    value["rows"][3] = {"f": [{"v": None}]}
    assert main_of(value).rows[3] == [None, None]
