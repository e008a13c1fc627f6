"""Any query on any result ends soon, within budget, as an answer or as a `QueryRejected` that helps; never otherwise."""

import json
import time

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slimguard import readers
from slimguard.canonical import make_ref
from slimguard.document import document_of
from slimguard.errors import QueryRejected
from slimguard.model import Budget, StoredCall
from slimguard.query import parse, print_queries
from slimguard.store.tables import SqliteTables
from slimguard.tokens import Tokens

TOKENS = Tokens()
TOKENS.load()
REF = make_ref(b"12345678")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=8), inner, max_size=6),
    max_leaves=25,
)
RECORDS = st.lists(
    st.fixed_dictionaries(
        {"id": st.integers(0, 99), "name": st.text(max_size=12)},
        optional={
            "tags": st.lists(st.text(max_size=5), max_size=3),
            "user": st.dictionaries(st.text(max_size=4), JSON),
        },
    ),
    max_size=8,
)
TEXTS = st.text(max_size=300) | st.lists(st.text(max_size=60), max_size=20).map("\n".join)
LINES = st.lists(
    st.sampled_from(
        ["2026-01-01 10:00:00 ERROR x", "Traceback:", "  File a", "a,b,c", "| a | b |", "# Head", "", "é́ x"]
    ),
    max_size=30,
).map("\n".join)
CONTENT = (
    TEXTS
    | LINES
    | JSON.map(lambda value: json.dumps(value, ensure_ascii=False))
    | RECORDS.map(json.dumps)
    | RECORDS.map(lambda rows: json.dumps({"items": rows, "next": "x"}, indent=1))
)
WORD = st.sampled_from(
    [*"abcd", "id", "name", "user", "items", "rows", "SELECT", "FROM", "*", "[", "]", "?", "|", "&&", "==", "`1`", "'x'",
     "@", "(", ")", ",", ".", "/", "\\", "-", ":", "{", "}", "&", "length", "sort_by", "\n", '"', "0", "-1", "é", "\ud800"]
)  # fmt: skip
QUERY = (
    st.text(max_size=40)
    | st.lists(WORD, max_size=14).map(" ".join)
    | st.tuples(
        st.sampled_from(
            [
                "sql:",
                "select:",
                "lines:",
                "items:",
                "bytes:",
                "last:",
                "first:",
                "diff:",
                "find:",
                "/",
                "block:0 ",
                "raw:",
                "outline",
                "regex:",
                "items:0-3 of ",
                "sql:SELECT ",
                "select:[].",
            ]
        ),
        st.lists(WORD, max_size=10).map("".join)
        | st.text(max_size=20)
        | st.sampled_from(["1-2", "-3", "5-", "0", "/i"]),
    ).map("".join)
)


def source_of(texts: list[str]) -> readers.Source:
    raw = json.dumps({"content": [{"type": "text", "text": text} for text in texts]}).encode()
    row = StoredCall(REF, "o", "s", "server", "tool", "d", "stored", 0.0, 1e12, digest="x")
    return readers.Source(REF, document_of(raw), row)


def context_of(budget: Budget) -> readers.ReadContext:
    return readers.ReadContext(budget, budget, TOKENS, SqliteTables(), b"k" * 32, "o", time.monotonic)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(CONTENT, max_size=3), QUERY, st.integers(250, 1200))
def test_any_query_is_answered_within_budget_or_rejected_with_help(texts: list[str], query: str, tokens: int):
    budget = Budget(tokens, tokens * 4, 60, 400)
    source = source_of(texts)
    try:
        reply = readers.read([source], query, "", context_of(budget))
    except QueryRejected:
        return
    assert len(reply.text.encode()) <= budget.bytes + 300
    assert TOKENS.count(reply.text) <= budget.tokens + 60


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(CONTENT, min_size=1, max_size=2), QUERY)
def test_every_cursor_runs_and_advances_to_an_end(texts: list[str], query: str):
    source = source_of(texts)
    context = context_of(Budget(260, 1_040, 30, 200))
    seen: set[str] = set()
    cursor = ""
    for _ in range(400):
        try:
            text = readers.read([source], query, cursor, context).text
        except QueryRejected:
            assert not cursor, "an answer printed a cursor that is rejected"
            return
        _, found, rest = text.rpartition("\n")[2].partition('cursor="')
        if not found:
            return
        cursor = rest.partition('"')[0]
        assert cursor not in seen
        seen.add(cursor)
        if "query=" in text.rpartition("\n")[2]:
            printed = text.rpartition("\n")[2].partition("query=")[2].partition(', cursor="')[0]
            query = json.loads(printed)


@settings(max_examples=200, deadline=None)
@given(QUERY)
def test_printing_and_parsing_agree(text: str):
    try:
        queries = parse(text)
    except QueryRejected:
        return
    assert parse(print_queries(queries)) == queries
