"""Every case of fixtures/results is captured byte for byte, over each carrier, and nothing hangs or dies of one."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import pytest

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["stdio", "json", "sse", "legacy-sse"])
async def rig(request: pytest.FixtureRequest, upstream_kit: ModuleType, tmp_path: Path) -> AsyncGenerator[Any, None]:
    log = tmp_path / "executed"
    log.touch()
    async with upstream_kit.raw_server(request.param, log=log) as config, upstream_kit.running(config) as running:
        running.carrier, running.log = request.param, log
        yield running


async def test_every_answer_is_kept_as_the_bytes_that_were_sent(rig: Any, upstream_kit: ModuleType) -> None:
    wrong: list[str] = []
    asked: list[str] = []
    for case in upstream_kit.CASES.values():
        if case.pretty and rig.carrier == "stdio":
            continue
        asked.append(case.name)
        outcome = None
        with anyio.move_on_after(60):
            outcome = await rig.call(case.name)
        if outcome is None:
            wrong.append(f"{case.name}: no answer in 60 s")
            continue
        identities = [str(number).encode() for number in range(1, len(asked) + 20)]
        expected = {case.kept(identity) for identity in identities}
        kept = rig.ledger.answers.get(outcome.ref)
        if kept is None or kept.kind != case.kind or kept.raw not in expected:
            wrong.append(f"{case.name}: {outcome.state} {outcome.reason} {kept and (kept.kind, kept.raw[:200])}")
        elif outcome.stored.is_error != case.is_error:
            wrong.append(f"{case.name}: is_error is {outcome.stored.is_error}")
    assert wrong == []
    assert rig.log.read_text().split() == asked, "each call was executed once, in order, by one process"


def test_there_are_enough_cases_and_each_says_why(upstream_kit: ModuleType) -> None:
    cases = upstream_kit.CASES.values()

    assert len(cases) >= 60
    assert all(case.why for case in cases)
    assert {case.kind for case in cases} == {"result", "error", "illegal"}
