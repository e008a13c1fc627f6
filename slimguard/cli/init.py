"""`slimguard init`: the servers that the user's hosts have, written into `slimguard.json`."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slimguard import policy
from slimguard.cli.asking import add_yes, asks, confirmed, this_machine
from slimguard.cli.helping import command
from slimguard.cli.output import add_json, colour, complain, say, say_json, table

if TYPE_CHECKING:
    from slimguard.install.discovering import Discovered, Selection

DESCRIPTION = """\
Find the MCP servers that your hosts already have and write them into slimguard.json. Nothing of a host is changed.
A slimguard.json that exists is added to; what it has stays as it is. Secrets stay where they are: inputs and secret
stores become ${VARIABLES} that you set; only values that a host's file holds literally are copied, into a file of
yours alone (mode 0600). No value is ever printed."""
EXAMPLES = (
    ("slimguard init --dry-run", "only show what was found"),
    ("slimguard init --host claude-code", "only from one host"),
    ("slimguard init --leave browser --yes", "without this server, without questions"),
)
THEN = "next: slimguard validate, then slimguard install --host HOST"


def add(commands: Any) -> None:
    """Register the command."""
    summary = "write slimguard.json from the servers that your hosts have"
    parser = command(commands, "init", summary, DESCRIPTION, examples=EXAMPLES, then=THEN)
    parser.add_argument("--config", metavar="FILE", help="file to write (default: ./slimguard.json)")
    parser.add_argument("--host", metavar="HOST", action="append", help="only from this host (may be repeated)")
    parser.add_argument("--leave", metavar="SERVER", action="append", default=[], help="leave this server in its host")
    parser.add_argument("--no-connect", action="store_true", help="do not ask the servers what else they offer")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be written")
    add_yes(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Discover, show, ask and write; exit code 1 when nothing was found or a file is broken."""
    from slimguard.install import discovering
    from slimguard.install.hosts import HOSTS

    hosts = _chosen_hosts(options.host, HOSTS)
    found = discovering.discover(this_machine(), hosts)
    selection = discovering.select(found, leave=options.leave)
    target = Path(options.config or "slimguard.json").absolute()
    old = _old_text(target)
    beyond = {} if options.no_connect else _beyond(selection)
    if beyond and asks(options):
        selection = _ask_to_leave(options, found, selection, beyond)
    text, notes = discovering.configuration(old, selection)
    literals = discovering.literal_values(selection)
    has_work, wanted = text != old, bool(selection.servers or old)
    if not options.json:
        _show(found, selection, beyond, [*selection.notes, *notes])
        if not wanted:
            say("No server found. Write slimguard.json by hand: see docs/reference/configuration.md")
        elif has_work and not options.dry_run and literals:
            said = f"{literals} literal values of env and headers are copied"
            say(f"{said}; ${{VARIABLES}} would keep them out of the file.")
    written = wanted and has_work and not options.dry_run and confirmed(options, f"Write {target}?")
    if written:
        _write(target, text, private=literals > 0)
    if options.json:
        say_json(_as_json(target, selection, found, beyond, notes, written=written))
    if wanted and (written or options.dry_run or not has_work):
        _next(options, target, "written" if written else "would be written" if has_work else "is up to date")
        return 0
    return 1


def _chosen_hosts(names: list[str] | None, hosts: Any) -> list[Any]:
    from slimguard.errors import ConfigurationError

    for name in names or ():
        if name not in hosts:
            raise ConfigurationError(f"no host {name!r}", next_call=f"the hosts are {', '.join(hosts)}")
    return [hosts[name] for name in names or hosts]


def _old_text(target: Path) -> str:
    """The text of a configuration that exists; raises `ConfigurationError` when it cannot be added to."""
    from slimguard.errors import ConfigurationError
    from slimguard.install import jsonc_edit
    from slimguard.install.applying import read_file
    from slimguard.install.model import HostFileRefused

    try:
        text = read_file(target).text
        jsonc_edit.read(text)
    except HostFileRefused as refused:
        raise ConfigurationError(f"{target}: {refused}", next_call="fix it, or choose another --config") from None
    return text


