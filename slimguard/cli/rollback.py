"""`slimguard rollback`: the file of a host as it was before `install`, byte for byte."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

from slimguard.cli.asking import add_yes, confirmed
from slimguard.cli.helping import command
from slimguard.cli.output import add_json, colour, complain, say, say_json, table

if TYPE_CHECKING:
    from pathlib import Path

    from slimguard.install.journal import Record
    from slimguard.install.model import HostFileRefused

DESCRIPTION = """\
Put the file of a host back as it was before `slimguard install`, byte for byte: the last installation, or that of
--host. A file that was edited since is left alone, and the difference is shown."""
EXAMPLES = (
    ("slimguard rollback --list", "what was installed where"),
    ("slimguard rollback", "the last installation"),
    ("slimguard rollback --all --yes", "every one, without questions"),
)
THEN = "next: restart the host"


def add(commands: Any) -> None:
    """Register the command."""
    summary = "put a host's file back as it was before `install`"
    parser = command(commands, "rollback", summary, DESCRIPTION, examples=EXAMPLES, then=THEN)
    parser.add_argument("--host", metavar="HOST", help="the last installation in this host")
    parser.add_argument("--id", metavar="ID", help="this installation (see --list)")
    parser.add_argument("--all", action="store_true", help="all installations (of --host), newest first")
    parser.add_argument("--list", action="store_true", help="list the installations and stop")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be put back")
    add_yes(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Roll back; exit code 1 when there is nothing to roll back or a file was refused."""
    from slimguard.cli.install import journal_directory
    from slimguard.install import journal

    directory = journal_directory()
    records = journal.records(directory)
    if options.list:
        return _list(options, records)
    chosen = [record for record in reversed(records) if record.state != "rolled back" and _matches(options, record)]
    chosen = chosen if options.all else chosen[:1]
    if not chosen:
        if options.json:
            say_json({"rolled_back": [], "refused": []})
        complain("slimguard: nothing to roll back; slimguard rollback --list shows what was installed")
        return 1
    if options.dry_run:
        return _would(options, chosen)
    paths = ", ".join(record.path for record in chosen)
    if not confirmed(options, f"Put back {paths}?"):
        return 1
    return _roll_back(options, directory, chosen)


def _matches(options: argparse.Namespace, record: Record) -> bool:
    return options.host in (None, record.host) and options.id in (None, record.id)


def _would(options: argparse.Namespace, chosen: list[Record]) -> int:
    if options.json:
        say_json({"would_roll_back": [_as_json(record) for record in chosen]})
        return 0
    for record in chosen:
        what = "put back" if record.existed else "removed"
        say(f"{record.path} would be {what} ({record.host}, {_when(record)})")
    return 0


def _roll_back(options: argparse.Namespace, directory: Path, chosen: list[Record]) -> int:
    from slimguard.install import applying
    from slimguard.install.model import HostFileRefused

    done: list[Record] = []
    refused: list[dict[str, Any]] = []
    for record in chosen:
        lines: list[str] = []
        try:
            done.append(applying.rollback(directory, record, _refusal(directory, record, lines)))
        except HostFileRefused as reason:
            refused.append({"id": record.id, "file": record.path, "reason": str(reason), "diff": lines})
    if options.json:
        say_json({"rolled_back": [_as_json(record) for record in done], "refused": refused})
        return 1 if refused else 0
    for record in done:
        say(f"{colour('put back' if record.existed else 'removed', 'green')}  {record.path}")
    for one in refused:
        complain(f"slimguard: {one['file']} was not touched: {one['reason']}")
        for line in one["diff"]:
            complain(f"  {line}")
    return 1 if refused else 0


def _refusal(directory: Path, record: Record, lines: list[str]) -> Any:
    """Makes the error for a file that was edited since; the difference to what it was before shows no value."""
    from slimguard.install.masking import difference
    from slimguard.install.model import HostFileRefused

    def refuse(old: str, now: str) -> HostFileRefused:
        lines.extend(difference(old, now, record.format, record.path))
        return HostFileRefused(
            "it was edited after the installation. Below is how it differs from before; values are hidden. "
            f"Take the entry out by hand, or restore the backup {directory / (record.id + '.backup')}"
        )

    return refuse


def _list(options: argparse.Namespace, records: list[Record]) -> int:
    if options.json:
        say_json([_as_json(record) for record in records])
        return 0
    rows = [(record.id, record.host, record.scope, record.path, _when(record), record.state) for record in records]
    table(("id", "host", "scope", "file", "when", "state"), rows)
    return 0


def _when(record: Record) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(record.created_at))


def _as_json(record: Record) -> dict[str, Any]:
    return {
        "id": record.id,
        "host": record.host,
        "scope": record.scope,
        "file": record.path,
        "created_at": record.created_at,
        "state": record.state,
        "existed": record.existed,
        "removed": list(record.removed),
    }
