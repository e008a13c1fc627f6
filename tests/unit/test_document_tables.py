"""Tables of a result: what is a table, what it is called, and that its rows are the result's own values."""

from __future__ import annotations

import json

import pytest

from slimguard.document import continuation_of, document_of, main_array, tables_of
from slimguard.document.xmltree import xml_tree


def document(value, **more):
    text = value if isinstance(value, str) else json.dumps(value)
    return document_of(json.dumps({"content": [{"type": "text", "text": text}], **more}).encode())


def tables(value, **more):
    return {table.name: table for table in tables_of(document(value, **more))}


def test_an_array_of_records_is_a_table_named_after_its_key():
    found = tables({"total": 2, "issues": [{"id": 1, "user": {"login": "eve"}}, {"id": 2, "extra": True}]})["issues"]
    assert found.columns == ("id", "user", "extra", "user.login")
    assert found.rows == [[1, {"login": "eve"}, None, "eve"], [2, None, True, None]]
    assert (found.kind, found.path, found.expression, found.own) == ("records", ("issues",), "issues[]", 3)


def test_a_root_array_is_called_result():
    assert tables([{"a": 1}, {"a": 2}])["result"].rows == [[1], [2]]


def test_arrays_inside_records_are_united_with_the_row_they_stand_in():
    found = tables({"pods": [{"n": "a", "spec": {"containers": [{"image": "x"}, {"image": "y"}]}}, {"n": "b"}]})
    assert found["containers"].columns == ("_parent", "image")
    assert found["containers"].rows == [[0, "x"], [0, "y"]]
    assert found["containers"].expression == "pods[].spec.containers[]"
    assert next(iter(found)) == "pods"


def test_like_objects_under_keys_are_a_table_with_the_key_first():
    found = tables({"nodes": {name: {"kind": "model", "rows": size} for name, size in (("a", 1), ("b", 2), ("c", 3))}})
    assert found["nodes"].columns == ("_key", "kind", "rows")
    assert found["nodes"].rows[2] == ["c", "model", 3]


def test_fields_of_one_record_are_no_table():
    assert (
        tables({"owner": {"login": "a", "id": 1}, "repo": {"name": "b", "stars": 2}, "sizes": {"x": 1, "y": 2}}) == {}
    )


def test_parallel_arrays_are_rows():
    found = tables({"daily": {"time": ["a", "b", "c", "d"], "rain": [1, 2, 3, 4], "unit": "mm"}})
    assert found["daily"].rows[1] == ["b", 2]
    assert found["daily"].kind == "parallel"


def test_a_matrix_takes_its_columns_from_a_sibling():
    found = tables({"columns": [{"name": "id"}, {"name": "total"}], "rows": [[1, 2.5], [2, 3.5]]})
    assert found["rows"].columns == ("id", "total")


def test_a_recursive_array_is_one_table_of_all_its_nodes():
    tree = {"children": [{"name": "a", "children": [{"name": "b", "children": [{"name": "c"}]}]}, {"name": "d"}]}
    found = tables(tree)["children"]
    assert found.kind == "tree"
    assert [row[:3] for row in found.rows] == [[-1, 0, "a"], [0, 1, "b"], [1, 2, "c"], [-1, 0, "d"]]


def test_json_lines_are_a_table():
    found = tables('{"level":"info","n":1}\n{"level":"error","n":2}\n')["result"]
    assert (found.kind, found.count) == ("lines", 2)


def test_csv_has_numbers_where_a_column_spells_them_plainly():
    found = tables("id,zip,price\n1,01234,2.5\n2,04711,\n")["csv"]
    assert found.rows == [[1, "01234", 2.5], [2, "04711", None]]


@pytest.mark.parametrize(
    ("text", "kind", "first"),
    [
        ("a\tb\n1\tx\n2\ty\n", "tsv", [1, "x"]),
        ("# T\n\n| a | b |\n|---|---:|\n| 1 | x\\|y |\n| 2 | z |\n", "markdown", [1, "x|y"]),
        ("+---+-----+\n| a | b   |\n+---+-----+\n| 1 | x   |\n+---+-----+\n", "fixed", [1, "x"]),
        ("NAME   READY   AGE\nweb-1  1/1     3d\nweb-2  0/1     4d\nweb-3  1/1     5d\n", "fixed", ["web-1", "1/1", "3d"]),
    ],
)  # fmt: skip
def test_tables_written_as_text_are_found(text, kind, first):
    found = next(iter(tables(text).values()))
    assert found.kind == kind
    assert found.rows[0] == first


@pytest.mark.parametrize(
    "text",
    [
        "Dear all,\nthe meeting is moved, again, to Monday.\nBest, Eve\n",
        "2026-01-01 10:00:00,123 INFO a, b\n2026-01-01 10:00:01,124 INFO c\n2026-01-01 10:00:02,125 INFO d, e, f\n",
        "just one line",
        "",
    ],
)
def test_prose_and_logs_are_no_tables(text):
    assert tables(text) == {}


def test_repeated_xml_elements_are_tables_with_attributes_and_children():
    text = '<rss><channel><title>T</title><item id="1"><title>a</title></item><item id="2"><title>b</title></item></channel></rss>'
    found = tables(text)["item"]
    assert found.columns == ("id", "title")
    assert found.rows == [[1, "a"], [2, "b"]]


@pytest.mark.parametrize("text", ["<a><b></a></b>", "<a>", "<!-- " * 50_000, "<a>" * 1_000, "<![CDATA[" * 9_000, "x"])
def test_broken_xml_is_no_tree_and_costs_no_time(text):
    assert xml_tree(text) is None


def test_xml_entities_of_its_own_are_not_expanded():
    root = xml_tree('<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "cccc">]><a>&b;&amp;</a>')
    assert root is not None
    assert root.text == "&b;&"


def test_names_are_unique_and_the_heaviest_table_has_the_short_one():
    found = tables({"a": {"items": [{"x": 1}] * 3}, "b": {"items": [{"x": 1, "y": 2}] * 9}})
    assert set(found) == {"items", "a_items"}
    assert found["items"].count == 9


def test_a_table_in_structured_content_is_not_listed_again_for_the_text():
    rows = [{"a": 1, "b": 2}] * 4
    assert list(tables({"data": {"rows": rows}}, structuredContent={"rows": rows})) == ["rows"]


def test_the_main_array_is_that_of_the_main_table():
    path, items = main_array(document({"meta": {"x": [1, 2, 3, 4]}, "rows": [{"a": 1, "b": 2}] * 9}))
    assert (path, len(items)) == (("rows",), 9)
    assert main_array(document({"a": 1})) is None


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"items": [], "hasNextPage": True, "cursor": "abc"}, ("hasNextPage=true", "cursor=abc")),
        ({"meta": {"page": {"after": "xyz"}}}, ("meta.page.after=xyz",)),
        ({"data": {"issues": {"pageInfo": {"endCursor": "e"}, "totalCount": 8}}}, ("data.issues.pageInfo.endCursor=e", "data.issues.totalCount=8")),
        ({"total": 412, "startAt": 0}, ("startAt=0", "total=412")),
        ({"title": "next steps", "name": "x"}, ()),
    ],
)  # fmt: skip
def test_what_the_upstream_says_about_going_on_is_told(value, told):
    assert set(continuation_of(document(value))) == set(told)
