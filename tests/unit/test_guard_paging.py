"""Pages of results too large to be parsed: the same as of the whole text, from the chunks that they touch."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from slimguard import policy, readers
from slimguard.document import document_of
from slimguard.guard.paging import page_of
from slimguard.model import StoredCall

CHUNK = policy.CHUNK_BYTES
REF = "r1f45e27rgw5bye"


class Chunks:
    """A snapshot reader on bytes that remembers which chunks were touched."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.touched: set[int] = set()

    def read(self, start: int, end: int) -> bytes:
        end = min(end, len(self.raw))
        self.touched |= set(range(start // CHUNK, -(-end // CHUNK)))
        return self.raw[start:end]


TEXTS = {
    "ascii in one line": '{"content":[{"type":"text","text":"' + "abc,def " * 40_000 + '"}]}',
    "lines": "".join(f"line {n} of the text\n" for n in range(14_000)),
    "no newline at the end": "\n".join(f"{n}: ünï çødé 日本 🎉" for n in range(9_000)),
    "three bytes a character": "日本語" * 40_000,
    "four bytes a character": "x" + "🎉" * 80_000,
}


def _stored(raw: bytes) -> StoredCall:
    return StoredCall(REF, "owner", "", "s", "t", "d", "stored", 0.0, 1e12, kind="result", size=len(raw), digest="abc")


def _pages(raw: bytes, desk: Any, query: str) -> tuple[list[str], list[set[int]]]:
    services: Any = SimpleNamespace(reading=readers.ReaderCache())
    answers: list[str] = []
    touched: list[set[int]] = []
    start, cursor = 0, ""
    while True:
        chunks: Any = Chunks(raw)
        found = page_of(services, chunks, _stored(raw), start)
        assert found is not None
        source, window = found
        context = replace(desk.context, window=window)
        answers.append(readers.read([source], query, cursor, context).text)
        touched.append(chunks.touched)
        more = re.search(r'cursor="([^"]+)"', answers[-1].rpartition("\n")[2])
        if more is None:
            return answers, touched
        cursor = more[1]
        begun = readers.page_start(query, cursor, REF, context)
        assert begun is not None and begun > start
        start = begun


@pytest.mark.parametrize("query", ["", "raw:"])
@pytest.mark.parametrize("name", TEXTS)
def test_pages_are_those_of_the_whole_text(desk: Any, name: str, query: str) -> None:
    raw = TEXTS[name].encode()
    answers, touched = _pages(raw, desk, query)
    bodies = [answer.partition("\n")[2].rpartition("\n")[0] for answer in answers]
    assert "".join(bodies) == TEXTS[name]
    whole = readers.Source(REF, document_of(raw, parse_limit=1_000), _stored(raw))
    cursor = ""
    for answer in answers:
        expected = readers.read([whole], query, cursor, desk.context).text
        assert answer == expected
        more = re.search(r'cursor="([^"]+)"', answer.rpartition("\n")[2])
        cursor = more[1] if more else ""
    assert all(len(chunks) <= 2 for chunks in touched[1:])


def test_bytes_that_are_no_text_are_left_to_the_reader_of_the_whole() -> None:
    services: Any = SimpleNamespace(reading=readers.ReaderCache())
    raw = b"a" * CHUNK + b"\xff\xfe" + b"b" * CHUNK
    chunks: Any = Chunks(raw)
    assert page_of(services, chunks, _stored(raw), 0) is None


@pytest.mark.parametrize("query", ["lines:1-3", "words", "block:1", "outline", "\nraw:\nlines:1"])
def test_other_queries_are_no_pages(desk: Any, query: str) -> None:
    assert readers.page_start(query, "", REF, desk.context) is None
