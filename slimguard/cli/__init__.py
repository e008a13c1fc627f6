"""The `slimguard` command: one module a command, found by name; imports nothing heavy before it is needed."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, cast

from slimguard.cli.output import complain
from slimguard.errors import SlimguardError

GROUPS: dict[str, tuple[str, ...]] = {
    "begin": ("demo", "init", "analyze", "plan", "install", "rollback"),
    "run": ("serve",),
    "look after": ("doctor", "validate", "config"),
    "look at": ("results", "read", "find"),
    "more": ("completion",),
}
"""Modules of this package that each offer `add(subparsers)`, in the order and under the titles of `--help`."""

COMMANDS = tuple(name for names in GROUPS.values() for name in names)

EXIT_CODES = {
    0: "done, and nothing is wrong",
    1: "refused, failed, or found what must be looked at; the reason is printed",
    2: "the command line is wrong; nothing was done",
    70: "a fault of slimguard itself; the line says where",
    130: "stopped by Ctrl+C",
}

DESCRIPTION = """\
A guard between an MCP host and its servers: the host sees three tools, each tool runs at most once, and every result
can be read in full afterwards."""


def build_parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser of all commands, or of one, so that `serve` does not pay for the others."""
    from slimguard.cli.helping import Formatter
    from slimguard.cli.versions import ShowVersions

    parser = argparse.ArgumentParser(
        prog="slimguard", usage="slimguard COMMAND [OPTIONS]", description=DESCRIPTION, formatter_class=Formatter
    )
    parser.add_argument("--version", action=ShowVersions)
    commands: Any = parser.add_subparsers(
        dest="command", metavar="COMMAND", required=True, prog="slimguard", help=argparse.SUPPRESS
    )
    for name in COMMANDS if only is None else (only,):
        import_module(f"slimguard.cli.{name}").add(commands)
    # argparse has no public way to list commands with their help.
    parser.epilog = _overview(cast("list[Any]", getattr(commands, "_choices_actions")))  # noqa: B009
    return parser


def _overview(listed: list[Any]) -> str:
    """The commands by what one wants, and where to go from here."""
    summaries = {str(action.dest): str(action.help) for action in listed}
    lines: list[str] = []
    for title, names in GROUPS.items():
        lines += [f"{title}:", *(f"  {name.ljust(10)}  {summaries.get(name, '')}".rstrip() for name in names), ""]
    return "\n".join([*lines, "`slimguard COMMAND --help` explains one, with examples. New here: slimguard demo"])


def _where(error: BaseException) -> str:
    """Type and place of an error, of the first one in a group; never its text, which may quote content (P12)."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f" at {trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}" if trace else ""
    return f"{type(error).__name__}{place}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code: see `EXIT_CODES`."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    only = given[0] if given and given[0] in COMMANDS else None
    parser = build_parser(only)
    if not given:
        complain(parser.format_help())
        return 2
    options = parser.parse_args(given)
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
        _no_more_output()
        return 0
    except Exception as error:
        if os.environ.get("SLIMGUARD_TRACEBACK"):
            raise
        complain(f"slimguard: internal error: {_where(error)}")
        complain("  please report it; SLIMGUARD_TRACEBACK=1 shows the trace, which may quote arguments and results")
        return 70


def _no_more_output() -> None:
    """Nobody reads our output any more (`slimguard results list | head`): leave without a word."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
