"""`slimguard demo`: the main job on real servers, shown and checked; exit code 1 when a step is not as promised."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slimguard.cli.helping import command
from slimguard.cli.output import add_json, colour, say, say_json

if TYPE_CHECKING:
    from slimguard.demo.tour import Step

DESCRIPTION = """\
Start a guard before a small shop (and the public time and git servers where they are installed), and let a real
client do the main job: find a tool, run one that has an effect, read a large log and a large list, restart, and
compare the exact bytes. It runs in a scratch folder and leaves nothing behind. Exit code 1 when a step is not as
promised."""
EXAMPLES = (("slimguard demo", ""), ("slimguard demo --json", "the same for scripts"))
THEN = "next: slimguard init takes over the servers that your hosts have"


def add(commands: Any) -> None:
    """Register the command."""
    parser = command(
        commands,
        "demo",
        "show the main job on real servers, each step checked",
        DESCRIPTION,
        examples=EXAMPLES,
        then=THEN,
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the tour in a scratch folder."""
    import anyio

    from slimguard.demo.tour import Tour

    def show(step: Step) -> None:
        if options.json:
            return
        say(f"{colour('✓', 'green') if step.good else colour('✗', 'red')} {colour(step.title, 'bold')}")
        for line in step.lines:
            say(f"    {line[:160]}")
        say()

    with tempfile.TemporaryDirectory(prefix="slimguard-demo-") as folder:
        tour = Tour(Path(folder), show)
        good = anyio.run(tour.run)
    if options.json:
        steps = [{"title": s.title, "good": s.good, "lines": s.lines, **s.figures} for s in tour.steps]
        say_json({"good": good, "steps": steps})
    return 0 if good else 1
