"""What SQLite and the file system say, as `StoreUnavailable`; never SQL, never content, never another exception."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager

from slimguard.errors import StoreUnavailable
from slimguard.model import Ran

SQLITE_REASONS = {
    sqlite3.SQLITE_FULL: "the disk is full; free some space or lower store.quota_bytes",
    sqlite3.SQLITE_BUSY: "it is locked by another process; end that process or point store.path elsewhere",
    sqlite3.SQLITE_LOCKED: "it is locked by another process; end that process or point store.path elsewhere",
    sqlite3.SQLITE_READONLY: "it is read-only; make the file and its directory writable for this user",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; check that its directory exists and is writable for this user",
    sqlite3.SQLITE_PERM: "permission denied; make the file and its directory writable for this user",
    sqlite3.SQLITE_AUTH: "permission denied; make the file and its directory writable for this user",
    sqlite3.SQLITE_CORRUPT: "it is damaged; move the file away and a new store is made, or restore a copy",
    sqlite3.SQLITE_NOTADB: "it is not a database; move the file away or point store.path elsewhere",
    sqlite3.SQLITE_IOERR: "reading or writing the disk failed; check the disk",
    sqlite3.SQLITE_NOMEM: "memory ran out",
    sqlite3.SQLITE_TOOBIG: "the value is too big for it",
}

SYSTEM_REASONS = {
    errno.ENOSPC: SQLITE_REASONS[sqlite3.SQLITE_FULL],
    errno.EDQUOT: "the disk quota is used up; free some space or lower store.quota_bytes",
    errno.EROFS: SQLITE_REASONS[sqlite3.SQLITE_READONLY],
    errno.EACCES: SQLITE_REASONS[sqlite3.SQLITE_PERM],
    errno.EPERM: SQLITE_REASONS[sqlite3.SQLITE_PERM],
    errno.ENOTDIR: "a part of its path is not a directory; correct store.path",
    errno.ELOOP: "its path is a symbolic link; point store.path at the real file",
    errno.EMFILE: "too many files are open",
    errno.ENFILE: "too many files are open",
}

DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})

NOT_WRITABLE = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT})
"""Errors of the file system that leave an existing database readable."""

SQLITE_NOT_WRITABLE = frozenset(
    {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}
)


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's primary result code, or 0 when the error came from the module itself."""
    code = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF if isinstance(code, int) else 0


def leaves_readable(error: Exception) -> bool:
    """Whether `error` only says that nothing can be written."""
    if isinstance(error, sqlite3.Error):
        return primary_code(error) in SQLITE_NOT_WRITABLE
    return isinstance(error, OSError) and error.errno in NOT_WRITABLE


def unavailable(path: str, error: Exception, ran: Ran = "no") -> StoreUnavailable:
    """`error` as one line that names the store, the reason and what to do; an error of ours keeps its type."""
    if isinstance(error, StoreUnavailable):
        return type(error)(error.message, ran=ran, next_call=error.next_call, detail=error.detail, code=error.code)
    return StoreUnavailable(f"the result store {path} is unavailable: {_reason(error)}", ran=ran, code="store")


def _reason(error: Exception) -> str:
    if isinstance(error, sqlite3.Error):
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        return SQLITE_REASONS.get(primary_code(error), f"SQLite refused ({name})")
    if isinstance(error, OSError):
        return SYSTEM_REASONS.get(error.errno or 0, error.strerror or type(error).__name__)
    return f"unexpected {type(error).__name__}"


@contextmanager
def as_unavailable(path: str, ran: Ran = "no") -> Generator[None]:
    """Turn what SQLite and the system raise inside into `StoreUnavailable`; errors of ours pass, with `ran` set."""
    try:
        yield
    except (sqlite3.Error, sqlite3.Warning, OSError, StoreUnavailable, MemoryError) as error:
        raise unavailable(path, error, ran) from error
