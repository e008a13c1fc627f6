"""The numbered points along one call, where the fault tests stop, cut or kill; names only, in the order of the call."""

from __future__ import annotations

POINTS: tuple[str, ...] = (
    "parsed",
    "resolved",
    "validated",
    "accepted-dispatched-committed",
    "before-write",
    "half-written",
    "after-flush",
    "half-response",
    "response-received",
    "snapshot-half-written",
    "snapshot-committed",
    "view-made",
    "reply-half-written",
    "reply-written",
)
"""ACCEPTED and DISPATCHED are one transaction (DESIGN 4c), so they are one point.

A small exact answer of a read-only tool does not wait for its snapshot: its reply's points may come before those.
"""


def nowhere(_point: str) -> None:
    """What is called at a point outside the fault tests."""
