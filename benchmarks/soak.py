"""A soak: random faults for minutes around real guards and servers, judged by the servers' own durable records.

`python benchmarks/soak.py [--minutes 20] [--seed 1]`. Calls of side-effecting tools run on three servers (two over
stdio, one over HTTP events) while servers are killed and dropped, calls are cancelled, and the guard is hung up on or
killed. Exits with 1 when a call ran twice, an answer was lost, a byte is wrong, or memory, file handles or children
grew in the longest-lived guard.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import queue
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parent.parent
SERVERS = ROOT / "fixtures" / "servers"
sys.path[:0] = [str(ROOT), str(SERVERS)]

import faulty_common  # noqa: E402

from slimguard import policy  # noqa: E402

GROWTH_BYTES = 48 * 1024 * 1024
"""Resident memory may differ by so much between two quiet moments of one guard: the caches fill within it."""
GROWTH_HANDLES = 6
SAMPLES = 4
"""Fewer quiet moments do not tell growth from caches that fill and servers that are started."""
QUOTA_BYTES = 1 << 36
"""Out of reach: what a quota evicts is gone on purpose, and no lost answer."""
IN_FLIGHT = 6
NAMES = ("a", "b", "web")


@dataclass
class Call:
    """One call that was asked for; `excused` says why its answer may be missing."""

    server: str
    arguments: dict[str, Any]
    generation: int
    reply: dict[str, Any] | None = None
    excused: str = ""


@dataclass
class Guard:
    """A running guard and what waits for its replies."""

    process: subprocess.Popen[bytes]
    waiting: dict[int, Call] = field(default_factory=dict)
    last: int = 0
    samples: list[tuple[int, int, int]] = field(default_factory=list)
    calls: int = 0
    box: queue.Queue[dict[str, Any]] = field(default_factory=queue.Queue)

    def post(self, method: str, params: dict[str, Any]) -> int:
        """Send a request; its id."""
        self.last += 1
        self.write({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        return self.last

    def write(self, message: dict[str, Any]) -> None:
        """Send a line; a guard that is gone takes none."""
        with contextlib.suppress(OSError):
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()

    def listen(self) -> None:
        """Put every answer into the box."""
        for line in self.process.stdout:
            with contextlib.suppress(ValueError):
                message = json.loads(line)
                if "method" not in message:
                    self.box.put(message)

    def sample(self) -> None:
        """Memory, handles and children at a quiet moment."""
        process = psutil.Process(self.process.pid)
        children = len(process.children(recursive=True))
        self.samples.append((process.memory_info().rss, process.num_fds(), children))


class Soak:
    """The whole run."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.random = random.Random(seed)
        self.calls: list[Call] = []
        self.generation = 0
        self.faults: Counter[str] = Counter()
        self.oldest: Guard | None = None
        self.web: subprocess.Popen[bytes] | None = None
        self.port = 0
        for name in NAMES:
            (folder / name).mkdir()
        self.start_web()
        self.config = folder / "slimguard.json"
        servers: dict[str, Any] = {
            name: {
                "command": sys.executable,
                "args": [str(SERVERS / "faulty_stdio.py")],
                "env": {"FAULT_FOLDER": str(folder / name)},
            }
            for name in ("a", "b")
        }
        servers["web"] = {"type": "http", "url": f"http://127.0.0.1:{self.port}/mcp"}
        store = {"path": str(folder / "store" / "results.db"), "quota_bytes": QUOTA_BYTES}
        self.config.write_text(json.dumps({"mcpServers": servers, "slimguard": {"store": store}}))
        self.guard = self.start_guard()

    def start_web(self) -> None:
        """Start the HTTP server, on the same port as before."""
        command = [sys.executable, str(SERVERS / "faulty_http.py"), "sse", str(self.port)]
        environment = {**os.environ, "FAULT_FOLDER": str(self.folder / "web")}
        self.web = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
        self.port = int(self.web.stdout.readline())

    def start_guard(self) -> Guard:
        """A guard that has its tools."""
        self.generation += 1
        command = [sys.executable, "-m", "slimguard", "serve", "--config", str(self.config)]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=ROOT
        )
        guard = Guard(process)
        threading.Thread(target=guard.listen, daemon=True).start()
        client = {"name": "soak", "version": "1"}
        guard.post("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
        guard.box.get(timeout=60)
        for name in NAMES:
            guard.post("tools/call", {"name": "find_tool", "arguments": {"query": f"{name}/act"}})
            guard.box.get(timeout=60)
        return guard

    # --- one step ---

    def step(self) -> None:
        """A call, or something bad, then whatever has been answered."""
        chance = self.random.random()
        if chance < 0.90 and len(self.guard.waiting) < IN_FLIGHT:
            self.call()
        elif chance < 0.94 and self.guard.waiting:
            self.cancel()
        elif chance < 0.97:
            self.hurt_server()
        elif chance < 0.98:
            self.end_guard()
        self.take(0.05 if len(self.guard.waiting) < IN_FLIGHT else 0.5)
        if self.guard.calls and self.guard.calls % 100 == 0:
            self.guard.calls += 1
            self.quiet()
            self.guard.sample()

    def call(self) -> None:
        """Ask for something that cannot be undone."""
        server = self.random.choice(NAMES)
        size = self.random.choice((0, 0, 500, 5_000, 50_000, 400_000))
        arguments: dict[str, Any] = {"text": f"call {len(self.calls)}", "size": size}
        if self.random.random() < 0.3:
            arguments["delay"] = round(self.random.random() * 0.4, 3)
        call = Call(server, arguments, self.generation)
        self.calls.append(call)
        given = {"tool_ref": f"{server}/act", "arguments": arguments}
        self.guard.waiting[self.guard.post("tools/call", {"name": "call_tool", "arguments": given})] = call
        self.guard.calls += 1

    def cancel(self) -> None:
        """The host takes a call back; its answer must be stored all the same, if it was sent."""
        identity = self.random.choice(list(self.guard.waiting))
        self.guard.waiting.pop(identity)
        self.faults["cancelled"] += 1
        params = {"requestId": identity}
        self.guard.write({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})

    def hurt_server(self) -> None:
        """Kill a server, or drop its connections."""
        name = self.random.choice(NAMES)
        kind = self.random.choice(("server killed", "connection dropped"))
        pids = (self.folder / name / "upstream.pid").read_text().split() if self.folder else []
        self.excuse(name, kind)
        self.faults[kind] += 1
        number = signal.SIGKILL if kind == "server killed" else signal.SIGUSR1
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(pids[-1]), number)
        if name == "web" and kind == "server killed":
            self.web.wait()
            self.web.stdout.close()
            self.start_web()

    def end_guard(self) -> None:
        """Hang up on the guard, or kill it, and start another."""
        guard = self.guard
        kind = self.random.choice(("guard killed", "host gone"))
        self.faults[kind] += 1
        if kind == "guard killed":
            self.excuse(None, kind)
            guard.process.kill()
        began = time.monotonic()
        self.retire(guard)
        if time.monotonic() - began >= policy.SHUTDOWN_SECONDS:
            self.excuse(None, "the grace was over")
        self.guard = self.start_guard()

    def retire(self, guard: Guard) -> None:
        """Wait for the end of a guard and of its children."""
        with contextlib.suppress(psutil.NoSuchProcess):
            children = psutil.Process(guard.process.pid).children(recursive=True)
            with contextlib.suppress(OSError):
                guard.process.stdin.close()
            guard.process.wait(60)
            _, alive = psutil.wait_procs(children, timeout=5)
            self.faults["ORPHANS"] += len(alive)
        guard.process.wait(60)
        if self.oldest is None or guard.calls > self.oldest.calls:
            self.oldest = guard

    def excuse(self, server: str | None, why: str) -> None:
        """Calls in flight may lose their answer now: the bytes were nowhere but on the way."""
        for call in self.calls[-40:]:
            if call.reply is None and call.generation == self.generation and server in (None, call.server):
                call.excused = why

    def take(self, seconds: float) -> None:
        """Take the answers that are there."""
        with contextlib.suppress(queue.Empty):
            while True:
                message = self.guard.box.get(timeout=seconds)
                seconds = 0.001
                call = self.guard.waiting.pop(message.get("id"), None)
                if call is not None:
                    call.reply = message.get("result") or {"isError": True, "error": message.get("error")}

    def quiet(self) -> None:
        """Wait until nothing is in flight."""
        end = time.monotonic() + 60
        while self.guard.waiting and time.monotonic() < end:
            self.take(0.5)
        time.sleep(0.6)  # cancelled calls are answered within this: what is measured is a quiet guard

    # --- the verdict ---

    def judge(self) -> dict[str, Any]:
        """Compare what the servers did, what the hosts were told, and what is stored."""
        executed: Counter[str] = Counter()
        answered: set[str] = set()
        for name in NAMES:
            executed.update(json.loads(line)["arguments"]["text"] for line in self.lines(name, "counter.jsonl"))
            answered.update(self.lines(name, "answered.log"))
        stored = asyncio.run(stored_bytes(self.config))
        by_text = {call.arguments["text"]: call for call in self.calls}
        texts: dict[str, bytes] = {}
        wrong = 0
        for raw in stored:
            text = json.loads(raw)["content"][-1]["text"]
            texts[text] = raw
            wrong += raw != faulty_common.result_of(by_text[text].arguments)
        lost = [text for text in answered if text not in texts and not by_text[text].excused]
        lies = sum(self.is_lie(call, executed) for call in self.calls)
        return {
            "calls": len(self.calls),
            "executed": len(executed),
            "stored": len(texts),
            "double executions": sum(count > 1 for count in executed.values()),
            "lost answers": len(lost),
            "wrong bytes": wrong,
            "false replies": lies,
        }

    def is_lie(self, call: Call, executed: Counter[str]) -> bool:
        """Whether the host was told something that the server's record refutes."""
        if call.reply is None:
            return False
        text = json.dumps(call.reply)
        ran = executed[call.arguments["text"]]
        if not call.reply.get("isError"):
            return ran != 1
        return ("tool ran: no" in text and ran > 0) or ("tool ran: yes" in text and ran != 1)

    def lines(self, name: str, file: str) -> list[str]:
        """Lines of a server's record."""
        path = self.folder / name / file
        return path.read_text().splitlines() if path.exists() else []


