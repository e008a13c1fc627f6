"""`slimguard config show`: the configuration with every value that may be secret hidden."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from slimguard.cli.helping import command, group
from slimguard.cli.output import add_config, add_json, say, say_json

DESCRIPTION = """\
Print the configuration as it is written, or --resolved: with variables replaced, defaults and overrides. Values of
env and headers, arguments that are no flags, and all of an address but its host are hidden; names of variables are
shown."""
EXAMPLES = (("slimguard config show", ""), ("slimguard config show --resolved", "what holds in the end"))


def add(commands: Any) -> None:
    """Register the command and its actions."""
    summary = "show the configuration, secrets hidden"
    actions = group(commands, "config", summary, "Show the configuration, secrets hidden.")
    show = command(actions, "show", "print it", DESCRIPTION, examples=EXAMPLES)
    show.add_argument("--resolved", action="store_true", help="with variables replaced, defaults and overrides")
    add_config(show)
    add_json(show)
    show.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print it, as JSON in either case."""
    from slimguard import config
    from slimguard.cli import masked

    loaded = config.load_with_notes(options.config, os.environ, str(Path.cwd()))
    if not options.json:
        say(f"// {loaded.found.path} ({loaded.found.reason})")
    say_json(masked.resolved(loaded.settings) if options.resolved else masked.written(loaded.written))
    return 0
