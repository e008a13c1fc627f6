"""`python -m benchmarks`: run all parts, or some, and write their results as JSON, Markdown and plots.

`--quick` takes fewer samples, `--only tasks,start` picks parts, `--shared FOLDER` (or SLIMGUARD_SHARED) names the
folder with the given payloads, `--write` renews docs/benchmarks.md (with `--only`, those parts of it). The exit code is
1 when a bound does not hold.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path

from benchmarks import report
from benchmarks.model import Options, Part

PARTS = (
    "tasks",
    "stress",
    "catalogs",
    "pulls",
    "answers",
    "views",
    "readers",
    "waiting",
    "start",
    "calls",
    "memory",
    "limits",
)
"""Modules of this package that each offer `run(options)`."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run what is asked for; 1 when a bound does not hold."""
    options = _options(argv)
    shared = Path(options.shared) if options.shared else None
    parts: list[Part] = []
    for name in options.only.split(",") if options.only else PARTS:
        with tempfile.TemporaryDirectory(prefix="slimguard-bench-") as scratch:
            print(f"{name} …", file=sys.stderr, flush=True)
            part = _run(name, Options(Path(scratch), quick=options.quick, shared=shared))
        parts.append(part)
        print(report.text(part), flush=True)
    document = report.document(parts, quick=options.quick)
    report.write(document, Path(options.output))
    if options.write:
        report.publish(document, some=bool(options.only))
    failed = any(part.failed for part in parts)
    return 1 if failed or not all(verdict.holds for part in parts for verdict in part.verdicts) else 0


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer samples, for CI")
    parser.add_argument("--only", default="", help=f"parts, with commas between: {', '.join(PARTS)}")
    parser.add_argument("--shared", default=os.environ.get("SLIMGUARD_SHARED", ""), help="folder with given payloads")
    parser.add_argument("--output", default="build/benchmarks", help="folder for the results")
    parser.add_argument("--write", action="store_true", help="renew docs/benchmarks.md and its plots as well")
    return parser.parse_args(argv)


def _run(name: str, options: Options) -> Part:
    """One part; a part that fails is reported as such and does not end the others."""
    try:
        part: Part = importlib.import_module(f"benchmarks.{name}").run(options)
    except Exception:  # a report with one hole says more than none
        traceback.print_exc()
        return Part(name, name, "", skipped="it failed; the reason is on stderr", failed=True)
    return part


if __name__ == "__main__":
    sys.exit(main())