async def stored_bytes(config: Path) -> list[bytes]:
    """All stored results, read and verified through the store."""
    from slimguard import config as configuration
    from slimguard.clock import SystemClock, os_user
    from slimguard.store import Store

    settings = configuration.load(str(config), os.environ, str(config.parent))
    store = Store(settings.store, SystemClock())
    found: list[bytes] = []
    for row in await store.list_calls(os_user(), settings.scope, 1_000_000):
        if row.state == "stored":
            reader = await store.open(row.ref, os_user())
            found.append(reader.read(0, row.size or 0))
            reader.close()
    await store.close()
    return found


def growth(guard: Guard | None) -> tuple[list[str], bool]:
    """What the longest-lived guard held at most in the first half of its quiet moments and at the last: is it more?"""
    if guard is None or len(guard.samples) < SAMPLES:
        return ["too short to tell growth"], False
    earlier, last = guard.samples[: len(guard.samples) // 2], guard.samples[-1]
    first = tuple(map(max, zip(*earlier, strict=True)))
    mega = 1024 * 1024
    held = f"memory {first[0] / mega:.0f} -> {last[0] / mega:.0f} MB, handles {first[1]} -> {last[1]}"
    lines = [f"longest-lived guard, {guard.calls} calls: {held}, children {first[2]} -> {last[2]}"]
    grew = last[0] - first[0] > GROWTH_BYTES or last[1] - first[1] > GROWTH_HANDLES or last[2] > first[2] + 2
    return lines, grew


def main() -> int:
    """Run and judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(Path(folder), options.seed)
        end = time.monotonic() + options.minutes * 60
        while time.monotonic() < end:
            soak.step()
        soak.quiet()
        soak.guard.sample()
        soak.retire(soak.guard)
        soak.web.kill()
        soak.web.wait()
        soak.web.stdout.close()
        verdict = soak.judge()
    verdict["orphans"] = soak.faults.pop("ORPHANS", 0)
    lines, grew = growth(soak.oldest)
    print(", ".join(f"{name} {count}" for name, count in verdict.items()))
    print("faults: " + ", ".join(f"{name} {count}" for name, count in sorted(soak.faults.items())))
    print("\n".join(lines))
    bad = ("double executions", "lost answers", "wrong bytes", "false replies", "orphans")
    return int(grew or any(verdict[name] for name in bad))


if __name__ == "__main__":
    sys.exit(main())
