"""Errors that reach the host: what happened, whether the tool ran, and the call that helps; never content."""

from __future__ import annotations

from slimguard.model import Ran


class SlimguardError(Exception):
    """Base of all errors that we raise on purpose.

    `message` is one line of what happened, `ran` whether the upstream tool ran, `next_call` a literal call or
    a short instruction that gets further (may be empty), `detail` further lines such as a schema fragment.
    """

    def __init__(
        self, message: str, *, ran: Ran = "no", next_call: str = "", detail: str = "", code: str = "error"
    ) -> None:
        super().__init__(message)
        self.message = message
        self.ran: Ran = ran
        self.next_call = next_call
        self.detail = detail
        self.code = code


class RequestRejected(SlimguardError):
    """The request was refused before anything was sent; the tool did not run."""


class QueryRejected(RequestRejected):
    """A query on a stored result cannot be answered as written; nothing was run for it."""


class UpstreamFailed(SlimguardError):
    """The upstream could not be asked, or its answer never came; `ran` tells which."""


class SnapshotUnusable(SlimguardError):
    """Stored bytes are missing or do not match their digests; the tool had run."""

    def __init__(self, message: str, *, next_call: str = "", detail: str = "", code: str = "digest_mismatch") -> None:
        super().__init__(message, ran="yes", next_call=next_call, detail=detail, code=code)


class StoreUnavailable(SlimguardError):
    """The store cannot be written or read now (full, locked, read-only, wrong owner)."""


class ConfigurationError(SlimguardError):
    """The configuration file is wrong; names the file, the JSON path and what would be right."""
