"""The suite's own modules, importable from the tests of this folder, which is no package."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import rig as rigs
import tasks


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., tuple[Any, Any]]]:
    """Start a guard before worlds; gives the rig and an agent."""
    made: list[Any] = []

    def begin(worlds: Any, transport: str = "stdio", mode: str = "compact", **section: Any) -> tuple[Any, Any]:
        folder = tmp_path / str(len(made))
        folder.mkdir()
        rig = rigs.Rig(folder, worlds, transport, mode, **section)
        made.append(rig)
        return rig, rigs.Agent(rig)

    yield begin
    for rig in made:
        rig.close()


@pytest.fixture
def suite() -> ModuleType:
    return tasks
