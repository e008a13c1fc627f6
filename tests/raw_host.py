"""A host that speaks JSON lines over real pipes, and the waits of the tests; on the path of every conftest here.

Waits end when what they wait for has happened; PATIENCE only bounds a test that fails.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import psutil

PATIENCE = 60.0
"""Seconds after which what another process should have done counts as not done."""
REF = re.compile(r"result_ref=(r[0-9a-z]{14})")
CURSOR = re.compile(r'cursor="([^"]+)"')


class RawHost:
    """A host that writes and reads JSON lines itself, so that nothing is hidden by a client library."""

    def __init__(self, command: list[str], env: dict[str, str] | None = None, cwd: str | None = None) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **(env or {})},
            cwd=cwd,
        )
        self.last_id = 0
        self.stderr = b""
        self.notifications: list[dict[str, Any]] = []
        self.lines: list[bytes] = []
        self._answers: dict[Any, queue.Queue[dict[str, Any]]] = {}
        self._lock = threading.Lock()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._errors = threading.Thread(target=self._read_errors, daemon=True)
        self._errors.start()

    def _box(self, identifier: Any) -> queue.Queue[dict[str, Any]]:
        with self._lock:
            return self._answers.setdefault(identifier, queue.Queue())

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            if not line.endswith(b"\n"):
                return
            message = json.loads(line)
            if "method" in message:
                self.notifications.append(message)
            else:
                self._box(message.get("id")).put(message)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.stderr += line

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: dict[str, Any]) -> None:
        self.write(json.dumps(message).encode() + b"\n")

    def post(self, method: str, params: dict[str, Any] | None = None) -> int:
        """Send a request without waiting; returns its id."""
        self.last_id += 1
        self.send({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params or {}})
        return self.last_id

    def answer(self, identifier: Any, timeout: float = PATIENCE) -> dict[str, Any]:
        end = time.monotonic() + timeout
        while True:
            try:
                return self._box(identifier).get(timeout=max(0.0, min(0.5, end - time.monotonic())))
            except queue.Empty:
                if time.monotonic() < end and self._reader.is_alive():
                    continue
                raise AssertionError(f"no answer to {identifier}; stderr: {self.stderr.decode()[-2000:]}") from None

    def request(self, method: str, params: dict[str, Any] | None = None, timeout: float = PATIENCE) -> dict[str, Any]:
        message = self.answer(self.post(method, params), timeout)
        assert "result" in message, message
        return message["result"]

    def initialize(self, name: str = "raw-host", version: str = "2025-11-25") -> dict[str, Any]:
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": name, "version": "1"}}
        result = self.request("initialize", params)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return result

    def call(self, name: str, arguments: Any = None, timeout: float = PATIENCE, **extra: Any) -> dict[str, Any]:
        return self.request(
            "tools/call", {"name": name, "arguments": {} if arguments is None else arguments, **extra}, timeout
        )

    def tool(self, tool_ref: str, arguments: Any = None, timeout: float = PATIENCE, **extra: Any) -> dict[str, Any]:
        return self.call(
            "call_tool", {"tool_ref": tool_ref, "arguments": {} if arguments is None else arguments, **extra}, timeout
        )

    def await_tool(self, tool: str) -> None:
        """Wait until `server/name` is offered, so that the start of its server is not a part of what follows."""
        eventually(lambda: f"{tool}#" in text_of(self.call("find_tool", {"query": tool})), what=tool)

    def read(self, ref: str = "", query: str = "", cursor: str = "") -> dict[str, Any]:
        given = {"result_ref": ref, "query": query, "cursor": cursor}
        return self.call("read_result", {key: value for key, value in given.items() if value})

    def pages(self, ref: str, query: str = "") -> Iterator[str]:
        """The bodies of all pages, following the literal cursor of each footer."""
        cursor = ""
        for _ in range(100_000):
            result = self.read(ref, query, cursor)
            assert not result.get("isError"), text_of(result)
            _, _, rest = text_of(result).partition("\n")
            body, _, last = rest.rpartition("\n")
            yield body
            found = CURSOR.search(last)
            if found is None:
                return
            assert found[1] != cursor, "a cursor did not advance"
            cursor = found[1]

    def close(self, timeout: float = PATIENCE) -> int:
        with contextlib.suppress(OSError):
            assert self.process.stdin is not None
            self.process.stdin.close()
        try:
            return self.process.wait(timeout)
        finally:
            self.process.kill()
            self._errors.join(PATIENCE)


def text_of(result: dict[str, Any]) -> str:
    return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")


def ref_of(result: dict[str, Any]) -> str:
    found = REF.search(text_of(result))
    assert found is not None, text_of(result)[:500]
    return found[1]


def eventually(condition: Callable[[], Any], seconds: float = PATIENCE, what: str = "the condition") -> Any:
    """The first true value of `condition`, which another process brings about."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, f"{what} did not come true"
        time.sleep(0.01)
    return value


def least(attempt: Callable[[], float], enough: float) -> float:
    """The least of at most three measured durations; a busy machine only ever adds to one."""
    shortest = attempt()
    for _ in range(2):
        if shortest < enough:
            break
        shortest = min(shortest, attempt())
    return shortest


def listens(port: int) -> bool:
    """Whether somebody listens at this port of the loopback."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def is_alive(pid: int) -> bool:
    """Whether a process runs or holds anything; one that only waits to be reaped does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
