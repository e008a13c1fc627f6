"""`slimguard find WORDS`: what `find_tool` ranks, and why; connects to servers only when nothing is kept of them."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from slimguard.cli.output import add_config, add_json, colour, say, say_json, table


def add(commands: Any) -> None:
    """Register the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "find", help="rank the tools of all servers for some words, and say why", description=__doc__
    )
    parser.add_argument("words", metavar="WORDS", nargs="+", help="what the tool should do")
    parser.add_argument("--limit", type=int, default=10, help="at most so many tools (default 10)")
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
