"""`slimguard install --host HOST`: our one entry in place of the guarded servers, with a backup and a way back."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from slimguard.cli.asking import add_yes, confirmed
from slimguard.cli.helping import command
from slimguard.cli.output import colour, say, say_json

if TYPE_CHECKING:
    from pathlib import Path

DESCRIPTION = """\
Put slimguard into a host: one entry, in place of the servers that slimguard.json guards. Comments, order and
formatting of the file stay. The old file is kept, for you only, and `slimguard rollback` puts it back byte for byte."""
EXAMPLES = (
    ("slimguard install --host claude-code", "shows the change and asks"),
    ("slimguard install --host vscode --scope user --yes", "your file, without questions"),
)
THEN = "next: restart the host; slimguard doctor says whether all is well; slimguard rollback is the way back"


def add(commands: Any) -> None:
    """Register the command."""
    from slimguard.cli.placing import add_options

    summary = "put slimguard into a host's file, with a backup"
    parser = command(commands, "install", summary, DESCRIPTION, examples=EXAMPLES, then=THEN)
    add_options(parser)
    parser.add_argument("--dry-run", action="store_true", help="only show the change, as `plan` does")
    add_yes(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Show, ask and write; exit code 1 when the person says no or the file is refused."""
    import secrets
    import time

    from slimguard.cli import placing
    from slimguard.errors import ConfigurationError
    from slimguard.install import applying
    from slimguard.install.model import HostFileRefused

    change, beyond = placing.planned(options)
    if not options.json:
        placing.show(change, beyond)
    writes = change.changes and not options.dry_run
    if writes and not confirmed(options, f"Change {change.before.path}?"):
        return 1
    record = None
    if writes:
        now = time.time()
        try:
            record = applying.install(
                journal_directory(),
                change.host,
                change.file,
                change.before,
                change.text,
                removed=change.removed,
                identity=f"{int(now)}-{secrets.token_hex(4)}",
                now=now,
            )
        except HostFileRefused as refused:
            raise ConfigurationError(f"{change.before.path}: {refused}", next_call="nothing was changed") from None
    if options.json:
        say_json({**placing.as_json(change, beyond), "installed": writes, "id": record.id if record else None})
    elif record:
        say(f"{colour('installed', 'green')}  {change.before.path}")
        say(f"next: {change.host.restart}; check with: slimguard doctor")
        say(f"back: slimguard rollback --host {change.host.name}")
    return 0


def journal_directory() -> Path:
    """Where journal and backups lie: in the user's data directory, so that a way back needs no configuration."""
    import os
    from pathlib import Path

    from slimguard import config

    return Path(config.user_data_dir(os.environ)) / "install"
