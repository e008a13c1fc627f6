"""What the operations need of the world, as protocols; edges implement them, tests run one suite a port on each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from slimguard.model import Answer, CallState, Execution, Json, Outcome, RefState, ServerStatus, StoredCall, Tool

T = TypeVar("T")


class TokenCounter(Protocol):
    """Counts tokens of o200k_base; may be called from any thread."""

    def count(self, text: str) -> int:
        """Exact number of tokens of `text`."""
        ...

    def within(self, text: str, limit: int) -> bool:
        """Whether `text` has at most `limit` tokens; stops counting early."""
        ...

    def estimate(self, text: str) -> int:
        """Approximate number of tokens, exact for short texts, sampled for long ones."""
        ...

    def page_end(
        self,
        text: str,
        start: int,
        limit: int,
        *,
        cut_lines: bool = True,
        max_bytes: int | None = None,
        max_lines: int | None = None,
    ) -> int:
        """Index of the end of the longest page of `text[start:]` that has at most `limit` tokens when it stands alone,
        at most `max_bytes` bytes of UTF-8 and at most `max_lines` lines, ended by newlines.

        Never inside a character or a CR LF; prefers a line boundary when `cut_lines` and at least half the page
        stays; always after `start` (one character may be over a limit), or the length of `text` when `start` is there.
        """
        ...


class Upstreams(Protocol):
    """What is known of the servers now. The catalog is an immutable value; a change swaps the reference."""

    def tools(self) -> Sequence[Tool]:
        """All tools known now, of live servers and of the kept catalog; the same object until something changes."""
        ...

    def statuses(self) -> Sequence[ServerStatus]:
        """One status a configured server, in the order of the configuration."""
        ...

    async def settle(self, seconds: float) -> None:
        """Wait until every server is ready or unavailable, at most `seconds`."""
        ...


class Calls(Protocol):
    """Executes tools. An execution outlives the request that started it (DESIGN §4c)."""

    async def start(
        self, execution: Execution, *, progress: Callable[[Json], None] | None = None, within: float | None = None
    ) -> None:
        """Record the intent durably, then send `tools/call` exactly once and capture the answer in the background.

        `within` bounds in seconds how long the server may take to connect; after that nothing is sent any more.
        Raises `UpstreamFailed(ran="no")` when the server cannot be reached and `StoreUnavailable(ran="no")` when
        the intent cannot be recorded and the tool is not read-only. `progress` gets each progress params object.
        """
        ...

    async def wait(self, ref: str, seconds: float, *, stored: bool = True) -> Outcome:
        """Wait until the execution ended, at most `seconds`; `state` is `running` if it has not.

        With `stored` false it is enough that the upstream answered: the `answer` is there, and `running` means that
        its snapshot is not committed yet.
        """
        ...

    def state(self, ref: str) -> CallState | None:
        """State of an execution of this process, None when this process does not know it."""
        ...

    async def cancel(self, ref: str) -> None:
        """Forward a cancellation to the upstream; the capture goes on."""
        ...


class Ledger(Protocol):
    """The durable record of intents and answers. Writes are serialised by the implementation."""

    async def open_call(self, execution: Execution) -> None:
        """Commit ACCEPTED and DISPATCHED in one fully synchronous transaction, before the first byte is sent.

        Raises `StoreUnavailable` when it could not be committed.
        """
        ...

    async def keep(self, ref: str, answer: Answer, *, durable: bool, is_error: bool, finished_at: float) -> StoredCall:
        """Commit the answer's bytes as the snapshot of `ref`, read them back verified, return the row.

        `durable` asks for a fully synchronous commit. Raises `StoreUnavailable` when that failed.
        """
        ...

    async def close_call(self, ref: str, state: RefState, note: str, finished_at: float) -> None:
        """Record that `ref` ended without an answer: `failed` (not sent) or `unknown`."""
        ...


class SnapshotReader(Protocol):
    """Verified access to the bytes of one snapshot; synchronous, used inside `Compute`. Close it after use."""

    @property
    def call(self) -> StoredCall:
        """The ledger's row."""
        ...

    def read(self, start: int, end: int) -> bytes:
        """Bytes `start` to `end` (exclusive), every touched chunk verified; raises `SnapshotUnusable`."""
        ...

    def close(self) -> None:
        """Give the lease back."""
        ...


