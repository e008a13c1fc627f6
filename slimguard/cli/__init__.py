"""The `slimguard` command: one module a command, found by name; imports nothing heavy before it is needed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from slimguard import __version__
from slimguard.cli.output import complain
from slimguard.errors import SlimguardError

COMMANDS = (
    "serve",
    "demo",
    "init",
    "plan",
    "install",
    "rollback",
    "validate",
    "doctor",
    "analyze",
    "config",
    "results",
    "read",
    "find",
    "completion",
)
"""Modules of this package that each offer `add(subparsers)`, in the order of `--help`."""


def build_parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser of all commands, or of one, so that `serve` does not pay for the others."""
    parser = argparse.ArgumentParser(
        prog="slimguard",
        description="A reversible result-delivery guard for MCP: one server, three tools, every result readable.",
    )
    parser.add_argument("--version", action="version", version=f"slimguard {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS if only is None else (only,):
        import_module(f"slimguard.cli.{name}").add(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code: 0 done, 1 failed or found problems, 2 wrong usage."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    only = given[0] if given and given[0] in COMMANDS else None
    options = build_parser(only).parse_args(given)
    try:
        return int(options.run(options))
    except SlimguardError as error:
        complain(f"slimguard: {error.message}")
        for line in (error.detail, error.next_call):
            if line:
                complain(f"  {line}")
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0
