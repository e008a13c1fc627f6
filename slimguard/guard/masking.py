"""What validation says of a referenced value: where, and which rule, never keys or parts of the value (P12); pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from slimguard.document import Path, format_path
from slimguard.schema import Problem, Reading


def argument_path(path: Path) -> str:
    """Where a reference stands, as validation names it."""
    if path[0] == "beside":
        return f"arguments.{format_path(path[1:])}"
    inner = path[1:]
    return "arguments" if not inner else f"arguments{'' if isinstance(inner[0], int) else '.'}{format_path(inner)}"


def has_problem(path: Path, reading: Reading) -> bool:
    """Whether validation found something wrong at or below a reference."""
    return any(_within(problem.path, argument_path(path)) for problem in reading.problems)


def _within(place: str, path: str) -> bool:
    return place == path or (place.startswith(path) and place[len(path) : len(path) + 1] in (".", "["))


def masked(problem: Problem, paths: Sequence[Path]) -> Problem:
    """A broken rule without the keys of a referenced value, which the host has not seen (P12)."""
    for path in map(argument_path, paths):
        if problem.path == path and problem.rule in ("type", "enum", "const", "pattern", "required"):
            return replace(problem, words=f"the value of the reference {problem.words}")
        if _within(problem.path, path):
            return Problem(path, problem.rule, f"the value of the reference breaks {problem.rule}", problem.fragment)
    return problem