class Snapshots(Protocol):
    """Stored calls and their bytes, seen by one owner at a time."""

    async def find(self, ref: str, owner: str) -> StoredCall | None:
        """The row of `ref` if it belongs to `owner` (its state may be `expired` or `evicted`), else None."""
        ...

    async def recent(self, owner: str, scope: str, limit: int) -> Sequence[StoredCall]:
        """The newest calls of `owner` in `scope`, newest first."""
        ...

    async def open(self, ref: str, owner: str) -> SnapshotReader:
        """Lease a stored snapshot for reading; raises `SnapshotUnusable` or `StoreUnavailable`."""
        ...

    async def secret(self) -> bytes:
        """The 32-byte key that authenticates cursors; made once, kept in the database."""
        ...


class CatalogKeeper(Protocol):
    """Keeps the last good catalog of each server across restarts, by definition digest."""

    async def load(self, keys: Mapping[str, str]) -> Mapping[str, Sequence[Tool]]:
        """Kept tools by server name; `keys` maps a server's name to the fingerprint of its configuration."""
        ...

    async def save(self, server: str, key: str, tools: Sequence[Tool]) -> None:
        """Replace what is kept for one server."""
        ...


class TableEngine(Protocol):
    """Read-only SQL over tables made from one result; bounded in time, rows and bytes."""

    def build(self, tables: Mapping[str, tuple[Sequence[str], Sequence[Sequence[Any]]]]) -> TableSet:
        """Make an in-memory database of `tables`: name -> (columns, rows)."""
        ...


class TableSet(Protocol):
    """The tables of one result, built once; used from one thread at a time."""

    note: str
    """How the last SELECT was read, when names in it were not read as written; else empty."""

    def select(
        self, sql: str, *, max_rows: int, max_bytes: int, seconds: float
    ) -> tuple[Sequence[str], Sequence[Any], bool]:
        """Columns, rows and whether more rows exist; raises `QueryRejected` with what is allowed instead."""
        ...

    def close(self) -> None:
        """Free the memory."""
        ...


class Embedder(Protocol):
    """Knows which tools mean what a query asks; learns a catalog in the background."""

    def learn(self, tools: Sequence[Tool]) -> None:
        """Begin to learn `tools` and return at once; a later catalog replaces an earlier one. Never raises."""
        ...

    def nearest(self, query: str, tools: Sequence[Tool], count: int) -> Sequence[int] | None:
        """Places in `tools` of the `count` nearest in meaning, nearest first; None until this catalog is learned.

        Works for some milliseconds, may be called from any thread, never raises.
        """
        ...

    def settle(self, seconds: float) -> None:
        """Wait until there is nothing more to learn, at most `seconds`; blocks, for commands that ask once."""
        ...

    def close(self) -> None:
        """Stop learning."""
        ...


class Compute(Protocol):
    """Bounded work off the event loop."""

    async def run(self, function: Callable[[], T], *, large: bool = False) -> T:
        """Run `function` in a worker thread and return its value; its exception is raised here.

        `large` work, which may take seconds, has threads of its own, so that small work never waits for it.
        """
        ...


class HostChannel(Protocol):
    """The way back to the host while a request is open."""

    def progress(self, params: Json) -> None:
        """Pass an upstream's progress on, when the host gave a token; else nothing."""
        ...


class Audit(Protocol):
    """A record of what was done: names, ids, sizes and states, never content (P12)."""

    def record(self, event: str, **fields: str | int | float | bool | None) -> None:
        """Write one event; never raises."""
        ...


class Clock(Protocol):
    """Time and randomness, as arguments of the operations."""

    def now(self) -> float:
        """Seconds since the epoch, UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds of a clock that never goes back."""
        ...

    def random_bytes(self, count: int) -> bytes:
        """`count` unpredictable bytes."""
        ...
