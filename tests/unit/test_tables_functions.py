"""The functions that replace SQLite's own: the same answers, in linear time, and no query that outlives its seconds."""

from __future__ import annotations

import contextlib
import sqlite3
from itertools import product
from typing import Any

import pytest

from slimguard.errors import QueryRejected
from slimguard.store.functions import add_functions, add_patterns
from slimguard.store.tables import SqliteTables

TEXTS: list[Any] = [None, "", "a", "aAbB", "x%y_z", "a.b(c)", "né ÉÈ", "日本語", "[a]", "a\nb", 5, 2.5, -3, "5"]
PARTS: list[Any] = [None, "", "a", "B", "%y", "b(", "É", "本", "5", ".5", "ab"]
LIKES = ["", "%", "a%", "%B", "_a__", "A", "x!%y%", "%.b(%", "né É_", "_\n_", "[a]", "日%"]
GLOBS = ["*", "a*", "*[Bb]", "?[!x]*", "[^a]*", "[[]a]", "a?b", "*本*", "[a-c]*", "x%*"]


@pytest.fixture
def both() -> tuple[sqlite3.Connection, sqlite3.Connection]:
    own, ours = sqlite3.connect(":memory:"), sqlite3.connect(":memory:")
    add_functions(ours)
    add_patterns(ours)
    return own, ours


@pytest.mark.parametrize("function", ["instr", "trim", "ltrim", "rtrim"])
def test_functions_of_two_texts_answer_as_sqlite_does(both, function: str) -> None:
    for text, part in product(TEXTS, PARTS):
        own, ours = (one.execute(f"SELECT {function}(?, ?)", (text, part)).fetchone() for one in both)
        assert ours == own, (text, part)


def test_replace_answers_as_sqlite_does(both) -> None:
    for text, part, new in product(TEXTS, PARTS, ["", "zz", None, 7]):
        own, ours = (one.execute("SELECT replace(?, ?, ?)", (text, part, new)).fetchone() for one in both)
        assert ours == own, (text, part, new)


def test_like_and_glob_answer_as_sqlite_does(both) -> None:
    for text, pattern in product(TEXTS, LIKES):
        own, ours = (
            one.execute("SELECT ? LIKE ?, ? LIKE ? ESCAPE '!'", (text, pattern) * 2).fetchone() for one in both
        )
        assert ours == own, (text, pattern)
    for text, pattern in product(TEXTS, GLOBS):
        own, ours = (one.execute("SELECT ? GLOB ?", (text, pattern)).fetchone() for one in both)
        assert ours == own, (text, pattern)


HOSTILE = [
    "SELECT instr(body, substr(body, 1, 1500000) || 'c') FROM rows",
    "SELECT length(replace(body, substr(body, 1, 1500000) || 'c', 'x')) FROM rows",
    "SELECT trim(body, 'b' || body) FROM rows",
    f"SELECT count(*) FROM rows WHERE body LIKE '%{'a_' * 90}c'",
    f"SELECT count(*) FROM rows WHERE body GLOB '*{'[ab]?' * 30}c'",
    "SELECT sum(length(upper(a.body || b.body))) FROM rows a, rows b, words",
    "SELECT replace(body, 'a', body) FROM rows",
    "SELECT count(*) FROM words a, words b, words c, words d WHERE a.w || b.w = c.w || d.w || 'x'",
    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n",
    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n) SELECT max(length(hex(printf('%.*c',1000000,'a')))) FROM n",
]


@pytest.fixture(scope="module")
def tables() -> Any:
    body = [[place, "a" * 3_000_000 + "b"] for place in range(2)]
    return SqliteTables().build({"rows": (["id", "body"], body), "words": (["w"], [[f"w{n}"] for n in range(3_000)])})


@pytest.mark.parametrize("sql", HOSTILE)
def test_what_could_take_minutes_ends(tables, sql: str) -> None:
    with contextlib.suppress(QueryRejected):
        tables.select(sql, max_rows=10, max_bytes=100_000, seconds=0.2)
    assert tables.select("SELECT count(*) FROM words", max_rows=10, max_bytes=1_000, seconds=5)[1] == [(3_000,)]


def test_a_long_text_still_matches_its_patterns(tables) -> None:
    sql = "SELECT body LIKE 'A%B', body GLOB 'a*b', body GLOB 'A*', instr(body, 'b'), body REGEXP 'ab$' FROM rows"
    assert tables.select(sql, max_rows=1, max_bytes=100, seconds=5)[1][0] == (1, 1, 0, 3_000_001, 1)
