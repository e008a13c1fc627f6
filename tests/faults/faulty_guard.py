"""A guard that stops at one point of a call: the real composition root with a hook, run as a process by the tests.

`faulty_guard.py CONFIG` serves stdio. FAULT is `point:action`, FAULT_FOLDER a folder of the test. Nothing happens
until the file `armed` is there; then, at the first pass of the point, `kill` is SIGKILL to itself, and `pause` makes
the file `reached` and stands still until the file `release` is there. Never part of the product.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import anyio

from slimguard import config
from slimguard.serving import serve_stdio


def hook_of(fault: str, folder: Path):
    """What is called at each point."""
    wanted, _, action = fault.partition(":")
    lock = threading.Lock()

    def at(point: str) -> None:
        with (folder / "points.log").open("a") as log:
            log.write(point + "\n")
        if point != wanted or not (folder / "armed").exists():
            return
        with lock:
            if (folder / "reached").exists():
                return
            (folder / "reached").touch()
        if action == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if action == "pause":
            while not (folder / "release").exists():
                time.sleep(0.005)

    return at


def main() -> None:
    """Serve until the host hangs up."""
    settings = config.load(sys.argv[1], os.environ, str(Path.cwd()))
    hook = hook_of(os.environ.get("FAULT", ""), Path(os.environ["FAULT_FOLDER"]))
    anyio.run(serve_stdio, settings, hook)
    os._exit(0)


main()
