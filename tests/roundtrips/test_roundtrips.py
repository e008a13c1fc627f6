"""Read, change, write back through the guard's tools alone: the servers' state to the byte, one run a call."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from sys import path

import pytest

path.insert(0, str(Path(__file__).resolve().parent))

from tasks import TASKS


@pytest.mark.parametrize("mode", ["compact", "native"])
@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_the_state_is_right_to_the_byte_and_each_call_ran_once(start, task, transport, mode):
    rig, agent = start(task.worlds, transport, mode, **task.section)
    task.script(agent)
    task.check(rig)
    ran = Counter(item["name"] for world in task.worlds for item in rig.executions(world))
    assert dict(ran) == task.runs
