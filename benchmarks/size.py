"""Large results through the real pipe: time relative to reading the same bytes raw, and the guard's peak memory.

`python benchmarks/size.py [--sizes 1,10,100] [--kind lines|records] [--runs 3]` prints one line a size and exits with
1 when a bound is broken at the largest size: peak (VmHWM) at most 4 times the message, time at most 15 times raw, and
time linear from the smallest to the largest. The raw time is the time from the same request to the last byte of the
same answer, read from the same server without a guard; the message is made before the request in both cases.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MEMORY_BOUND = 4.0
TIME_BOUND = 15.0
LINEAR_BOUND = 2.0
"""Seconds a byte at the largest size may be at most so many times those at ten megabytes."""


@dataclass(frozen=True, slots=True)
class Figures:
    """One size: bytes of the message, seconds raw and guarded, resident bytes before and at the peak."""

    size: int
    raw: float
    guarded: float
    read: float
    before: int
    called: int
    """Peak after the call."""
    peak: int
    """Peak after a read of a few of its bytes as well."""


def text_of(kind: str, size: int) -> str:
    """About `size` bytes of text, as it stands in the message."""
    if kind == "lines":
        line = "2026-01-01 12:00:00 INFO worker: handled request in 12 ms\\n"
        return line * (size // len(line))
    record = '{\\"id\\":12345,\\"name\\":\\"a name of a thing\\",\\"price\\":12.5,\\"tags\\":[\\"a\\",\\"b\\"]}'
    return "[" + ",".join([record] * (size // (len(record) + 1))) + "]"


def serve(kind: str, size: int) -> None:
    """A server whose one answer is ready before it is asked."""
    body = ('"result":{"content":[{"type":"text","text":"' + text_of(kind, size) + '"}]}}\n').encode()
    for line in sys.stdin.buffer:
        message = json.loads(line)
        method, identity = message.get("method"), message.get("id")
        if method == "tools/call" and not message["params"].get("arguments"):
            sys.stdout.buffer.write(b'{"jsonrpc":"2.0","id":%d,' % identity + body)
        elif method == "tools/call":
            _say(identity, {"content": []})
        elif method == "initialize":
            info = {"name": "size", "version": "1"}
            _say(identity, {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info})
        elif method == "tools/list":
            _say(identity, {"tools": [{"name": "big", "inputSchema": {"type": "object"}}]})
        elif identity is not None:
            error = {"code": -32601, "message": "Method not found"}
            sys.stdout.buffer.write(json.dumps({"jsonrpc": "2.0", "id": identity, "error": error}).encode() + b"\n")
        sys.stdout.buffer.flush()


def _say(identity: int, result: object) -> None:
    sys.stdout.buffer.write(json.dumps({"jsonrpc": "2.0", "id": identity, "result": result}).encode() + b"\n")


class Line:
    """A JSON-RPC conversation over the pipes of a command."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.last = 0

    def ask(self, method: str, **params: object) -> bytes:
        """The answer's line."""
        self.last += 1
        message = {"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        while True:
            line = self._line()
            if b'"method"' not in line[:60]:
                return line

    def _line(self) -> bytes:
        """One line in large reads: the raw time is to be what a good reader needs."""
        parts: list[bytes] = []
        while not parts or not parts[-1].endswith(b"\n"):
            part = os.read(self.process.stdout.fileno(), 1 << 20)
            if not part:
                raise RuntimeError("the other side is gone")
            parts.append(part)
        return b"".join(parts)

    def start(self) -> None:
        """The handshake."""
        client = {"name": "size", "version": "1"}
        self.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)

    def close(self) -> None:
        """End it."""
        self.process.stdin.close()
        self.process.wait(20)
        self.process.stdout.close()


def memory(pid: int) -> tuple[int, int]:
    """Resident bytes now, and at the peak."""
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return tuple(int(fields[name].split()[0]) * 1024 for name in ("VmRSS", "VmHWM"))


def raw_seconds(command: list[str]) -> tuple[float, int]:
    """The best time of reading the answer without a guard, and its bytes."""
    line = Line(command)
    line.start()
    best, size = float("inf"), 0
    for _ in range(3):
        began = time.perf_counter()
        size = len(line.ask("tools/call", name="big"))
        best = min(best, time.perf_counter() - began)
    line.close()
    return best, size


def measure(kind: str, size: int) -> Figures:
    """One size, in fresh processes."""
    command = [sys.executable, __file__, "--serve", kind, str(size)]
    raw, length = raw_seconds(command)
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "slimguard.json"
        store = {"path": str(Path(folder) / "store" / "results.db")}
        servers = {"up": {"command": command[0], "args": command[1:]}}
        config.write_text(json.dumps({"mcpServers": servers, "slimguard": {"store": store}}))
        guard = Line([sys.executable, "-m", "slimguard", "serve", "--config", str(config)])
        guard.start()
        for _ in range(2):
            guard.ask("tools/call", name="call_tool", arguments={"tool_ref": "up/big", "arguments": {"small": True}})
        before, _ = memory(guard.process.pid)
        began = time.perf_counter()
        answer = json.loads(guard.ask("tools/call", name="call_tool", arguments={"tool_ref": "up/big"}))
        guarded = time.perf_counter() - began
        _, peak = memory(guard.process.pid)
        text = answer["result"]["content"][0]["text"]
        ref = text.partition("result_ref=")[2].split()[0]
        began = time.perf_counter()
        guard.ask("tools/call", name="read_result", arguments={"result_ref": ref, "query": "bytes:1000-2000"})
        read = time.perf_counter() - began
        after = memory(guard.process.pid)[1]
        guard.close()
    if len(answer["result"]["content"][0]["text"]) > 20_000:
        raise RuntimeError("the view is too large")
    return Figures(length, raw, guarded, read, before, peak, after)


def row(found: Figures) -> str:
    """One line of the report."""
    mega = 1024 * 1024
    return (
        f"{found.size / mega:6.1f} MB  raw {found.raw:.3f} s  guarded {found.guarded:.3f} s"
        f" ({found.guarded / found.raw:.1f}x)  a read {found.read:.3f} s  memory before {found.before / mega:.0f} MB,"
        f" peak of the call {found.called / mega:.0f} MB ({found.called / found.size:.1f}x),"
        f" with a read {found.peak / mega:.0f} MB ({found.peak / found.size:.1f}x)"
    )


def main() -> int:
    """Measure and judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", nargs=2, metavar=("KIND", "BYTES"))
    parser.add_argument("--sizes", default="1,10,100", help="megabytes, separated by commas")
    parser.add_argument("--kind", default="lines", choices=("lines", "records"))
    parser.add_argument("--runs", type=int, default=1, help="the best of so many counts")
    options = parser.parse_args()
    if options.serve:
        serve(options.serve[0], int(options.serve[1]))
        return 0
    found = []
    for size in (int(float(part) * 1024 * 1024) for part in options.sizes.split(",")):
        runs = [measure(options.kind, size) for _ in range(options.runs)]
        found.append(min(runs, key=lambda one: one.guarded / one.raw))
        print(row(found[-1]), flush=True)
    last = found[-1]
    middle = min(found, key=lambda one: abs(one.size - 10 * 1024 * 1024))
    linear = (last.guarded / last.size) / (middle.guarded / middle.size)
    print(f"seconds a byte at the largest size are {linear:.2f} times those at {middle.size / 1024 / 1024:.0f} MB")
    broken = last.peak > MEMORY_BOUND * last.size or last.guarded > TIME_BOUND * last.raw or linear > LINEAR_BOUND
    print("a bound is broken" if broken else "within the bounds")
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
