"""One execution of a tool as the fleet sees it: a value that changes state, and the events of its changes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import anyio

from slimguard.errors import SlimguardError
from slimguard.model import Answer, CallState, Execution, Json, Outcome, Ran, StoredCall
from slimguard.upstream.connection import Connection
from slimguard.upstream.framing import Response
from slimguard.upstream.wire import Ticket


@dataclass(slots=True, eq=False)
class Run:
    """The life of one execution; also the waiter for its one answer."""

    execution: Execution
    progress: list[Callable[[Json], None]] = field(default_factory=lambda: [])
    state: CallState = "running"
    ran: Ran = "unknown"
    reason: str = ""
    answer: Answer | None = None
    stored: StoredCall | None = None
    recorded: bool = False
    """The ledger has the intent."""
    cancelled: bool = False
    """The host gave up; the server is told as soon as it has the request."""
    abandoned: bool = False
    """The caller left before anything was recorded."""
    refusal: SlimguardError | None = None
    """Why it did not start."""
    response: Response | None = None
    lost: str = ""
    """Why no answer will come."""
    lost_ran: Ran = "unknown"
    connection: Connection | None = None
    request_id: int | None = None
    waiting: int = 0
    delivered: bool = False
    opened: asyncio.Event = field(default_factory=asyncio.Event)
    sent: asyncio.Event = field(default_factory=asyncio.Event)
    replied: asyncio.Event = field(default_factory=asyncio.Event)
    heard: asyncio.Event = field(default_factory=asyncio.Event)
    """The answer is here, or it is known that none comes."""
    done: asyncio.Event = field(default_factory=asyncio.Event)
    patience: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    ticket: Ticket = field(init=False)

    def __post_init__(self) -> None:
        self.ticket = Ticket(self.execution.ref)

    @property
    def size(self) -> int:
        """Bytes of the answer held in memory."""
        return len(self.answer.raw) if self.answer is not None else 0

    def answered(self, response: Response) -> None:
        """The server answered."""
        self.response = response
        self.replied.set()

    def failed(self, reason: str, ran: Ran) -> None:
        """The server will not answer."""
        self.lost, self.lost_ran = reason, ran
        self.replied.set()

    def progressed(self, params: Json) -> None:
        """Pass progress on to whoever asked for it; a listener that left is dropped."""
        for listener in list(self.progress):
            try:
                listener(params)
            except Exception:  # noqa: BLE001 - the host may be gone, the execution goes on
                self.progress.remove(listener)

    def refuse(self, error: SlimguardError) -> None:
        """It did not start."""
        self.refusal = error
        self.finish("failed", "no", error.message)

    def finish(self, state: CallState, ran: Ran, reason: str) -> None:
        """Its state is known; a late answer may still change it."""
        self.state, self.ran, self.reason = state, ran, reason
        for event in (self.opened, self.sent, self.heard, self.done):
            event.set()

    def outcome(self, *, joined: bool) -> Outcome:
        """What is known now."""
        return Outcome(
            ref=self.execution.ref,
            state=self.state,
            answer=self.answer,
            stored=self.stored,
            ran=self.ran,
            reason=self.reason,
            joined=joined,
        )
