"""Pages of any text under any budget: they concatenate to the text, stay within budget, and always advance."""

import json
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from slimguard import readers
from slimguard.canonical import make_ref
from slimguard.document import document_of
from slimguard.model import Budget, StoredCall
from slimguard.store.tables import SqliteTables
from slimguard.tokens import Tokens

TOKENS = Tokens()
TOKENS.load()
REF = make_ref(b"12345678")
PIECES = st.sampled_from(
    ["a", "\n", "\r\n", " ", "é", "设", "🎉", "word ", "},{", '"', "\\", "0123456789", "\t", "x" * 50]
)
TEXTS = st.text(max_size=400) | st.lists(PIECES, max_size=600).map("".join)


def bodies(source: readers.Source, context: readers.ReadContext, query: str) -> list[str]:
    found: list[str] = []
    cursor = ""
    while True:
        text = readers.read([source], query, cursor, context).text
        found.append(text.partition("\n")[2].rpartition("\n")[0])
        _, more, rest = text.rpartition("\n")[2].partition('cursor="')
        if not more:
            return found
        following = rest.partition('"')[0]
        assert following != cursor
        cursor, query = following, ""
        assert len(found) < 5_000


@settings(max_examples=120, deadline=None)
@given(TEXTS, st.integers(180, 700), st.integers(3, 60))
def test_pages_concatenate_to_exactly_the_text(text: str, tokens: int, lines: int):
    raw = json.dumps({"content": [{"type": "text", "text": text}]}).encode()
    row = StoredCall(REF, "o", "s", "server", "tool", "d", "stored", 0.0, 1e12)
    source = readers.Source(REF, document_of(raw), row)
    budget = Budget(tokens, tokens * 4, lines, 400)
    context = readers.ReadContext(budget, budget, TOKENS, SqliteTables(), b"k" * 32, "o", time.monotonic)
    assert "".join(bodies(source, context, "")) == text
    assert "".join(bodies(source, context, "raw:")) == raw.decode()


@settings(max_examples=60, deadline=None)
@given(TEXTS, st.integers(-60, 60), st.integers(-60, 60))
def test_lines_and_bytes_are_slices_of_the_text(text: str, first: int, last: int):
    raw = json.dumps({"content": [{"type": "text", "text": text + "."}]}).encode()
    row = StoredCall(REF, "o", "s", "server", "tool", "d", "stored", 0.0, 1e12)
    source = readers.Source(REF, document_of(raw), row)
    budget = Budget(100_000, 400_000, None, None)
    context = readers.ReadContext(budget, budget, TOKENS, SqliteTables(), b"k" * 32, "o", time.monotonic)
    for unit in ("lines", "bytes"):
        body = bodies(source, context, f"{unit}:{first}-{last}" if last >= 0 else f"{unit}:{first}-")
        assert "".join(body) in text + "."
