"""The one table of the fault matrix: which cases there are and how each must end; the tests and the page read it."""

from __future__ import annotations

from dataclasses import dataclass

from slimguard.points import POINTS

CARRIERS = ("stdio", "http-json", "http-sse")
"""How the guard reaches the server: pipes, Streamable HTTP answering JSON, Streamable HTTP answering events."""

FAULTS = {
    "guard killed": "kill -9 of the guard",
    "server killed": "kill -9 of the server",
    "connection dropped": "the server closes or resets the connection and lives on",
    "cancelled": "the host sends notifications/cancelled",
    "host gone": "the host closes the guard's stdin",
    "timeout": "the server answers after timeouts.call_seconds, or the guard stands still for longer than that",
}

BEFORE_INTENT = ("parsed", "resolved", "validated")
BEFORE_SEND = (*BEFORE_INTENT, "accepted-dispatched-committed")
ANSWERED = POINTS[POINTS.index("response-received") :]
COMMITTED = POINTS[POINTS.index("snapshot-committed") :]

Ending = tuple[int, str]
"""How often the tool ran by the server's own counter, and the state of the ref afterwards ('-': there is no row)."""

NOTHING: Ending = (0, "-")
NOT_SENT: Ending = (0, "failed")
NEVER_RAN: Ending = (0, "unknown")
LOST: Ending = (1, "unknown")
STORED: Ending = (1, "stored")


@dataclass(frozen=True, slots=True)
class Case:
    """One call with one fault at one point; it must end in one of `endings`."""

    carrier: str
    fault: str
    point: str
    endings: tuple[Ending, ...]

    @property
    def name(self) -> str:
        return f"{self.carrier}-{self.fault.replace(' ', '-')}-at-{self.point}"


def endings_of(carrier: str, fault: str, point: str) -> tuple[Ending, ...]:
    """All endings that are right; more than one where the fault races with the server or with the host's own line."""
    if fault == "guard killed":
        return _of_killed_guard(point)
    if point in ANSWERED or fault == "timeout":
        return (STORED,)
    if fault in ("server killed", "connection dropped"):
        return _of_lost_server(carrier, fault, point)
    if point in BEFORE_SEND:
        return _before_send(point)
    return (STORED,)


def _before_send(point: str) -> tuple[Ending, ...]:
    """Nothing was sent yet: the call ends there, or goes on over a new connection; a committed intent stays known."""
    return (STORED, NOT_SENT, NOTHING) if point in BEFORE_INTENT else (STORED, NOT_SENT)


def _of_killed_guard(point: str) -> tuple[Ending, ...]:
    if point in BEFORE_INTENT:
        return (NOTHING,)
    if point in COMMITTED:
        return (STORED,)
    if point == "after-flush":
        return (NEVER_RAN, LOST)
    return (LOST,) if point in ("half-response", *ANSWERED) else (NEVER_RAN,)


def _of_lost_server(carrier: str, fault: str, point: str) -> tuple[Ending, ...]:
    if point in BEFORE_SEND:
        return _before_send(point)
    if point in ("after-flush", "half-response"):
        return (LOST,)
    if point == "before-write" and carrier == "stdio":
        return (NOT_SENT,)
    return (NEVER_RAN,)


CASES = tuple(
    Case(carrier, fault, point, endings_of(carrier, fault, point))
    for carrier in CARRIERS
    for fault in FAULTS
    for point in POINTS
)

REPRESENTATIVES = (
    ("stdio", "guard killed", "accepted-dispatched-committed"),
    ("stdio", "guard killed", "snapshot-half-written"),
    ("stdio", "server killed", "half-response"),
    ("http-sse", "cancelled", "half-response"),
    ("stdio", "host gone", "after-flush"),
)
"""Cases that the ordinary suite runs as well."""
