"""What readers take and give: sources, the context of one read, answers before they are framed; data only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, TypeVar

from slimguard.document import Document
from slimguard.model import Budget, JsonObject, StoredCall
from slimguard.policy import READER_CACHE_BYTES
from slimguard.ports import TableEngine, TokenCounter
from slimguard.query import Query

T = TypeVar("T")


class ReaderCache:
    """What is costly to make from a result and useful again: folded text, table sets. Bounded by bytes; thread-safe.

    Keys start with the ref. A value that has a `close` method is closed when it is dropped; `leased` keeps one from
    being closed, and from being used by two threads, while a query runs on it.
    """

    def __init__(self, limit_bytes: int = READER_CACHE_BYTES) -> None:
        self._limit = limit_bytes
        self._entries: dict[tuple[str, ...], tuple[Any, int]] = {}
        self._lock = Lock()
        self._making: dict[tuple[str, ...], Lock] = {}

    def get(self, key: tuple[str, ...], make: Callable[[], T], size: int) -> T:
        """The value under `key`, made at most once at a time; `size` is its approximate bytes."""
        with self._lock:
            found = self._entries.pop(key, None)
            if found is not None:
                self._entries[key] = found
                return found[0]
            lock = self._making.setdefault(key, Lock())
        with lock:
            with self._lock:
                found = self._entries.get(key)
            if found is not None:
                return found[0]
            value = make()
            self._put(key, value, size)
        return value

    def take(self, key: tuple[str, ...]) -> Any | None:
        """Remove and return the value under `key`, so that nobody else uses it; None when there is none."""
        with self._lock:
            found = self._entries.pop(key, None)
        return None if found is None else found[0]

    def give(self, key: tuple[str, ...], value: Any, size: int) -> None:
        """Put a taken value back."""
        self._put(key, value, size)

    def clear(self) -> None:
        """Drop everything."""
        with self._lock:
            dropped = [value for value, _ in self._entries.values()]
            self._entries.clear()
        for value in dropped:
            _close(value)

    def _put(self, key: tuple[str, ...], value: Any, size: int) -> None:
        dropped: list[Any] = []
        with self._lock:
            self._making.pop(key, None)
            old = self._entries.pop(key, None)
            if old is not None and old[0] is not value:
                dropped.append(old[0])
            self._entries[key] = (value, size)
            total = sum(entry[1] for entry in self._entries.values())
            for oldest in list(self._entries):
                if total <= self._limit:
                    break
                gone, freed = self._entries.pop(oldest)
                total -= freed
                dropped.append(gone)
        for item in dropped:
            _close(item)


def _close(value: Any) -> None:
    close = getattr(value, "close", None)
    if callable(close):
        close()


@dataclass(frozen=True, slots=True)
class Source:
    """One stored result of the set that a read addresses."""

    ref: str
    document: Document
    call: StoredCall


@dataclass(frozen=True, slots=True)
class Window:
    """Where the text of a source stands in a larger one, of which a page needs no more."""

    characters: int
    """Characters before it."""
    all_characters: int
    lines: int
    """Newlines before it."""
    all_lines: int


@dataclass(frozen=True, slots=True)
class ReadContext:
    """What one read may spend and use. Budgets are in tokens of `counter`: the guard divides by the host's factor."""

    budget: Budget
    """For answers to queries."""
    page_budget: Budget
    """For pages that were asked for: text, raw, lines, bytes, items."""
    counter: TokenCounter
    tables: TableEngine
    secret: bytes = field(repr=False)
    """The 32-byte key that authenticates cursors."""
    owner: str
    monotonic: Callable[[], float] = field(repr=False)
    """Seconds of the guard's clock, by which a slow query is stopped."""
    cache: ReaderCache = field(default_factory=ReaderCache, repr=False)
    others: Mapping[str, Source] = field(default_factory=lambda: {}, repr=False)
    """Results that `diff:` queries name (`other_refs`), by ref; one that cannot be read is absent."""
    continue_at: tuple[int, int] | None = None
    """Block and character where an empty query without a cursor starts, when something was shown already."""
    window: Window | None = None
    """Set when the one source holds only a part of its text, around the page that is asked for."""


@dataclass(frozen=True, slots=True)
class ReadReply:
    """The text of an answer, framed, and the media blocks that follow it."""

    text: str
    media: Sequence[JsonObject] = ()
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """One query's answer before it is framed.

    `shown` is what is shown of what, in words; `position` is where the next answer goes on, None at the end. An
    `exact` body is text of the result with nothing of ours in it.
    """

    kind: str
    shown: str
    body: str
    position: tuple[int, ...] | None = None
    notes: tuple[str, ...] = ()
    media: Sequence[JsonObject] = ()
    exact: bool = False
    query: Query | None = None
    """The query that goes on, when it is another than the one that was asked."""


@dataclass(frozen=True, slots=True)
class Request:
    """One query on a set of sources, with the part of the budget that its body may spend."""

    query: Query
    sources: Sequence[Source]
    budget: Budget
    context: ReadContext = field(repr=False)
    position: tuple[int, ...] = ()
    """Where a cursor continues; empty for a fresh query."""
    alone: bool = True
    """Whether this is the only query of the read."""

    @property
    def source(self) -> Source:
        """The first source, which is the only one of an ordinary read."""
        return self.sources[0]
