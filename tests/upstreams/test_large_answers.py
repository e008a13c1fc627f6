"""A large answer costs a small multiple of its size in memory, and time in proportion, over each carrier."""

from __future__ import annotations

import json
import subprocess
import sys
from types import ModuleType

import pytest

MEASURE = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
import anyio, kit

class Forgetful(kit.MemoryLedger):
    async def keep(self, ref, answer, **more):
        row = await super().keep(ref, answer, **more)
        self.answers.clear()
        return row

def peak():
    status = open("/proc/self/status").read()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024, int(status.split("VmRSS:")[1].split()[0]) * 1024

async def main(carrier, sizes):
    async with kit.raw_server(carrier) as config, kit.running(config, ledger=Forgetful()) as rig:
        await rig.call("big", {"bytes": 1000})
        for size in sizes:
            before = peak()[1]
            open("/proc/self/clear_refs", "w").write("5")
            began = time.process_time()
            outcome = await rig.call("big", {"bytes": size})
            assert outcome.state == "stored", outcome.state
            del outcome
            print(json.dumps([size, time.process_time() - began, peak()[0] - before]), flush=True)

anyio.run(main, sys.argv[2], [int(size) for size in sys.argv[3:]])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
@pytest.mark.parametrize("carrier", ["stdio", "json", "sse", "legacy-sse"])
def test_an_answer_costs_at_most_four_times_its_size_and_time_in_proportion(
    carrier: str, upstream_kit: ModuleType
) -> None:
    sizes = ["8000000", "8000000", "40000000"]
    command = [sys.executable, "-c", MEASURE, str(upstream_kit.HERE), carrier, *sizes]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    _, small, large = [json.loads(line) for line in done.stdout.split("\n") if line]

    assert large[2] <= 4 * large[0], "memory"
    assert large[1] <= 5 * 4 * small[1] + 0.05, "time"
