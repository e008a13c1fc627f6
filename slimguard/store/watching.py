"""Stops a SELECT that takes too long or too much memory; never touches one that has ended."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path

_LOOK_SECONDS = 0.02


class Watch:
    """A thread beside one SELECT, which interrupts it when `seconds` are over or the process grew by `growth` bytes.

    Not SQLite's progress handler: that one counts instructions, of which one can copy megabytes, and it waits for
    the interpreter's lock each time it is called.
    """

    def __init__(self, connection: sqlite3.Connection, seconds: float, growth: int) -> None:
        self._connection = connection
        self._deadline = time.monotonic() + seconds
        self._ceiling = resident() + growth
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, name="sql-watch", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """The SELECT has ended: nothing is interrupted after this."""
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(_LOOK_SECONDS):
            if time.monotonic() > self._deadline or resident() > self._ceiling:
                self._connection.interrupt()


def _resident_reader() -> Callable[[], int]:
    """How much memory the process uses, in bytes; 0 where the system does not say."""
    page, path = 4096, Path("/proc/self/statm")
    if not path.exists():
        return lambda: 0
    return lambda: int(path.read_bytes().split()[1]) * page


resident = _resident_reader()
