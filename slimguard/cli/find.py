"""`slimguard find WORDS`: what `find_tool` ranks, and why; connects to servers only when nothing is kept of them."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from slimguard.cli.helping import command
from slimguard.cli.output import add_config, add_json, colour, say, say_json, table

DESCRIPTION = """\
Rank tools as `find_tool` does, with scores and the words that counted. Uses what is kept of the servers' tools;
connects only when nothing is kept. Exit code 1 when nothing matches."""
EXAMPLES = (("slimguard find send a mail", ""), ("slimguard find --limit 3 create issue", "at most three"))
THEN = "A tool that is not listed: slimguard doctor, and docs/how-to/find-a-missing-tool.md"


def add(commands: Any) -> None:
    """Register the command."""
    summary = "rank the tools of all servers for some words, and say why"
    parser = command(commands, "find", summary, DESCRIPTION, examples=EXAMPLES, then=THEN)
    parser.add_argument("words", metavar="WORDS", nargs="+", help="what the tool should do")
    parser.add_argument("--limit", type=int, metavar="N", default=10, help="at most so many tools (default: 10)")
    add_config(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the ranked list; exit code 1 when nothing matches."""
    import anyio

    from slimguard import config
    from slimguard.serving import find_once

    settings = config.load(options.config, os.environ, str(Path.cwd()))
    found = anyio.run(find_once, settings, " ".join(options.words), max(1, int(options.limit)))
    why = [", ".join(f"{r.word} ({r.field}, {r.kind})" for r in match.why) for match in found.matches]
    if options.json:
        matches = [
            {"tool_ref": match.tool.ref, "score": match.score, "why": words}
            for match, words in zip(found.matches, why, strict=True)
        ]
        say_json({"confidence": found.confidence, "matches": matches, "nearest": list(found.nearest)})
        return 0 if matches else 1
    rows = [(m.tool.ref, f"{m.score:.3f}", words[:100]) for m, words in zip(found.matches, why, strict=True)]
    say(f"confidence: {colour(found.confidence, 'bold')}")
    table(("tool_ref", "score", "why"), rows)
    if not rows and found.nearest:
        say(f"nearest names: {', '.join(found.nearest)}")
    return 0 if rows else 1
