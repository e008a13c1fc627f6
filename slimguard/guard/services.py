"""What the three operations stand on: ports, settings and the small caches of one running guard; no I/O of its own."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from slimguard import policy
from slimguard.document import Document
from slimguard.guard.budgets import Budgets
from slimguard.guard.shelf import Shelf
from slimguard.ports import Audit, Calls, Clock, Compute, Snapshots, TableEngine, TokenCounter, Upstreams
from slimguard.readers import ReaderCache
from slimguard.schema import Checker
from slimguard.settings import Settings


@dataclass(slots=True)
class DocumentCache:
    """Parsed results by digest, least recently used out first, bounded by the bytes of their text."""

    limit: int = policy.DOCUMENT_CACHE_BYTES
    _kept: OrderedDict[str, Document] = field(default_factory=OrderedDict[str, Document])
    _bytes: int = 0

    def get(self, digest: str) -> Document | None:
        """The document of a stored value, if it is still here."""
        found = self._kept.get(digest)
        if found is not None:
            self._kept.move_to_end(digest)
        return found

    def put(self, digest: str, document: Document) -> None:
        """Keep `document`, unless it alone is larger than the limit."""
        size = len(document.raw)
        if size > self.limit or digest in self._kept:
            return
        self._kept[digest] = document
        self._bytes += size
        while self._bytes > self.limit:
            _, old = self._kept.popitem(last=False)
            self._bytes -= len(old.raw)


@dataclass(slots=True)
class CheckerCache:
    """Checkers of input schemas by the digest of the tool's definition, the oldest out first."""

    _kept: OrderedDict[str, Checker] = field(default_factory=OrderedDict[str, Checker])

    def get(self, digest: str) -> Checker | None:
        """The checker of a definition, if it is still here."""
        return self._kept.get(digest)

    def put(self, digest: str, checker: Checker) -> None:
        """Keep `checker`."""
        self._kept[digest] = checker
        while len(self._kept) > policy.KEPT_CHECKERS:
            self._kept.popitem(last=False)


@dataclass(frozen=True, slots=True)
class Services:
    """One running guard, seen from the operations."""

    settings: Callable[[], Settings]
    """The configuration now: a changed file swaps it."""
    upstreams: Upstreams
    calls: Calls
    snapshots: Snapshots
    compute: Compute
    tables: TableEngine
    counter: TokenCounter
    clock: Clock
    audit: Audit
    shelf: Shelf
    background: Callable[[Callable[[], Coroutine[Any, Any, None]]], None]
    """Start something that must not be tied to the request, such as forwarding a cancellation."""
    at: Callable[[str], None]
    """Called at the numbered points of a call (`points.POINTS`); does nothing but in the fault tests."""
    documents: DocumentCache = field(default_factory=DocumentCache)
    checkers: CheckerCache = field(default_factory=CheckerCache)
    introduced: dict[str, set[str]] = field(default_factory=lambda: {})
    """Servers whose instructions a session has been given."""
    reading: ReaderCache = field(default_factory=ReaderCache)
    """What readers keep between reads: folded text, table sets."""

    def budgets(self, host: str) -> Budgets:
        """The budgets of a host under the current settings."""
        return Budgets.of(self.settings(), host, self.counter)