def _beyond(selection: Selection) -> dict[str, list[str]]:
    """Servers that offer prompts or resources, by our names; connects to those that need nothing that is not set."""
    from slimguard.cli.connecting import survey
    from slimguard.config.servers import server_config

    base = Path.cwd()
    servers = {
        name: server_config(name, server.entry, {}, os.environ, base) for name, server in selection.servers.items()
    }
    usable = {name: server for name, server in servers.items() if not server.problem and not server.disabled}
    if not usable:
        return {}
    found = survey(usable, policy.CONNECT_WAIT_SECONDS).beyond
    return {name: list(offers) for name, offers in found.items()}


def _ask_to_leave(
    options: argparse.Namespace, found: list[Discovered], selection: Selection, beyond: dict[str, list[str]]
) -> Selection:
    from slimguard.install import discovering

    leave = list(options.leave)
    for name, offers in beyond.items():
        words = f"{name} also offers {' and '.join(offers)}, which do not pass through slimguard yet."
        say(words)
        if confirmed(options, "Leave it where it is?", default=False):
            leave.append(selection.servers[name].name)
    return discovering.select(found, leave=leave) if leave != options.leave else selection


def _show(found: list[Discovered], selection: Selection, beyond: dict[str, list[str]], notes: list[str]) -> None:
    rows = [
        (name, server.host, str(server.path), _kind(server.entry), "off" if server.entry.get("disabled") else "")
        for name, server in selection.servers.items()
    ]
    if rows:
        table(("server", "host", "file", "how", ""), rows)
    for server in selection.left:
        say(f"{colour('left', 'yellow')}  {server.name} ({server.host}): {server.unsupported}")
    for one in found:
        if one.problem:
            complain(f"slimguard: {one.file.path} was not read: {one.problem}")
    for name, offers in beyond.items():
        if name in selection.servers:
            say(
                f"{colour('note', 'yellow')}  {name}: its {' and '.join(offers)} do not pass through slimguard yet; "
                f"--leave {selection.servers[name].name} keeps it in {selection.servers[name].host}"
            )
    for note in notes:
        say(f"{colour('note', 'yellow')}  {note}")


def _kind(entry: Any) -> str:
    """How the server is reached, without anything that could be secret."""
    return "stdio" if "command" in entry else str(entry.get("type", "http"))


def _as_json(
    target: Path,
    selection: Selection,
    found: list[Discovered],
    beyond: dict[str, list[str]],
    notes: list[str],
    *,
    written: bool,
) -> dict[str, Any]:
    return {
        "config": str(target),
        "written": written,
        "servers": [
            {
                "name": name,
                "host": server.host,
                "file": str(server.path),
                "transport": _kind(server.entry),
                "offers_beyond_tools": beyond.get(name, []),
            }
            for name, server in selection.servers.items()
        ],
        "left": [{"name": server.name, "host": server.host, "reason": server.unsupported} for server in selection.left],
        "unreadable": [{"file": str(one.file.path), "reason": one.problem} for one in found if one.problem],
        "notes": [*selection.notes, *notes],
    }


def _write(target: Path, text: str, *, private: bool) -> None:
    """Write the configuration whole or not at all: a new one, and one with literal values, for its owner only."""
    from dataclasses import replace

    from slimguard.errors import ConfigurationError
    from slimguard.install.applying import read_file, write
    from slimguard.install.model import HostFileRefused

    try:
        before = read_file(target)
        write(replace(before, mode=0o600) if private else before, text.encode("utf-8"))
    except HostFileRefused as refused:
        raise ConfigurationError(f"{target}: {refused}") from None


def _next(options: argparse.Namespace, target: Path, state: str) -> None:
    if options.json:
        return
    say(f"{target} {state}")
    say("next: slimguard validate, then slimguard install --host HOST")
