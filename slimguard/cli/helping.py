"""How a command introduces itself: one line in `slimguard --help`, and a page with examples and what comes next."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

Example = tuple[str, str]
"""A command line, and what it does."""


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Text as it is written, options in a column that fits ours, at most 100 characters wide."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26)
        self._width = min(self._width, 100)


def command(
    commands: Any, name: str, summary: str, description: str, *, examples: Sequence[Example], then: str = ""
) -> argparse.ArgumentParser:
    """Register a command: `summary` for the list of commands, `description` and `examples` for its own page."""
    return commands.add_parser(
        name, help=summary, description=description, epilog=epilog(examples, then), formatter_class=Formatter
    )


def epilog(examples: Sequence[Example], then: str = "") -> str:
    """Examples in two columns, or in two lines where the first is long, and the next step."""
    width = max((len(line) for line, _ in examples if len(line) <= 48), default=0)
    lines = ["examples:"] if len(examples) > 1 else ["example:"]
    for line, words in examples:
        if not words or len(line) <= width:
            lines.append(f"  {line.ljust(width)}  {words}".rstrip())
        else:
            lines += [f"  {line}", f"  {' ' * width}  {words}"]
    return "\n".join([*lines, "", then] if then else lines)


def group(commands: Any, name: str, summary: str, description: str) -> Any:
    """Register a command that only has actions, and return what they are added to."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog=f"`slimguard {name} ACTION --help` explains one, with examples.",
        formatter_class=Formatter,
    )
    return parser.add_subparsers(dest="action", metavar="ACTION", required=True, title="actions")
