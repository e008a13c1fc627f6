"""Progress towards the host: all that came before the answer is passed on before it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import anyio.lowlevel
import pytest

from slimguard.host.progress import ProgressChannel

pytestmark = pytest.mark.anyio


class Session:
    """A host that takes a few turns of the loop for each message."""

    def __init__(self) -> None:
        self.seen: list[float] = []

    async def report_progress(self, progress: float, _total: float | None, _message: str | None) -> None:
        for _ in range(5):
            await anyio.lowlevel.checkpoint()
        self.seen.append(progress)


def channel(session: Session, **meta: Any) -> Any:
    return ProgressChannel(SimpleNamespace(meta=meta, session=session))  # type: ignore[arg-type]


async def test_progress_that_came_with_the_answer_reaches_the_host_before_it() -> None:
    session = Session()
    async with channel(session, progress_token="p") as progress:
        for step in (1, 2, 3):
            progress({"progress": step})
    assert session.seen == [1, 2, 3]


async def test_without_a_token_nothing_is_passed_on() -> None:
    session = Session()
    async with channel(session) as progress:
        progress({"progress": 1})
    assert session.seen == []
