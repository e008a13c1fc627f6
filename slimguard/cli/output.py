"""Printing for people and for scripts: tables, colours only in a terminal, `--json`; never decides anything."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence

from slimguard.model import Json

_COLOURS = {"red": 31, "green": 32, "yellow": 33, "blue": 34, "cyan": 36, "bold": 1, "dim": 2}


def colour(text: str, name: str) -> str:
    """`text` in a colour when standard output is a terminal that wants it (NO_COLOR is honoured)."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\033[{_COLOURS[name]}m{text}\033[0m"


def say(text: str = "") -> None:
    """One line to standard output; text that the terminal cannot encode is replaced, never an error."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "replace").decode(encoding))  # noqa: T201 - this is where the product prints


def complain(text: str) -> None:
    """One line to standard error."""
    print(text, file=sys.stderr)  # noqa: T201


def say_json(value: Json) -> None:
    """A value as indented JSON to standard output."""
    say(json.dumps(value, indent=2, ensure_ascii=False))


def counted(number: int, noun: str) -> str:
    """`1 server`, `3 servers`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table with aligned columns; prints only its header when there are no rows."""
    widths = [max([len(title), *(len(row[place]) for row in rows)]) for place, title in enumerate(header)]
    say(colour("  ".join(title.ljust(width) for title, width in zip(header, widths, strict=True)).rstrip(), "bold"))
    for row in rows:
        say("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def add_json(parser: argparse.ArgumentParser) -> None:
    """The `--json` option that every command that prints a table has."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def add_config(parser: argparse.ArgumentParser) -> None:
    """The `--config FILE` option."""
    parser.add_argument(
        "--config", metavar="FILE", help="configuration file (else $SLIMGUARD_CONFIG, ./slimguard.json, …)"
    )
