"""The rig of the fault tests: a faulty guard before a faulty server, and what is known of the one call afterwards."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from raw_host import RawHost, eventually, is_alive

HERE = Path(__file__).resolve().parent
SERVERS = HERE.parent.parent / "fixtures" / "servers"
for folder in (HERE, SERVERS):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


class FaultRig:
    """One folder, one server behind one carrier, and the guards that are started before it."""

    def __init__(self, bench: Any, carrier: str) -> None:
        self.bench = bench
        self.carrier = carrier
        self.folder: Path = bench.folder
        self.server: subprocess.Popen[bytes] | None = None
        self.seen_children: set[int] = set()
        bench.section["timeouts"] = {"soft_seconds": 20}
        if carrier == "stdio":
            bench.servers["up"] = {
                "command": sys.executable,
                "args": [str(SERVERS / "faulty_stdio.py")],
                "env": {"FAULT_FOLDER": str(self.folder)},
            }
        else:
            self.start_server()

    def start_server(self, port: int = 0) -> None:
        command = [sys.executable, str(SERVERS / "faulty_http.py"), self.carrier.removeprefix("http-"), str(port)]
        environment = {**os.environ, "FAULT_FOLDER": str(self.folder)}
        self.server = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
        assert self.server.stdout is not None
        port = int(self.server.stdout.readline())
        self.bench.servers["up"] = {"type": "http", "url": f"http://127.0.0.1:{port}/mcp"}

    def guard(self, fault: str = "") -> Any:
        """A guard that has its tools and has not been called."""
        environment = {"FAULT": fault, "FAULT_FOLDER": str(self.folder)}
        command = [sys.executable, str(HERE / "faulty_guard.py"), str(self.bench.write())]
        written = self.lines("points.log").count("reply-written")
        host = RawHost(command, environment)
        self.bench.hosts.append(host)
        host.initialize()
        host.await_tool("up/act")
        # The host has a reply before the guard passes the point after it: that pass is not the call's.
        replies = written + host.last_id
        eventually(lambda: self.lines("points.log").count("reply-written") >= replies, what="the replies")
        return host

    # --- what the test does to the world ---

    def arm(self) -> None:
        (self.folder / "armed").touch()

    def await_reached(self) -> None:
        eventually((self.folder / "reached").exists, what="the point")

    def release(self) -> None:
        """Let the paused guard and the second half of the answer go on."""
        self.let_second_half()
        self.release_guard()

    def release_guard(self) -> None:
        """Let the paused guard go on, also one that has not yet got so far as to stand still."""
        (self.folder / "release").touch()

    def let_second_half(self) -> None:
        (self.folder / "second-half").touch()

    def upstream_pid(self) -> int:
        return int((self.folder / "upstream.pid").read_text().split()[-1])

    def kill_upstream(self) -> None:
        pid = self.upstream_pid()
        os.kill(pid, signal.SIGKILL)
        if self.server is not None:
            self.server.wait()
        eventually(lambda: not is_alive(pid), what="the end of the server")

    def drop_connection(self) -> None:
        os.kill(self.upstream_pid(), signal.SIGUSR1)
        eventually((self.folder / "dropped").exists, what="the drop")

    def note_children(self, host: Any) -> None:
        with contextlib.suppress(psutil.NoSuchProcess):
            self.seen_children |= {child.pid for child in psutil.Process(host.process.pid).children(recursive=True)}

    # --- what is known afterwards ---

    def lines(self, name: str) -> list[str]:
        """The whole lines of a file that another process may be adding to."""
        path = self.folder / name
        return path.read_text().rpartition("\n")[0].splitlines() if path.exists() else []

    def executed(self) -> int:
        """How often the side effect happened, by the server's own record."""
        return sum(json.loads(line)["name"] == "act" for line in self.lines("counter.jsonl"))

    def command(self, *arguments: str) -> bytes:
        command = [sys.executable, "-m", "slimguard", *arguments, "--config", str(self.bench.config)]
        return subprocess.run(command, capture_output=True, check=True, timeout=60).stdout

    def rows(self) -> list[dict[str, Any]]:
        return json.loads(self.command("results", "list", "--json"))

    def exported(self, ref: str) -> bytes:
        return self.command("results", "export", ref)

    def assert_no_orphans(self) -> None:
        eventually(lambda: not any(is_alive(pid) for pid in self.seen_children), 5, "the end of every child")

    def close(self) -> None:
        self.release()
        if self.server is not None:
            self.server.kill()
            self.server.wait()
            assert self.server.stdout is not None
            self.server.stdout.close()


@pytest.fixture
def fault_rig(bench: Any) -> Iterator[Callable[[str], FaultRig]]:
    """Makes the rig for a carrier: stdio, http-json or http-sse."""
    made: list[FaultRig] = []

    def make(carrier: str = "stdio") -> FaultRig:
        made.append(FaultRig(bench, carrier))
        return made[-1]

    yield make
    for rig in made:
        rig.close()
