"""sql: — what the tables of a result are, how rows are written, sets of results."""

from typing import Any

import pytest

ROWS = [{"id": n, "team": f"t{n % 3}", "size": n, "owner": {"name": f"p{n % 2}"}} for n in range(60)]


def test_column_names_come_with_every_answer(desk: Any):
    body = desk.body(desk.json(ROWS), "sql:SELECT team, count(*) n FROM rows GROUP BY team ORDER BY team")
    assert body == "team | n\nt0 | 20\nt1 | 20\nt2 | 20"


def test_a_leaf_names_a_nested_column(desk: Any):
    assert desk.body(desk.json(ROWS), "sql:SELECT count(*) c FROM rows WHERE name='p1'") == "c\n30"


def test_few_wide_rows_stand_upright(desk: Any):
    rows = [{f"column_{n}": n for n in range(20)} for _ in range(3)]
    body = desk.body(desk.json(rows), "sql:SELECT * FROM rows LIMIT 1")
    assert body.split("\n")[0] == "column_0: 0"


def test_every_row_is_reached(desk: Any):
    source = desk.json(ROWS)
    text = "\n".join(desk.with_budget(260).pages(source, "sql:SELECT id FROM rows ORDER BY id DESC"))
    assert [line for line in text.split("\n") if line.isdecimal()] == [str(n) for n in range(59, -1, -1)]


def test_one_fat_cell_is_given_whole(desk: Any):
    text = "".join(f"line {n}\n" for n in range(3000))
    bodies = desk.pages(
        desk.json([{"id": 1, "body": text}, {"id": 2, "body": ""}]), "sql:SELECT body FROM rows WHERE id=1"
    )
    assert "".join(body.removeprefix("body\n") for body in bodies) == text


@pytest.mark.parametrize(
    ("content", "query", "expected"),
    [
        ("id,name\n1,a\n2,b\n3,c\n", "sql:SELECT sum(id) s FROM csv", "s\n6"),
        ("| id | n |\n|---|---|\n| 1 | a |\n| 2 | b |\n", "sql:SELECT sum(id) s FROM t", "s\n3"),
        ('{"a":1}\n{"a":2}\n', "sql:SELECT sum(a) s FROM rows", "s\n3"),
        ('{"d":{"t":["x","y","z","a","b","c"],"v":[1,2,3,4,5,6]}}', "sql:SELECT v FROM d WHERE t='y'", "v\n2"),
    ],
)
def test_tables_are_found_in_many_forms(desk: Any, content: str, query: str, expected: str):
    assert desk.body(desk.text(content), query) == expected


def test_a_keyed_map_is_a_table_with_its_key(desk: Any):
    value = {"nodes": {f"n{i}": {"kind": "a" if i % 2 else "b", "cost": i} for i in range(12)}}
    assert desk.body(desk.json(value), "sql:SELECT _key FROM nodes ORDER BY cost DESC LIMIT 1") == "_key\nn11"


def test_an_error_lists_the_tables(desk: Any):
    error = desk.error(desk.json(ROWS), "sql:SELECT nope FROM rows")
    assert "tables: result(id, team, size, owner, owner.name)" in error.detail


def test_a_result_without_tables_says_so(desk: Any):
    assert "no tables" in desk.error(desk.text("only prose here"), "sql:SELECT 1").message


def test_a_set_is_one_table_with_a_ref_column(desk: Any):
    first = desk.json({"items": ROWS[:40], "hasNextPage": True}, number=1)
    second = desk.json({"items": ROWS[40:], "hasNextPage": False}, number=2)
    body = desk.body([first, second], "sql:SELECT _ref, count(*) FROM items GROUP BY _ref ORDER BY 2 DESC")
    assert body == f"_ref | count(*)\n{first.ref} | 40\n{second.ref} | 20"
    assert "incomplete" not in desk.ask([first, second], "sql:SELECT count(*) FROM items")
    assert "incomplete" in desk.ask([first], "sql:SELECT count(*) FROM items")


def test_the_tables_are_built_once(desk: Any):
    source = desk.json(ROWS)
    desk.ask(source, "sql:SELECT count(*) FROM rows")
    kept = desk.cache.take((source.ref, "digest-1", "sql", "None"))
    assert kept is not None
    kept.close()
