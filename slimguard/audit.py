"""The audit record: JSON lines beside the store, one an event; names, ids, sizes and digests, never content (P12)."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from slimguard import policy

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(slots=True)
class FileAudit:
    """Appends events to a private file (port `Audit`); several processes may share it, since a line is one write.

    A file that is full becomes the one old file. What cannot be written is dropped: a record never stops a call.
    """

    path: Path
    now: Callable[[], float]
    """Seconds since the epoch, UTC."""
    limit: int = policy.AUDIT_BYTES
    _open: int = -1
    """The file, kept open: to open it for each line costs as much as all else that a small call does."""
    _looked: float = 0.0
    _size: int = 0

    def record(self, event: str, **fields: str | int | float | bool | None) -> None:
        """Write one event with its time; never raises."""
        with contextlib.suppress(OSError, ValueError, OverflowError):
            now = self.now()
            at = datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            line = json.dumps({"at": at, "event": event, "process": os.getpid(), **fields}, separators=(",", ":"))
            fresh = 0 <= now - self._looked < policy.AUDIT_LOOK_SECONDS
            if self._open < 0 or not fresh or self._size > self.limit:
                self._looked = now
                self._reopen()
            if self._open >= 0:
                self._size += os.write(self._open, line.encode("ascii") + b"\n")

    def _reopen(self) -> None:
        """Open the file anew: another process may have put it aside, and a full one is put aside here."""
        if self._open >= 0:
            os.close(self._open)
            self._open = -1
        descriptor = os.open(self.path, _FLAGS, 0o600)
        found = os.fstat(descriptor)
        if found.st_uid != os.geteuid():
            os.close(descriptor)
            return
        self._open, self._size = descriptor, found.st_size
        if self._size > self.limit:
            self.path.replace(audit_path(self.path, old=True))
            os.close(descriptor)
            self._open = -1
            self._open, self._size = os.open(self.path, _FLAGS, 0o600), 0


def audit_path(store: Path, *, old: bool = False) -> Path:
    """Where the record of a store stands: `results.db` has `results.audit.jsonl`, the older part `….jsonl.1`."""
    if old:
        return store.with_name(f"{store.name}.1")
    return store.with_name(f"{store.stem}.audit.jsonl")
