"""A raw MCP client over a real stdio pipe: what was sent and received, whole; never a library's reading of it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SERVERS = ROOT / "fixtures" / "servers"
LEGACY = "2025-11-25"
MODERN = "2026-07-28"
REF = re.compile(r"result_ref=(r[0-9a-z]{14})")
CURSOR = re.compile(r'cursor="([^"]+)"')
_META = "io.modelcontextprotocol/"


def compact(value: Any) -> str:
    """Compact JSON, as all counts are made."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: its result, the line it came in, and the seconds it took."""

    result: dict[str, Any]
    line: bytes
    seconds: float

    @property
    def text(self) -> str:
        """The text blocks, joined."""
        blocks = self.result.get("content", [])
        return "\n".join(block["text"] for block in blocks if block.get("type") == "text")


class Peer:
    """A process that speaks MCP over its stdin and stdout, and the client's side of it."""

    def __init__(
        self, command: Sequence[str], *, era: str = LEGACY, env: Mapping[str, str] | None = None, client: str = "bench"
    ) -> None:
        self.era, self.client, self.last_id = era, client, 0
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **(env or {})},
            cwd=str(ROOT),
        )

    def open(self) -> Peer:
        """The handshake of this era."""
        if self.era == MODERN:
            self.request("server/discover")
            return self
        info = {"name": self.client, "version": "1"}
        self.request("initialize", {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": info})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def send(self, message: Mapping[str, Any]) -> None:
        """Write one message."""
        assert self.process.stdin is not None
        self.process.stdin.write(compact(message).encode("utf-8", "surrogatepass") + b"\n")
        self.process.stdin.flush()

    def post(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        """Send a request without waiting for its answer; its id."""
        self.last_id += 1
        given = dict(params or {})
        if self.era == MODERN:
            given["_meta"] = {
                f"{_META}protocolVersion": MODERN,
                f"{_META}clientInfo": {"name": self.client, "version": "1"},
                f"{_META}clientCapabilities": {},
            }
        self.send({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": given})
        return self.last_id

    def receive(self) -> bytes:
        """The line of the next answer, notifications passed over; not parsed, so that parsing is not measured."""
        assert self.process.stdout is not None
        while line := self.process.stdout.readline():
            if b'"method"' not in line[:200] or "method" not in json.loads(line):
                return line
        raise RuntimeError(f"{self.process.args} closed its output")

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> Answer:
        """One request and its answer; raises when the answer is an error."""
        began = time.perf_counter()
        identifier = self.post(method, params)
        line = self.receive()
        seconds = time.perf_counter() - began
        message = json.loads(line)
        if message.get("id") != identifier or "result" not in message:
            raise RuntimeError(f"{method}: {compact(message)[:500]}")
        return Answer(message["result"], line, seconds)

    def call(self, name: str, arguments: Mapping[str, Any]) -> Answer:
        """One `tools/call`."""
        return self.request("tools/call", {"name": name, "arguments": arguments})

    def close(self) -> None:
        """Hang up, and wait for the process to leave."""
        with contextlib.suppress(OSError):
            assert self.process.stdin is not None
            self.process.stdin.close()
        try:
            self.process.wait(10)
        finally:
            self.process.kill()
            self.process.wait()

    def __enter__(self) -> Peer:
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()


def script(name: str) -> list[str]:
    """The command of one of the benchmark upstreams."""
    return [sys.executable, str(SERVERS / f"{name}.py")]


def guard_command(folder: Path, servers: Mapping[str, Any], **own: Any) -> list[str]:
    """The command of a guard before `servers`, with its configuration and store in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "slimguard.json"
    own.setdefault("store", {"path": str(folder / "store" / "results.db")})
    path.write_text(compact({"mcpServers": servers, "slimguard": own}), encoding="utf-8")
    return [sys.executable, "-m", "slimguard", "serve", "--config", str(path)]


def server(name: str, *arguments: str, **env: str) -> dict[str, Any]:
    """The `mcpServers` entry of one of the benchmark upstreams."""
    command, *rest = script(name)
    return {"command": command, "args": [*rest, *arguments], "env": env}


def pages(peer: Peer, ref: str, query: str) -> Iterator[tuple[dict[str, Any], Answer]]:
    """All pages of one query, by the literal cursor of each footer: the request and the answer of each."""
    cursor = ""
    while True:
        request: dict[str, Any] = {"result_ref": ref, "query": query}
        if cursor:
            request["cursor"] = cursor
        answer = peer.call("read_result", request)
        if answer.result.get("isError"):
            raise RuntimeError(answer.text[:500])
        yield request, answer
        found = CURSOR.search(answer.text.rpartition("\n")[2])
        if found is None:
            return
        cursor = found[1]


def body(answer: Answer) -> str:
    """A page without its header and footer lines."""
    return answer.text.partition("\n")[2].rpartition("\n")[0]


def settled(peer: Peer, query: str) -> None:
    """Wait until the guard's upstreams are connected."""
    peer.call("find_tool", {"query": query})
