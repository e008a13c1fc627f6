"""`slimguard read REF [QUERY]`: what `read_result` answers, for people; runs no tool."""

from __future__ import annotations

import argparse
from typing import Any

from slimguard.cli.helping import command
from slimguard.cli.output import add_config, add_json, colour, say, say_json

DESCRIPTION = """\
Print what `read_result` answers: a page, hits of a search, a selection, rows of SQL, an outline. REF may join
several refs with `+`. Without REF: your recent results. No tool is run."""
EXAMPLES = (
    ("slimguard read", "recent results"),
    ("slimguard read REF 'connection refused'", "search"),
    ("slimguard read REF 'sql:SELECT status, count(*) FROM rows GROUP BY 1'", "sum up"),
    ("slimguard read REF outline", "shape and sizes"),
)
THEN = "The queries: docs/reference/query-language.md. The exact bytes: slimguard results export REF"


def add(commands: Any) -> None:
    """Register the command."""
    summary = "read a stored result: pages, search, select, sql, outline"
    parser = command(commands, "read", summary, DESCRIPTION, examples=EXAMPLES, then=THEN)
    parser.add_argument("ref", metavar="REF", nargs="?", default="", help="result_ref; none: recent results")
    parser.add_argument("query", metavar="QUERY", nargs="?", default="", help="as `query` of read_result")
    parser.add_argument("--cursor", default="", help="continue where an answer ended")
    add_config(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print one answer."""
    import anyio

    from slimguard.cli.stored import settings_of
    from slimguard.serving import read_once

    settings = settings_of(options)
    arguments = {"result_ref": options.ref, "query": options.query, "cursor": options.cursor}
    reply = anyio.run(read_once, settings, {key: value for key, value in arguments.items() if value})
    text = reply.text or ""
    if options.json:
        say_json({"text": text, "is_error": reply.is_error, "media": list(reply.media)})
        return 1 if reply.is_error else 0
    lines = text.split("\n")
    for number, line in enumerate(lines):
        say(colour(line, "dim") if number in (0, len(lines) - 1) and line.startswith("[slimguard ") else line)
    return 1 if reply.is_error else 0
