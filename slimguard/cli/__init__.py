"""The `slimguard` command: one module a command, found by name; imports nothing heavy before it is needed."""

from __future__ import annotations

import argparse
import os
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


def _where(error: BaseException) -> str:
    """Type and place of an error, of the first one in a group; never its text, which may quote content (P12)."""
    while isinstance(error, BaseExceptionGroup):
        group: BaseExceptionGroup[BaseException] = error
        error = group.exceptions[0]
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f" at {trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}" if trace else ""
    return f"{type(error).__name__}{place}"


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
    except Exception as error:
        if os.environ.get("SLIMGUARD_TRACEBACK"):
            raise
        complain(f"slimguard: internal error: {_where(error)}")
        complain("  please report it; SLIMGUARD_TRACEBACK=1 shows the trace, which may quote arguments and results")
        return 70
    except BrokenPipeError:
        sys.stderr.close()
        return 0
