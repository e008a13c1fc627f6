"""The query language: what each spelling means, and that printing is the inverse of parsing."""

import pytest

from slimguard.errors import QueryRejected
from slimguard.query import Query, parse, print_queries, print_query


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("", Query("page")),
        ("   \n ", Query("page")),
        ("raw:", Query("raw")),
        ("outline", Query("outline")),
        ("Outline:", Query("outline")),
        ("connection refused", Query("words", "connection refused")),
        ("find:outline", Query("words", "outline")),
        ("search: error", Query("words", "error")),
        ("/usr/local", Query("words", "/usr/local")),
        ("/time ?out/i", Query("regex", "time ?out", flags="i")),
        ("regex: ^a+$", Query("regex", "^a+$")),
        ("regex:/^a+$/m", Query("regex", "^a+$", flags="m")),
        ("lines:120-180", Query("lines", first=120, last=180)),
        ("lines: 180 - 120", Query("lines", first=120, last=180)),
        ("LINES 7: x", Query("words", "LINES 7: x")),
        ("line:7", Query("lines", first=7, last=7)),
        ("lines:120-", Query("lines", first=120)),
        ("lines:-20", Query("lines", first=-20)),
        ("lines:-20--10", Query("lines", first=-20, last=-10)),
        ("lines:[3..5]", Query("lines", first=3, last=5)),
        ("lines:all", Query("lines")),
        ("items:0-9 of data.rows", Query("items", first=0, last=9, path="data.rows")),
        ("items:-1", Query("items", first=-1)),
        ("bytes:0-4096", Query("bytes", first=0, last=4096)),
        ("bytes:512", Query("bytes", first=512)),
        ("last:20", Query("last", last=20)),
        ("tail: 20", Query("last", last=20)),
        ("head:5", Query("first", last=5)),
        ("select: items[].id", Query("select", "items[].id")),
        ("SELECT a FROM rows", Query("sql", "SELECT a FROM rows")),
        ("sql:SELECT a FROM rows", Query("sql", "SELECT a FROM rows")),
        ("with t as (select 1) select * from t", Query("sql", "with t as (select 1) select * from t")),
        ("diff:r0123456789abcde", Query("diff", "r0123456789abcde")),
        ("block:2", Query("page", block=2)),
        ("block:2 lines:1-3", Query("lines", first=1, last=3, block=2)),
        ('"lines:1-20"', Query("lines", first=1, last=20)),
        ("```sql\nsql: SELECT 1\n```", Query("sql", "SELECT 1")),
        ('"draft":true', Query("words", '"draft":true')),
        ('"5.90.0"', Query("words", '"5.90.0"')),
    ],
)
def test_one_line_is_one_query(text: str, query: Query):
    assert parse(text) == [query]


def test_each_line_is_a_query_and_a_line_without_prefix_continues_sql():
    queries = parse(
        "sql: SELECT a\n  FROM rows\n  WHERE b = 1\nlines:1-2\nsome words\nselect: a.b\n | [0]\nfind:more words"
    )
    assert [query.kind for query in queries] == ["sql", "lines", "words", "select", "words"]
    assert queries[0].text == "SELECT a\n  FROM rows\n  WHERE b = 1"
    assert queries[3].text == "a.b\n | [0]"
    assert queries[4].text == "more words"


def test_a_block_line_addresses_the_queries_below_it():
    assert parse("block:1\nlines:3-4\nfoo") == [
        Query("lines", first=3, last=4, block=1),
        Query("words", "foo", block=1),
    ]


def test_a_comma_separates_ranges():
    assert parse("lines:1-10,50-60") == [Query("lines", first=1, last=10), Query("lines", first=50, last=60)]


@pytest.mark.parametrize("text", ["lines:abc", "items:one", "last:x", "raw: 5", "regex:", "bytes:1-2-3"])
def test_a_wrong_spelling_says_the_right_one(text: str):
    with pytest.raises(QueryRejected) as caught:
        parse(text)
    assert caught.value.next_call


def test_too_long_and_too_many_queries_are_refused():
    with pytest.raises(QueryRejected):
        parse("x" * 30_000)
    with pytest.raises(QueryRejected):
        parse("\n".join("a b" for _ in range(40)))


@pytest.mark.parametrize(
    "query",
    [
        Query("words", "outline"),
        Query("words", "lines:1-2"),
        Query("words", "SELECT a FROM b"),
        Query("words", "block:1"),
        Query("lines", first=-5, last=-2),
        Query("lines", first=-5, last=-5),
        Query("lines", first=5),
        Query("items", first=0, last=5, path="a.b"),
        Query("bytes", first=5, last=5),
        Query("sql", "SELECT 1", block=3),
    ],
)
def test_printing_is_read_back(query: Query):
    assert parse(print_query(query)) == [query]


def test_words_after_sql_are_printed_with_find():
    queries = [Query("sql", "SELECT 1"), Query("words", "abc")]
    assert print_queries(queries) == "sql:SELECT 1\nfind:abc"
    assert parse(print_queries(queries)) == queries
