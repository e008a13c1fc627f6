"""What failed in the output of commands and test runners: failing tests with their reasons, summaries, exit lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from slimguard.views.lines import line_starts, lines_with

REASON_LINES = 8
BLOCK_LINES = 60
LONG_LINE = 600
_FAILED = re.compile(
    r"(?:FAILED |ERROR )\S+(?:::|\.py)"  # pytest
    r"|(?:FAIL|ERROR): \w+ \("  # unittest
    r"|\s*--- FAIL: |FAIL\t\S"  # go
    r"|test .{1,200} \.\.\. FAILED"  # cargo
    r"|\s*not ok \d+"  # TAP
    r"|\s*(?:✕|✗|✖|×|❌) ?\S|\s*● .{2,200} › |\s*FAIL {1,2}\S"  # jest, vitest, mocha
    r"|\s+Failed \S.{0,200}\[|rspec \S+:\d+"  # dotnet, rspec
    r"|\[ERROR\]\s+\S+(?:\.\w+)?:\d+|\[ERROR\] +\S+\.\w+  Time elapsed"  # surefire
    r"|\s*\d+ - \S.*\(Failed\)|\d+/\d+ Test +#?\d+: .*\*\*\*"  # ctest
    r"|\[  FAILED  \] \S+\.\S+"  # googletest
)
_SUMMARY = re.compile(
    r"=+ .*\b(?:passed|failed|error|errors|no tests ran)\b.* =+$|(?:\d+ (?:failed|passed|skipped)[, ]).*"
    r"|Ran \d+ tests? in |FAILED \((?:failures|errors|skipped)|Tests?:?\s+.*\b(?:failed|passed)\b"
    r"|Test Suites?: |Test Files "
    r"|test result: |\[?(?:ERROR|INFO|WARNING)?\]? ?Tests run: \d+.*Failures: \d+|\d+ examples?, \d+ failures?"
    r"|\d+ passing|\d+ failing|# (?:tests|pass|fail) \d+|BUILD (?:FAILED|SUCCESS\w*|FAILURE)|\[INFO\] BUILD "
    r"|(?:Failed|Passed)!? +- Failed: |\d+% tests passed|\[  (?:PASSED|FAILED)  \] \d+ tests?|Found \d+ errors? in"
    r"|FAIL$|ok {2}\t\S|OK \(|OK$|\d+ problems? \(\d+ errors?|Successfully (?:installed|built) "
)
_EXIT = re.compile(
    r"exit(?:ed)?(?: with)?(?: exit)?[ -](?:code|status)[ :=]*-?\d+"
    r"|returned (?:non-zero )?(?:exit )?(?:code|status) ?:? ?-?\d+"
    r"|^make(?:\[\d+\])?: \*\*\* |^npm ERR! (?:code|errno)|^error: could not compile|^Command failed"
    r"|^ERROR: (?:Job failed|failed)"
    r"|^\s*(?:Segmentation fault|Killed|Aborted|core dumped)|Process completed with exit code",
    re.IGNORECASE,
)
_CANDIDATES = (
    "FAIL", "Fail", "fail", "ERROR", "Error ", "rror:", "not ok", "✕", "✗", "✖", "×", "❌", "●", "rspec ", "passed",
    "passing", "exit", "Exit", "Ran ", "Tests", "Test ", "tests", "***", "Killed", "Abort", "Segm", "OK", "errno",
    "problem", "Success", "SUCCESS", "core dumped", "returned ", "No tests", "code",
)  # fmt: skip
_RULE = re.compile(r"[-=_*~]{5,}\s*$")
_PYTEST_BLOCK = re.compile(r"_{3,} (.+?) _{3,}$")
_PYTEST_LINE = re.compile(r"(?:>|E) |\S+:\d+: \w*(?:Error|Exception|Failed|Failure)?\b")


@dataclass(frozen=True, slots=True)
class Failure:
    """One failing test: the line that names it and the lines that say why, all 0-based."""

    line: int
    reason: tuple[int, ...]


def failing_lines(lines: Sequence[str]) -> tuple[list[int], list[int], list[int]]:
    """Lines (0-based) that name a failing test, that sum a run up, and that tell an exit status."""
    failed: list[int] = []
    summary: list[int] = []
    exits: list[int] = []
    for place in sorted(lines_with("\n".join(lines), line_starts(lines), _CANDIDATES)):
        bare = lines[place].rstrip()
        if len(bare) > LONG_LINE:
            continue
        if _FAILED.match(bare):
            failed.append(place)
        elif _SUMMARY.match(bare):
            summary.append(place)
        elif _exit_in(bare):
            exits.append(place)
    return failed, summary, exits


def _exit_in(line: str) -> re.Match[str] | None:
    """Where a line tells an exit status; what begins a line is looked for there only."""
    low = line.lower()
    return _EXIT.search(line) if "exit" in low or "returned" in low else _EXIT.match(line)


def failures_of(lines: Sequence[str], failed: Sequence[int]) -> list[Failure]:
    """The failing tests, one for each text, with the reason that follows the line or stands in its own block."""
    blocks = _pytest_blocks(lines) if any(line.startswith("____") for line in lines) else {}
    found: dict[str, Failure] = {}
    for place in failed:
        text = lines[place].strip()
        reason = _reason_below(lines, place)
        if not reason:
            reason = _reason_above(lines, place) if text.startswith("--- FAIL") else ()
        if not reason:
            name = text.split("::")[-1].split(" - ")[0].split("[")[0]
            reason = blocks.get(name, ())
        known = found.get(text)
        if known is None or (reason and not known.reason):
            found[text] = Failure(place, reason)
    return list(found.values())


def _pytest_blocks(lines: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Test name to the lines of its block that tell: the statement, the `E` lines, the place."""
    blocks: dict[str, tuple[int, ...]] = {}
    for place, line in enumerate(lines):
        match = _PYTEST_BLOCK.match(line.rstrip()) if line.startswith("___") and len(line) < LONG_LINE else None
        if match is None:
            continue
        telling: list[int] = []
        for below in range(place + 1, min(len(lines), place + 400)):
            if lines[below].startswith(("____", "====")):
                break
            if _PYTEST_LINE.match(lines[below]):
                telling.append(below)
        blocks.setdefault(match.group(1).split(".")[-1].split("[")[0], tuple(telling[:REASON_LINES]))
    return blocks


