"""Time, randomness and the user of the operating system, as the edges and commands hand them to the operations."""

from __future__ import annotations

import getpass
import os
import time


class SystemClock:
    """Time and randomness of the operating system (port `Clock`)."""

    def now(self) -> float:
        """Seconds since the epoch, UTC."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds of a clock that never goes back."""
        return time.monotonic()

    def random_bytes(self, count: int) -> bytes:
        """`count` unpredictable bytes."""
        return os.urandom(count)


def os_user() -> str:
    """The owner of results over stdio: the operating system's user."""
    try:
        return f"user:{os.getuid()}"
    except AttributeError:
        return f"user:{getpass.getuser()}"
