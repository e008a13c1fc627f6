"""`slimguard plan --host HOST`: what `install` would change, as a difference; writes nothing."""

from __future__ import annotations

import argparse
from typing import Any

from slimguard.cli.helping import command
from slimguard.cli.output import say, say_json

DESCRIPTION = """\
Show the change that `slimguard install` would make in a host's file, as a difference in which values are hidden,
and what stays in the host and why. Nothing is written."""
EXAMPLES = (
    ("slimguard plan --host claude-code", ""),
    ("slimguard plan --host cursor --keep", "with the guarded servers left beside slimguard"),
)
THEN = "next: slimguard install, with the same options"


def add(commands: Any) -> None:
    """Register the command."""
    from slimguard.cli.placing import add_options

    summary = "show what `install` would change in a host's file"
    parser = command(commands, "plan", summary, DESCRIPTION, examples=EXAMPLES, then=THEN)
    add_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the planned change."""
    from slimguard.cli import placing

    change, beyond = placing.planned(options)
    if options.json:
        say_json(placing.as_json(change, beyond))
        return 0
    placing.show(change, beyond)
    if change.changes:
        say(f"next: slimguard install --host {change.host.name}")
    return 0
