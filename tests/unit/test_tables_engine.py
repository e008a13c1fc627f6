"""The SQL engine: SELECT only, bounded, forgiving about names."""

import threading
from typing import Any

import pytest

from slimguard.errors import QueryRejected
from slimguard.store.tables import SqliteTables

ROWS = [[n, f"n{n}", n % 3, {"x": n}, n * 1.5, None if n % 2 else "Alaska"] for n in range(100)]
COLUMNS = ("id", "name", "props.mag", "props", "score", "where.place")


def tables() -> Any:
    return SqliteTables().build({"features": (COLUMNS, ROWS), "other": (("id", "order"), [[1, 2], [3, 4]])})


def ask(sql: str, made: Any = None, **bounds: Any) -> Any:
    given = {"max_rows": 1000, "max_bytes": 1_000_000, "seconds": 1.0, **bounds}
    return (made or tables()).select(sql, **given)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT count(*) FROM features", 100),
        ("SELECT count(*) FROM rows", 100),
        ("SELECT count(*) FROM data", 100),
        ('SELECT count(*) FROM "Features"', 100),
        ("SELECT count(*) FROM result.features", 100),
        ("SELECT count(*) FROM earthquakes", 100),
        ("SELECT sum(mag) FROM rows", 99),
        ("SELECT sum(props.mag) FROM rows", 99),
        ("SELECT sum(f.props.mag) FROM features f", 99),
        ("SELECT count(PLACE) FROM rows", 50),
        ("SELECT sum(order) FROM other", 6),
        ("SELECT json_extract(props, '$.x') FROM rows WHERE id = 7", 7),
        ("SELECT count(*) FROM rows WHERE name REGEXP '^n1.$'", 10),
        ("SELECT sum(value) FROM json_each('[1,2,3]')", 6),
        ("SELECT count(*) FROM rows; ", 100),
        ("WITH a AS (SELECT id FROM rows WHERE id > 50) SELECT count(*) FROM a", 49),
    ],
)
def test_what_a_reader_writes_first_works(sql: str, expected: int):
    _, rows, more = ask(sql)
    assert rows[0][0] == expected
    assert not more


def test_any_table_name_is_understood_when_there_is_one_table():
    made = SqliteTables().build({"pulls": (("n",), [[1], [2]])})
    assert ask("SELECT sum(n) FROM whatever", made)[1] == [(3,)]


def test_how_names_were_read_is_said_unless_it_goes_without_saying():
    made = tables()
    ask("SELECT sum(mag) FROM quakes", made)
    assert made.note == "quakes read as features, mag read as props.mag"
    ask("SELECT sum(score) FROM rows", made)
    assert made.note == ""


def test_an_unknown_name_lists_tables_columns_and_the_nearest():
    with pytest.raises(QueryRejected) as caught:
        ask("SELECT scor FROM features")
    assert "nearest: score" in caught.value.message
    assert "tables: features(id, name, props.mag" in caught.value.detail
    assert caught.value.next_call.startswith("sql:SELECT * FROM features")
    with pytest.raises(QueryRejected) as caught:
        ask("SELECT * FROM othr")
    assert "nearest: other" in caught.value.message


@pytest.mark.parametrize(
    "sql",
    [
        "",
        "ATTACH 'x.db' AS y",
        "PRAGMA database_list",
        "SELECT load_extension('x')",
        "SELECT randomblob(100)",
        "SELECT zeroblob(100000000)",
        "DELETE FROM features",
        "UPDATE features SET id = 1",
        "CREATE TABLE x (y)",
        "DROP TABLE features",
        "SELECT 1; SELECT 2",
        "INSERT INTO features DEFAULT VALUES",
        "VACUUM INTO 'x.db'",
        "SELECT * FROM rows WHERE name LIKE '" + "%a" * 300 + "'",
        "SELECT replace(printf('%16000000d', 1), ' ', 'aaaaaaaaaaaaaaaaaaaa')",
    ],
)
def test_anything_but_a_bounded_select_is_refused(sql: str):
    made = tables()
    with pytest.raises(QueryRejected):
        ask(sql, made)
    assert ask("SELECT count(*) FROM features", made)[1] == [(100,)]


@pytest.mark.parametrize(
    "sql",
    [
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
        "SELECT count(*) FROM rows a, rows b, rows c, rows d, rows e",
        "SELECT group_concat(a.name || b.name) FROM rows a, rows b, rows c, rows d, rows e",
    ],
)
def test_endless_queries_are_stopped(sql: str):
    with pytest.raises(QueryRejected) as caught:
        ask(sql, seconds=0.2)
    assert caught.value.code == "sql_bound"


def test_rows_and_bytes_are_capped_and_more_is_said():
    _, rows, more = ask("SELECT * FROM rows", max_rows=10)
    assert (len(rows), more) == (10, True)
    _, rows, more = ask("SELECT name FROM rows", max_bytes=20)
    assert len(rows) < 100
    assert more


def test_odd_values_and_names_become_cells():
    columns = ("a", "A", "", 'qu"ote')
    made = SqliteTables().build(
        {"t able": (columns, [[1 << 70, float("nan"), "\ud800", [1]], [True], [1, 2, 3, 4, 5]])}
    )
    _, rows, _ = ask('SELECT * FROM "t able"', made)
    assert rows[0][0] == str(1 << 70)
    assert rows[0][1] is None
    assert rows[1][0] == 1
    assert len(rows) == 3


def test_a_set_of_tables_can_be_used_from_another_thread():
    made = tables()
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(ask("SELECT count(*) FROM rows", made)[1]))
    thread.start()
    thread.join()
    assert found == [[(100,)]]


def test_rows_are_only_made_for_tables_that_a_query_names():
    class Counted(list):  # type: ignore[type-arg]
        made = 0

        def __iter__(self) -> Any:
            Counted.made += 1
            return super().__iter__()

    made = SqliteTables().build({"a": (("x",), [[1]]), "b": (("x",), Counted([[2]]))})
    ask("SELECT x FROM a", made)
    assert Counted.made == 0
    ask("SELECT x FROM b", made)
    ask("SELECT x FROM b", made)
    assert Counted.made == 1
