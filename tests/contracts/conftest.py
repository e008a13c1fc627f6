"""Implementations that the contract suites run on, and the values that they are given."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from slimguard import canonical
from slimguard.model import Execution, Tool
from slimguard.settings import StoreSettings
from slimguard.store import Store

DEFINITION = {"name": "read_log", "inputSchema": {"type": "object"}}


@dataclass
class SetClock:
    """A wall clock that a test moves; the rest is real."""

    at: float = field(default_factory=time.time)

    def now(self) -> float:
        return self.at

    def monotonic(self) -> float:
        return time.monotonic()

    def random_bytes(self, count: int) -> bytes:
        return os.urandom(count)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def execution(clock: SetClock) -> Callable[..., Execution]:
    """Make an intended call of `owner` in `scope` that lives for `ttl` seconds."""

    def make(owner: str = "ada", scope: str = "here", ttl: float = 1000.0) -> Execution:
        tool = Tool("logs", "read_log", DEFINITION, canonical.definition_digest(DEFINITION))
        return Execution(
            ref=canonical.make_ref(os.urandom(canonical.REF_RANDOM_BYTES)),
            owner=owner,
            scope=scope,
            tool=tool,
            arguments={"path": "/x"},
            arguments_digest="0" * 64,
            created_at=clock.now(),
            expires_at=clock.now() + ttl,
            call_seconds=60.0,
        )

    return make


@pytest.fixture(params=["sqlite"])
async def open_store(request: pytest.FixtureRequest, tmp_path: Path, clock: SetClock):
    """Open a store on the same place each time; stores that a test leaves open are closed after it.

    Another implementation joins the suite with a name in `params` and its constructor here.
    """
    assert request.param == "sqlite"
    opened: list[Store] = []

    def make(quota: int = 1 << 30) -> Store:
        store = Store(StoreSettings(str(tmp_path / "state" / "results.db"), quota_bytes=quota), clock)
        opened.append(store)
        return store

    yield make
    for store in opened:
        await store.close()
