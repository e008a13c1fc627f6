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

    def record(self, event: str, **fields: str | int | float | bool | None) -> None:
        """Write one event with its time; never raises."""
        with contextlib.suppress(OSError, ValueError, OverflowError):
            at = datetime.fromtimestamp(self.now(), UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            line = json.dumps({"at": at, "event": event, "process": os.getpid(), **fields}, separators=(",", ":"))
            self._append(line.encode("ascii") + b"\n")

    def _append(self, line: bytes) -> None:
        descriptor = os.open(self.path, _FLAGS, 0o600)
        try:
            found = os.fstat(descriptor)
            if found.st_uid != os.geteuid():
                return
            os.write(descriptor, line)
        finally:
            os.close(descriptor)
        if found.st_size + len(line) > self.limit:
            self.path.replace(audit_path(self.path, old=True))


def audit_path(store: Path, *, old: bool = False) -> Path:
    """Where the record of a store stands: `results.db` has `results.audit.jsonl`, the older part `….jsonl.1`."""
    if old:
        return store.with_name(f"{store.name}.1")
    return store.with_name(f"{store.stem}.audit.jsonl")
