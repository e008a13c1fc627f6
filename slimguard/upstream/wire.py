"""What a session needs of a connection to one server, whatever carries it; never anything of one carrier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from slimguard.model import Ran
from slimguard.upstream.framing import Message, MessageId


class NotSent(Exception):
    """A message did not reach the server completely; `ran` tells whether the server may act on it all the same."""

    def __init__(self, reason: str, *, ran: Ran) -> None:
        super().__init__(reason)
        self.reason = reason
        self.ran: Ran = ran


class SentTwice(Exception):
    """A second `tools/call` for one execution was about to go out; it was refused (P1)."""


@dataclass(slots=True)
class Ticket:
    """The right to put one `tools/call` on the wire; it is spent before the first byte and cannot be renewed."""

    ref: str
    spent: bool = False

    def spend(self) -> None:
        """Use the ticket; raises `SentTwice` when it was used before."""
        if self.spent:
            raise SentTwice(f"a second tools/call for {self.ref} was refused")
        self.spent = True


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One message to the server: its bytes, and what a carrier puts into headers."""

    body: bytes
    method: str
    id: MessageId = None
    """Set for requests only."""
    headers: Mapping[str, str] = field(default_factory=lambda: {})
    ticket: Ticket | None = None
    """Needed for `tools/call`, and only for it."""


class Inbound(Protocol):
    """Takes what comes from the server; every method returns at once and never raises."""

    def message(self, message: Message, expected: MessageId = None) -> bool:
        """One message, and whether it was anybody's; `expected` is the request that one without an id answers."""
        ...

    def failed(self, identity: MessageId, reason: str, ran: Ran) -> None:
        """One request gets no answer any more."""
        ...

    def first_bytes(self) -> None:
        """The first bytes of something arrived."""
        ...

    def stale(self, reason: str) -> None:
        """No new request may use this connection; those in flight go on."""
        ...

    def closed(self, reason: str) -> None:
        """The connection is gone, and with it every request in flight."""
        ...


class Wire(Protocol):
    """A connection: sends messages, and hands what comes to its `Inbound`."""

    @property
    def cancels_by_message(self) -> bool:
        """Whether `notifications/cancelled` may be sent; else only hanging up cancels, which loses the answer."""
        ...

    async def send(self, outgoing: Outgoing) -> None:
        """Return when the whole message was handed over; raises `NotSent`, `SentTwice`."""
        ...

    def settled_on(self, version: str) -> None:
        """The era was negotiated; HTTP carriers put the version into their headers."""
        ...

    async def listen(self) -> None:
        """Open what the carrier needs to hear unasked-for messages, if anything; returns at once."""
        ...

    def refuses(self, input_schema: Any) -> str | None:
        """Why a tool with this input schema cannot be called over this carrier, or None."""
        ...

    def call_headers(self, name: str, input_schema: Any, arguments: Mapping[str, Any]) -> Mapping[str, str]:
        """The headers that a `tools/call` of this tool needs over this carrier."""
        ...

    def hurry(self) -> None:
        """Closing comes next and must not take its time: a call on this connection has used it up."""
        ...

    def diagnosis(self) -> str:
        """More about why it failed, for the owner: exit code and the last stderr lines, or nothing."""
        ...
