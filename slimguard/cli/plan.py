"""`slimguard plan --host HOST`: what `install` would change, as a difference; writes nothing."""

from __future__ import annotations

import argparse
from typing import Any

from slimguard.cli.output import say, say_json


def add(commands: Any) -> None:
    """Register the command."""
    from slimguard.cli.placing import add_options

    words = "show what `install` would change in a host's file; writes nothing"
    parser: argparse.ArgumentParser = commands.add_parser("plan", help=words, description=words)
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
