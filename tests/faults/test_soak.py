"""The short form of `make soak`: some seconds of calls with random faults, judged by the servers' own records."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SOAK = Path(__file__).resolve().parents[2] / "benchmarks" / "soak.py"


def test_some_seconds_of_random_faults_run_nothing_twice_and_lose_no_answer():
    command = [sys.executable, str(SOAK), "--minutes", "0.25", "--seed", "7"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "double executions 0, lost answers 0, wrong bytes 0, false replies 0, orphans 0" in done.stdout
