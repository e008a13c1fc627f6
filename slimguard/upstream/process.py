"""One child process over raw pipes: exact reads and writes, a bounded stderr tail, and an end that always comes.

It must never leave a process behind, block the event loop on a pipe, or hold more of stderr than its tail.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.lowlevel

from slimguard import policy
from slimguard.errors import UpstreamFailed
from slimguard.settings import ServerConfig

INHERITED = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
"""All that a child gets of our environment, beside what its configuration names."""

_READ_BYTES = 1 << 20
_PIPE_BYTES = 1 << 20
_POLL_SECONDS = 0.2
_WATCH_SECONDS = 0.02

# Linux ends the child when the thread that started it dies; the check closes the gap before the call.
_SHIM = (
    "import os,sys\n"
    "try: import ctypes;ctypes.CDLL(None).prctl(1,9)\n"
    "except Exception: pass\n"
    "os.getppid()==int(sys.argv[1]) or os._exit(1)\n"
    "os.execvp(sys.argv[2],sys.argv[2:])\n"
)


class PipeBroken(Exception):
    """The child no longer reads; `written` bytes of the last message had been taken."""

    def __init__(self, written: int) -> None:
        super().__init__(f"the server no longer reads its stdin ({written} bytes were taken)")
        self.written = written


@dataclass(slots=True)
class StderrTail:
    """The last lines that a child wrote to stderr, with the values that must stay secret blanked out."""

    secrets: tuple[str, ...] = ()
    _lines: deque[str] = field(default_factory=lambda: deque(maxlen=policy.STDERR_LINES))
    _open: bytes = b""
    _size: int = 0

    def feed(self, chunk: bytes) -> None:
        """Take what came; older lines fall out."""
        *lines, last = (self._open + chunk[-policy.STDERR_BYTES * 2 :]).split(b"\n")
        self._open = last[-policy.STDERR_BYTES :]
        for line in lines[-policy.STDERR_LINES :]:
            self._keep(line)

    def text(self) -> str:
        """The kept lines, joined by newlines."""
        lines = [*self._lines, self._printable(self._open)] if self._open.strip() else list(self._lines)
        return "\n".join(lines)[-policy.STDERR_BYTES :]

    def _keep(self, line: bytes) -> None:
        text = self._printable(line[-policy.STDERR_BYTES :])
        if text:
            self._lines.append(text)

    def _printable(self, line: bytes) -> str:
        text = line.decode("utf-8", "replace").rstrip()
        for secret in self.secrets:
            text = text.replace(secret, "[redacted]")
        return "".join(char if char.isprintable() or char == "\t" else " " for char in text)


def child_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """The environment of a child: the few inherited names, then what the configuration gives."""
    kept = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return {name: value for name, value in kept.items() if not value.startswith("()")} | dict(extra)


def secrets_of(config: ServerConfig) -> tuple[str, ...]:
    """Values of a configuration that must not be repeated: longest first, short ones are no secrets."""
    values = {value for source in (config.env, config.headers) for value in source.values() if len(value) >= 8}
    return tuple(sorted(values, key=len, reverse=True))


class Child:
    """A started command; `end`, then always `kill`, ends it and its process group."""

    def __init__(self, process: subprocess.Popen[bytes], secrets: tuple[str, ...]) -> None:
        self._process = process
        self._stdin, self._stdout, self._stderr = (_take(process, name) for name in ("stdin", "stdout", "stderr"))
        self._reaped = False
        self._hurried = False
        self._watch = _pidfd(process.pid)
        self.stderr = StderrTail(secrets)
        self._stderr_ended = anyio.Event()

    @property
    def pid(self) -> int:
        """Process id, which is also the id of its process group."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """Exit code once reaped (negative: a signal), else None."""
        return self._process.returncode

    async def read(self) -> bytes:
        """The next bytes of stdout, empty at its end."""
        return await _read(self._stdout)

    async def write(self, data: bytes) -> None:
        """Hand all of `data` to the pipe; raises `PipeBroken` with what was taken."""
        view, done = memoryview(data), 0
        while done < len(view):
            try:
                done += os.write(self._stdin, view[done : done + _PIPE_BYTES])
            except BlockingIOError:
                await anyio.wait_writable(self._stdin)
            except (OSError, anyio.ClosedResourceError) as error:
                raise PipeBroken(done) from error

    async def drain_stderr(self) -> None:
        """Read stderr until it ends, so that the child never blocks on it."""
        while chunk := await _read(self._stderr):
            self.stderr.feed(chunk)
        self._stderr_ended.set()

    async def last_words(self, seconds: float) -> None:
        """Wait, at most `seconds`, for the end of the process and of its stderr, which explain a broken pipe."""
        with anyio.move_on_after(seconds):
            await self.exited()
            await self._stderr_ended.wait()

    def has_exited(self) -> bool:
        """Whether the process itself has ended."""
        # WNOWAIT leaves the zombie, so that its process group's id cannot be given to somebody else meanwhile.
        if self._reaped:
            return True
        if not hasattr(os, "waitid"):
            return self._process.poll() is not None
        try:
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True

    async def exited(self) -> None:
        """Wait until the process itself has ended (others may still hold its pipes)."""
        while not self.has_exited():
            if self._watch is None:
                await anyio.sleep(_POLL_SECONDS)
            else:
                await self._await_watch(self._watch)

    def hurry(self) -> None:
        """Its time was spent on a call that did not end: `end` asks once and hardly waits."""
        self._hurried = True

    async def end(self) -> None:
        """Ask it to leave, then make it: stdin closed, SIGTERM, SIGKILL to the whole group, in about a second."""
        self._close_fd("_stdin")
        for patience, then in ((policy.EOF_SECONDS, signal.SIGTERM), (policy.TERM_SECONDS, signal.SIGKILL)):
            with anyio.move_on_after(policy.HURRIED_SECONDS if self._hurried else patience):
                await self.exited()
            self._signal_group(then)
        with anyio.move_on_after(policy.TERM_SECONDS):
            await self.exited()

    def kill(self) -> None:
        """End it now, without waiting for anything, and give back all that it held."""
        self._signal_group(signal.SIGKILL)
        for name in ("_stdin", "_stdout", "_stderr", "_watch"):
            self._close_fd(name)
        if not self._reaped:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(policy.TERM_SECONDS)
            self._reaped = self._process.returncode is not None

    def reap(self) -> None:
        """Learn the exit code of a process that has ended by itself; what is left of its group is killed first."""
        if not self._reaped and self.has_exited():
            self._signal_group(signal.SIGKILL)
            self._process.wait()
            self._reaped = True

    async def _await_watch(self, descriptor: int) -> None:
        try:
            with anyio.move_on_after(policy.START_SECONDS):
                await anyio.wait_readable(descriptor)
        except anyio.BusyResourceError:
            await anyio.sleep(_WATCH_SECONDS)

    def _signal_group(self, number: signal.Signals) -> None:
        if not self._reaped:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)

    def _close_fd(self, name: str) -> None:
        descriptor: int | None = getattr(self, name)
        if descriptor is not None and descriptor >= 0:
            setattr(self, name, -1)
            anyio.notify_closing(descriptor)
            with contextlib.suppress(OSError):
                os.close(descriptor)


def spawn(config: ServerConfig) -> Child:
    """Start the server's command in a session of its own; raises `UpstreamFailed(ran="no")` with what to do."""
    environment = child_environment(config.env)
    search = environment.get("PATH", os.defpath)
    command = shutil.which(_relative_to(config.command, config.cwd), path=search)
    if command is None:
        message = f"the command {config.command!r} was not found on PATH={search}"
        raise UpstreamFailed(message, code="command_not_found")
    if config.cwd is not None and not os.path.isdir(config.cwd):  # noqa: PTH112
        raise UpstreamFailed(f"the working directory {config.cwd!r} does not exist", code="no_directory")
    try:
        process = subprocess.Popen(  # noqa: S603
            [*_shim(), command, *config.args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=environment,
            cwd=config.cwd,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        message = f"the command {config.command!r} could not be started: {type(error).__name__}"
        raise UpstreamFailed(message, code="start_failed") from error
    return Child(process, secrets_of(config))


def _shim() -> Iterable[str]:
    if sys.platform != "linux" or not sys.executable:
        return ()
    return (sys.executable, "-I", "-S", "-c", _SHIM, str(os.getpid()))


def _relative_to(command: str, cwd: str | None) -> str:
    path = os.path.expanduser(command)  # noqa: PTH111
    if os.sep in path and cwd is not None:
        return os.path.join(cwd, path)  # noqa: PTH118
    return os.path.abspath(path) if os.sep in path else path  # noqa: PTH100


def _take(process: subprocess.Popen[bytes], name: str) -> int:
    stream: Any = getattr(process, name)
    descriptor = os.dup(stream.fileno())
    stream.close()
    setattr(process, name, None)
    os.set_blocking(descriptor, False)
    if hasattr(fcntl, "F_SETPIPE_SZ") and name != "stderr":
        with contextlib.suppress(OSError):
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    return descriptor


def _pidfd(pid: int) -> int | None:
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


async def _read(descriptor: int) -> bytes:
    waited = False
    while True:
        try:
            chunk = os.read(descriptor, _READ_BYTES)
        except BlockingIOError:
            await anyio.wait_readable(descriptor)
            waited = True
        except OSError:
            return b""
        else:
            if not waited:  # a flood must leave the others their turn
                await anyio.lowlevel.checkpoint()
            return chunk