def _reason_above(lines: Sequence[str], place: int) -> tuple[int, ...]:
    """The indented lines over a failing Go test, back to where it began."""
    above: list[int] = []
    for other in range(place - 1, max(-1, place - BLOCK_LINES), -1):
        if not lines[other].startswith((" ", "\t")):
            break
        above.append(other)
    return tuple(reversed(above[:REASON_LINES]))


def _reason_below(lines: Sequence[str], place: int) -> tuple[int, ...]:
    """The lines under a failing test's line up to the next rule, test or outdented text; of a trace its last lines."""
    indent = _indent(lines[place])
    below: list[int] = []
    blank = 0
    for other in range(place + 1, min(len(lines), place + BLOCK_LINES)):
        line = lines[other]
        if _RULE.match(line):
            if below:
                break
            continue
        if not line.strip():
            blank += 1
            if blank > 2 or (below and not _is_trace(lines, other + 1)):
                break
            continue
        if _FAILED.match(line) or _SUMMARY.match(line) or (not below and not _belongs(line, indent)):
            break
        below.append(other)
    if len(below) > REASON_LINES:
        below = [*below[:2], *below[-(REASON_LINES - 2) :]]
    return tuple(below)


def _belongs(line: str, indent: int) -> bool:
    return _indent(line) > indent or line.startswith(("Traceback", "AssertionError", "thread '"))


def _is_trace(lines: Sequence[str], place: int) -> bool:
    return place < len(lines) and lines[place].startswith((" ", "\t", "Traceback", "During", "The above", "Caused"))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
