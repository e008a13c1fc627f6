"""A small process of ours that ends the servers' process groups when the guard dies without a chance to do it.

Linux ends a direct child by itself (see process.py); what that child started, and every child elsewhere, would live
on. The warden holds the other end of a pipe: when it closes, the guard is gone. It must never end a group that was
taken off its list, and it leaves as soon as it has nothing to do.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys

_CODE = """
import os, signal, sys, time
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
groups = set()
for line in sys.stdin:
    (groups.add if line[0] == "+" else groups.discard)(int(line[1:]))
for number, patience in ((signal.SIGTERM, 0.3), (signal.SIGKILL, 0)):
    for group in list(groups):
        try:
            os.killpg(group, number)
        except OSError:
            groups.discard(group)
    if groups:
        time.sleep(patience)
"""
_LEAVE_SECONDS = 0.5


class Warden:
    """Started with the first group to watch; one for a fleet."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._groups: set[int] = set()

    def watch(self, group: int) -> None:
        """End this process group if we die."""
        self._groups.add(group)
        if self._process is None or self._process.poll() is not None:
            self._process = _start()
            for other in self._groups:
                self._say(f"+{other}\n")
        else:
            self._say(f"+{group}\n")

    def forget(self, group: int) -> None:
        """Take a group that has ended off the list."""
        self._groups.discard(group)
        self._say(f"-{group}\n")

    def dismiss(self) -> None:
        """Let it go; what is still on its list ends with it."""
        process, self._process = self._process, None
        if process is None or process.stdin is None:
            return
        with contextlib.suppress(OSError):
            process.stdin.close()
        try:
            process.wait(_LEAVE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _say(self, line: str) -> None:
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.write(line.encode("ascii"))


def _start() -> subprocess.Popen[bytes] | None:
    if not sys.executable:
        return None
    try:
        return subprocess.Popen(  # noqa: S603 - our own interpreter and our own text
            [sys.executable, "-I", "-S", "-c", _CODE],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env={},
            start_new_session=True,
        )
    except OSError:
        return None
