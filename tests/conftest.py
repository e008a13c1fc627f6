"""Fixtures that more than one folder of tests uses: a raw host over real pipes, guards on real servers, stores."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from slimguard.settings import StoreSettings
from slimguard.store import Store

sys.path.insert(0, str(Path(__file__).resolve().parent))

from raw_host import PATIENCE, RawHost, eventually, is_alive, ref_of, text_of

# The same examples in every run and no clock: what is red is red for everybody. `--hypothesis-profile explore` seeks more.
SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large)
settings.register_profile("explore", deadline=None, suppress_health_check=SLOW)
settings.register_profile("fixed", settings.get_profile("explore"), derandomize=True, database=None, print_blob=True)
settings.load_profile("fixed")

SERVERS = Path(__file__).resolve().parent.parent / "fixtures" / "servers"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Bench:
    """A folder with a configuration, a counter file, and the hosts that were started on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.hosts: list[RawHost] = []
        self.servers: dict[str, Any] = {}
        self.section: dict[str, Any] = {"store": {"path": str(folder / "store" / "results.db")}}
        self.environment: dict[str, str] = {}

    @property
    def counter(self) -> Path:
        return self.folder / "counter.jsonl"

    @property
    def config(self) -> Path:
        return self.folder / "slimguard.json"

    def calls(self, name: str | None = None) -> list[dict[str, Any]]:
        """What the counting server really executed."""
        if not self.counter.exists():
            return []
        whole = self.counter.read_text().rpartition("\n")[0]
        found = [json.loads(line) for line in whole.splitlines()]
        return [item for item in found if name is None or item["name"] == name]

    def counting(self, name: str = "count", **env: str) -> None:
        """Add the counting server."""
        self.servers[name] = {
            "command": sys.executable,
            "args": [str(SERVERS / "counting.py")],
            "env": {"COUNTER_FILE": str(self.counter), **env},
        }

    def write(self) -> Path:
        self.config.write_text(json.dumps({"mcpServers": self.servers, "slimguard": self.section}))
        return self.config

    def host(self, *arguments: str, initialize: bool = True, name: str = "raw-host") -> RawHost:
        command = [sys.executable, "-m", "slimguard", "serve", "--config", str(self.write()), *arguments]
        host = RawHost(command, self.environment)
        self.hosts.append(host)
        if initialize:
            host.initialize(name)
        return host

    def close(self) -> None:
        for host in self.hosts:
            with contextlib.suppress(subprocess.TimeoutExpired):
                host.close()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.close()


@pytest.fixture
def guard(bench: Bench) -> Callable[[], RawHost]:
    """A guard before the counting server, started and initialised."""

    def start() -> RawHost:
        bench.counting()
        return bench.host()

    return start


@pytest.fixture
def helpers() -> Any:
    """The functions of raw_host.py, for tests that import nothing of their own."""
    return SimpleNamespace(
        RawHost=RawHost, text_of=text_of, ref_of=ref_of, eventually=eventually, is_alive=is_alive, PATIENCE=PATIENCE
    )


@pytest.fixture
def until() -> Callable[..., Any]:
    return eventually


@pytest.fixture
def free_port() -> Iterator[Callable[[], int]]:
    """Gives ports of the loopback that nobody else is given: each stays bound, without listening, as long as the test."""
    with contextlib.ExitStack() as kept:

        def take() -> int:
            held = kept.enter_context(socket.socket())
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            held.bind(("127.0.0.1", 0))
            return int(held.getsockname()[1])

        yield take


@pytest.fixture
def upstream_kit() -> ModuleType:
    """The kit of the upstream tests, loaded by path: fixtures are no package."""
    name = "upstream_kit_module"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, SERVERS / "kit.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


@dataclass
class SetClock:
    """A wall clock that a test moves; the rest is real."""

    at: float = field(default_factory=time.time)
    monotonic = staticmethod(time.monotonic)
    random_bytes = staticmethod(os.urandom)

    def now(self) -> float:
        return self.at


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where `open_store` opens stores."""
    return tmp_path / "state" / "results.db"


@pytest.fixture
async def open_store(path: Path, clock: SetClock) -> AsyncIterator[Callable[..., Store]]:
    """Open a store on the same place each time; stores that a test leaves open are closed after it."""
    opened: list[Store] = []

    def make(where: Path | None = None, *, quota: int = 1 << 30, **options: Any) -> Store:
        opened.append(Store(StoreSettings(str(where or path), quota_bytes=quota), clock, **options))
        return opened[-1]

    yield make
    for store in opened:
        await store.close()
