"""A desk for the readers' tests: results made of plain values, asked with queries, answers taken apart."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from slimguard import policy, readers
from slimguard.canonical import make_ref
from slimguard.document import document_of
from slimguard.errors import QueryRejected
from slimguard.model import StoredCall
from slimguard.store.tables import SqliteTables
from slimguard.tokens import Tokens

TOKENS = Tokens()
CALL = re.compile(r'read_result\(result_ref="([^"]*)"(?:, query=("(?:[^"\\]|\\.)*"))?(?:, cursor="([^"]*)")?\)')


@dataclass
class Desk:
    """Asks queries of results; `owner` and budgets can be changed by `replace`."""

    page_budget: Any = policy.PAGE_BUDGET
    budget: Any = policy.VIEW_BUDGET
    owner: str = "owner"
    secret: bytes = b"s" * 32
    others: dict[str, readers.Source] = field(default_factory=dict)
    cache: readers.ReaderCache = field(default_factory=readers.ReaderCache)
    counter: Tokens = TOKENS

    def text(self, *texts: str, number: int = 1, **extra: Any) -> readers.Source:
        """A result of text blocks."""
        return self.result({"content": [{"type": "text", "text": text} for text in texts], **extra}, number)

    def json(self, value: Any, number: int = 1, **extra: Any) -> readers.Source:
        """A result whose one text is JSON."""
        return self.text(json.dumps(value, ensure_ascii=False, separators=(",", ":")), number=number, **extra)

    def result(self, value: Any, number: int = 1) -> readers.Source:
        """A result as the upstream sent it."""
        raw = value if isinstance(value, bytes) else json.dumps(value).encode()
        ref = make_ref(number.to_bytes(8, "big"))
        row = StoredCall(ref, "owner", "scope", "server", "tool", "d", "stored", 0.0, 1e12, digest=f"digest-{number}")
        return readers.Source(ref, document_of(raw), row)

    @property
    def context(self) -> readers.ReadContext:
        return readers.ReadContext(
            self.budget,
            self.page_budget,
            self.counter,
            SqliteTables(),
            self.secret,
            self.owner,
            time.monotonic,
            cache=self.cache,
            others=self.others,
        )

    def reply(self, sources: Any, query: str = "", cursor: str = "") -> readers.ReadReply:
        several: Sequence[readers.Source] = sources if isinstance(sources, list) else [sources]
        return readers.read(several, query, cursor, self.context)

    def ask(self, sources: Any, query: str = "", cursor: str = "") -> str:
        """The whole text of an answer."""
        return self.reply(sources, query, cursor).text

    def body(self, sources: Any, query: str = "", cursor: str = "") -> str:
        """What stands between header and footer."""
        return self.ask(sources, query, cursor).partition("\n")[2].rpartition("\n")[0]

    def error(self, sources: Any, query: str = "", cursor: str = "") -> QueryRejected:
        with pytest.raises(QueryRejected) as caught:
            self.ask(sources, query, cursor)
        return caught.value

    def next_of(self, text: str) -> tuple[str, str, str] | None:
        """Ref, query and cursor of the call in the footer, or None at the end."""
        found = CALL.search(text.rpartition("\n")[2])
        return None if found is None else (found[1], json.loads(found[2]) if found[2] else "", found[3] or "")

    def pages(self, sources: Any, query: str = "") -> list[str]:
        """The bodies of all answers, following each footer's literal call."""
        bodies: list[str] = []
        cursors: set[str] = set()
        cursor = ""
        while True:
            text = self.ask(sources, query, cursor)
            bodies.append(text.partition("\n")[2].rpartition("\n")[0])
            following = self.next_of(text)
            if following is None:
                return bodies
            _, query, cursor = following
            assert cursor not in cursors, "a cursor did not advance"
            cursors.add(cursor)

    def with_budget(self, tokens: int, size: int | None = None, lines: int | None = 200) -> Desk:
        budget = replace(self.budget, tokens=tokens, bytes=size or tokens * 4, lines=lines)
        return replace(self, budget=budget, page_budget=budget)

    def cost(self, sources: Any, query: str, cursor: str = "") -> int:
        """Tokens of request and answer as a host sees them on the wire."""
        ref = "+".join(s.ref for s in sources) if isinstance(sources, list) else sources.ref
        arguments = {"result_ref": ref, **({"query": query} if query else {}), **({"cursor": cursor} if cursor else {})}
        request = {"name": "read_result", "arguments": arguments}
        answer = {"content": [{"type": "text", "text": self.ask(sources, query, cursor)}]}
        wire = [json.dumps(value, ensure_ascii=False, separators=(",", ":")) for value in (request, answer)]
        return sum(map(self.counter.count, wire))


@pytest.fixture
def desk() -> Desk:
    return Desk()
