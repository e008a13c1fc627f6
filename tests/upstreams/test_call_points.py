"""The numbered points of a call on the upstream's side: their order, and a server killed at each of them."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path
from types import ModuleType

import anyio
import psutil
import pytest

from raw_host import PATIENCE, is_alive
from slimguard.errors import UpstreamFailed
from slimguard.model import Outcome

pytestmark = pytest.mark.anyio
POINTS = ["before-write", "half-written", "after-flush", "half-response", "response-received"]


@pytest.mark.parametrize("carrier", ["stdio", "json", "sse", "legacy-sse"])
async def test_the_points_come_in_their_order(carrier: str, upstream_kit: ModuleType, tmp_path: Path) -> None:
    log = tmp_path / "executed"
    log.touch()
    seen: list[tuple[str, bool]] = []

    def at(point: str) -> None:
        seen.append((point, bool(log.read_text())))

    async with upstream_kit.raw_server(carrier, log=log) as config, upstream_kit.running(config, at=at) as rig:
        await rig.call("plain")

    assert list(dict.fromkeys(point for point, _ in seen)) == POINTS
    assert [executed for point, executed in seen if point in ("before-write", "half-written")] == [False, False]


@pytest.mark.parametrize("point", POINTS)
async def test_a_server_killed_at_a_point_executed_at_most_once_and_the_next_call_works(
    point: str, upstream_kit: ModuleType, tmp_path: Path
) -> None:
    log = tmp_path / "executed"
    log.touch()
    victims: list[int] = []

    def at(reached: str) -> None:
        if reached == point and not victims:
            victims.extend(pid for pid, text in _servers() if "raw_stdio.py" in text)
            for pid in victims:
                os.kill(pid, signal.SIGKILL)

    outcome: Outcome | None = None
    error: UpstreamFailed | None = None
    async with upstream_kit.running(upstream_kit.raw_stdio(log=log), at=at) as rig:
        try:
            outcome = await rig.call("echo", {"call": "first"})
        except UpstreamFailed as refused:
            error = refused
        with anyio.fail_after(PATIENCE):
            while any(map(is_alive, victims)):
                await anyio.sleep(0.01)
        first = log.read_text().split()
        after = await rig.call("echo", {"call": "second"})

    assert len(victims) == 1
    assert error is None or error.ran == "no"
    assert len(first) <= 1
    assert after.state == "stored"
    assert len(log.read_text().split()) == len(first) + 1
    if first and outcome is not None:
        assert outcome.ran in ("yes", "unknown")
    if point == "response-received":
        assert outcome is not None
        assert outcome.state == "stored"


@pytest.mark.parametrize("point", POINTS)
async def test_a_trap_at_a_point_leaves_a_state_behind_and_no_second_call(
    point: str, upstream_kit: ModuleType, tmp_path: Path
) -> None:
    log = tmp_path / "executed"
    log.touch()
    sprung: list[str] = []

    def at(reached: str) -> None:
        if reached == point and not sprung:
            sprung.append(reached)
            raise RuntimeError("a fault at this point")

    async with upstream_kit.running(upstream_kit.raw_stdio(log=log), at=at) as rig:
        outcome = await rig.call("echo", call_seconds=2.0)
        executed = len(log.read_text().split())
        after = await rig.call("plain")

    assert outcome.state in ("unknown", "failed", "stored")
    assert executed <= 1
    assert after.state == "stored"


def _servers() -> list[tuple[int, str]]:
    """Living children and their command lines."""
    living: list[tuple[int, str]] = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):
            living.append((child.pid, " ".join(child.cmdline())))
    return living
