"""`slimguard validate`: whether the configuration is right, and which servers it leaves unavailable."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from slimguard.cli.helping import command
from slimguard.cli.output import add_config, add_json, colour, counted, say, say_json

DESCRIPTION = """\
Check the configuration: every wrong key with the nearest right one, every variable that is not set. Connects to
nothing. Exit code 1 when the file is wrong or a server cannot be started because of it."""
EXAMPLES = (("slimguard validate", ""), ("slimguard validate --config slimguard.json --json", "for scripts"))
THEN = "next: slimguard doctor also starts the servers"


def add(commands: Any) -> None:
    """Register the command."""
    summary = "check the configuration; connects to nothing"
    parser = command(commands, "validate", summary, DESCRIPTION, examples=EXAMPLES, then=THEN)
    add_config(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Exit code 0 when the file is right and every server that is on can be started as far as the file goes."""
    from slimguard import config
    from slimguard.errors import ConfigurationError

    try:
        loaded = config.load_with_notes(options.config, os.environ, str(Path.cwd()))
    except ConfigurationError as error:
        if not options.json:
            raise
        say_json({"valid": False, "problems": [error.message, *error.detail.splitlines()], "next": error.next_call})
        return 1
    servers = loaded.settings.servers.values()
    unavailable = {server.name: server.problem for server in servers if server.problem and not server.disabled}
    if options.json:
        say_json(
            {
                "valid": True,
                "file": str(loaded.found.path),
                "found_by": loaded.found.reason,
                "servers": [server.name for server in servers],
                "disabled": [server.name for server in servers if server.disabled],
                "unavailable": unavailable,
                "notes": list(loaded.notes),
            }
        )
        return 1 if unavailable else 0
    say(f"{colour('valid', 'green')}  {loaded.found.path} ({loaded.found.reason}), {counted(len(servers), 'server')}")
    for name, problem in unavailable.items():
        say(f"{colour('unavailable', 'red')}  {name}: {problem}")
    for note in loaded.notes:
        say(f"{colour('note', 'yellow')}  {note}")
    return 1 if unavailable else 0
