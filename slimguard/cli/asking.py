"""Questions to a person at a terminal; a script is never asked."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path, PurePath

from slimguard.install.model import Machine


def add_yes(parser: argparse.ArgumentParser) -> None:
    """The `--yes` option of commands that ask."""
    parser.add_argument("--yes", "-y", action="store_true", help="do not ask")


def asks(options: argparse.Namespace) -> bool:
    """Whether there is a person to ask: a terminal on both sides, and neither --yes nor --json."""
    return not (options.yes or getattr(options, "json", False)) and sys.stdin.isatty() and sys.stdout.isatty()


def confirmed(options: argparse.Namespace, question: str, *, default: bool = True) -> bool:
    """Whether to go on: `default` when there is nobody to ask, otherwise what the person says."""
    if not asks(options):
        return default
    answer = input(f"{question} [{'Y/n' if default else 'y/N'}] ").strip().casefold()
    return answer in ("y", "yes") if answer else default


def this_machine() -> Machine:
    """The machine that the command runs on."""
    import os

    cwd: PurePath = Path.cwd()
    return Machine(sys.platform, os.environ, cwd)


def own_command() -> tuple[str, tuple[str, ...]]:
    """How a host can start this slimguard: the absolute path of the command, or the interpreter with `-m`."""
    import shutil

    started = Path(sys.argv[0])
    if started.stem == "slimguard" and started.exists():
        found = str(started.absolute())
    else:
        found = shutil.which("slimguard") or ""
    if "/uv/archive-v" in found.replace("\\", "/"):
        return "uvx", ("slimguard",)
    return (found, ()) if found else (sys.executable, ("-m", "slimguard"))
