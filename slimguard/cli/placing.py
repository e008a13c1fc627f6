"""What `plan` and `install` share: their options, the planned change of a host's file, and how it is shown."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slimguard import policy
from slimguard.cli.asking import own_command, this_machine
from slimguard.cli.output import add_config, add_json, colour, say
from slimguard.errors import ConfigurationError

if TYPE_CHECKING:
    from slimguard.config import Loaded
    from slimguard.install.choosing import Planned


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options that say what is to be placed where."""
    from slimguard.install.hosts import HOSTS

    names = tuple(HOSTS)
    parser.add_argument("--host", metavar="HOST", required=True, choices=names, help=f"one of {', '.join(names)}")
    parser.add_argument(
        "--scope",
        choices=("project", "local", "user"),
        help="which of the host's files: of the project, yours for this project, or yours everywhere "
        "(default: the one that holds the guarded servers)",
    )
    parser.add_argument("--keep", action="store_true", help="keep the guarded servers in the host beside slimguard")
    parser.add_argument("--leave", metavar="SERVER", action="append", default=[], help="keep this server in the host")
    parser.add_argument("--command", metavar="PROGRAM", help="how the host starts slimguard (default: this one's path)")
    parser.add_argument("--no-connect", action="store_true", help="do not ask the servers what else they offer")
    add_config(parser)
    add_json(parser)


def planned(options: argparse.Namespace) -> tuple[Planned, dict[str, list[str]]]:
    """The change, and what guarded servers offer beyond tools; raises `ConfigurationError`, touches nothing."""
    from slimguard import config
    from slimguard.install import choosing
    from slimguard.install.hosts import HOSTS
    from slimguard.install.model import Entry, HostFileRefused
    from slimguard.jsonc import object_of

    loaded = config.load_with_notes(options.config, os.environ, str(Path.cwd()))
    configured = object_of(loaded.written.get("mcpServers"))
    machine, host = this_machine(), HOSTS[options.host]
    file_path = str(loaded.found.path)
    command, first = (options.command, ()) if options.command else own_command()
    names = config.variables(file_path, os.environ, str(Path.cwd()))
    entry = Entry(command, (*first, "serve", "--config", file_path), names)
    in_project = loaded.found.path.parent == Path.cwd()
    try:
        file = choosing.choose(host, machine, configured, scope=options.scope, project=in_project)
        change = choosing.plan_install(host, file, machine, entry, configured, keep=options.keep, leave=options.leave)
    except HostFileRefused as refused:
        raise ConfigurationError(
            f"{host.title}: {refused}", next_call="nothing was changed; fix that file and run the command again"
        ) from None
    return change, {} if options.no_connect else _beyond(loaded, change)


def show(change: Planned, beyond: dict[str, list[str]]) -> None:
    """Print the difference (no value of the user's), what stays and what to know."""
    for line in change.diff():
        tint = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
        say(colour(line, tint) if tint else line)
    if not change.changes:
        say(f"{change.before.path}: slimguard is already there, nothing to do")
    for name, reason in change.kept:
        say(f"{colour('kept', 'yellow')}  {name}: {reason}")
    for name, offers in beyond.items():
        say(
            f"{colour('note', 'yellow')}  {name}: its {' and '.join(offers)} do not pass through slimguard yet; "
            f"--leave {name} keeps it in the host"
        )
    for note in change.notes:
        say(f"{colour('note', 'yellow')}  {note}")


def as_json(change: Planned, beyond: dict[str, list[str]]) -> dict[str, Any]:
    """The change for scripts; values of the user's are hidden in the difference here too."""
    return {
        "host": change.host.name,
        "scope": change.file.scope,
        "file": str(change.before.path),
        "changes": change.changes,
        "created": not change.before.existed,
        "removed": list(change.removed),
        "kept": [{"name": name, "reason": reason} for name, reason in change.kept],
        "offers_beyond_tools": beyond,
        "notes": list(change.notes),
        "diff": change.diff(),
    }


def _beyond(loaded: Loaded, change: Planned) -> dict[str, list[str]]:
    """What the servers that leave the host offer beyond tools, by their names in the host."""
    from slimguard.cli.connecting import survey
    from slimguard.install.discovering import our_name

    if not change.removed:
        return {}
    ours = {our_name(name): name for name in change.removed}
    servers = loaded.settings.servers
    asked = {name: servers[name] for name in ours if name in servers and not servers[name].disabled}
    if not asked:
        return {}
    found = survey(asked, policy.CONNECT_WAIT_SECONDS).beyond
    return {ours[name]: list(offers) for name, offers in found.items()}
