"""Which guard processes are alive: each holds a lock on a file beside the database; never by pid or heartbeat."""

from __future__ import annotations

import os
import time
from pathlib import Path

from slimguard.store import files

_PATIENCE_SECONDS = 0.5


class Presence:
    """The sign of life of this process for one database, and the way to look for the others'.

    The kernel drops the lock when the process ends in whatever way, so a dead guard is known at once and a live
    one, however slow, is never taken for dead.
    """

    def __init__(self, path: Path, guard: str) -> None:
        self.guard = guard
        self._path = path
        self._descriptor: int | None = None

    def file_of(self, guard: str) -> Path:
        """The file that `guard` keeps locked."""
        return self._path.with_name(f"{self._path.name}.guard-{guard}")

    def seen(self) -> set[str]:
        """The guards that left a file here, alive or not."""
        start = f"{self._path.name}.guard-"
        return {item.name.removeprefix(start) for item in self._path.parent.iterdir() if item.name.startswith(start)}

    def hold(self) -> None:
        """Make and lock this guard's file, again when somebody removed it; raises `OSError`."""
        path = self.file_of(self.guard)
        if self._descriptor is not None:
            found = os.fstat(self._descriptor)
            if files.identity(path) == (found.st_dev, found.st_ino):
                return
            self.release()
        # Who looks whether this guard lives holds the lock for an instant.
        until = time.monotonic() + _PATIENCE_SECONDS
        while (descriptor := files.try_lock(path)) is None and time.monotonic() < until:
            time.sleep(_PATIENCE_SECONDS / 100)
        self._descriptor = descriptor

    def release(self) -> None:
        """Remove this guard's file and its lock."""
        if self._descriptor is None:
            return
        self.file_of(self.guard).unlink(missing_ok=True)
        os.close(self._descriptor)
        self._descriptor = None

    def alive(self, guard: str) -> bool:
        """Whether `guard` still runs; this one does."""
        return guard == self.guard or files.is_locked(self.file_of(guard))
