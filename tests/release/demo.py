"""Runs `slimguard demo --json` of an installed slimguard and checks each step. Usage: demo.py PROGRAM"""

from __future__ import annotations

import json
import subprocess
import sys


def main() -> int:
    """Exit code 1 when a step is not as promised."""
    done = subprocess.run([sys.argv[1], "demo", "--json"], capture_output=True, timeout=240, check=False)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        print(done.stdout.decode()[-2000:], done.stderr.decode()[-2000:])
        return 1
    for step in report["steps"]:
        print("ok " if step["good"] else "BAD", step["title"])
    return 0 if report["good"] and done.returncode == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
