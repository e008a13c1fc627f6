"""What failed in the output of commands and test runners: failing tests, their summary and the exit line, as written."""

from __future__ import annotations

import re
from collections.abc import Sequence

_FAILED = re.compile(
    r"^(?:FAILED |ERROR )\S+(?:::|\.py)"  # pytest
    r"|^(?:FAIL|ERROR): \w+ \("  # unittest
    r"|^\s*--- FAIL: |^FAIL\t|^FAIL$"  # go
    r"|^test .{1,200} \.\.\. FAILED"  # cargo
    r"|^\s*(?:not ok \d+)"  # TAP
    r"|^\s*(?:✕|✗|✖|×|❌) ?\S|^\s*● .{2,200} › |^\s*FAIL {1,2}\S"  # jest, vitest, mocha
    r"|^\s+Failed \S.{0,200}\[|^rspec \S+:\d+"  # dotnet, rspec
    r"|^\[ERROR\]\s+\S+(?:\.\w+)?:\d+|^\[ERROR\] +\S+\.\w+  Time elapsed"  # surefire
    r"|^\s*\d+ - \S.*\(Failed\)|^\d+/\d+ Test +#?\d+: .*\*\*\*"  # ctest
    r"|^\[  FAILED  \] \S+\.\S+"  # googletest
)
_SUMMARY = re.compile(
    r"^=+ .*\b(?:passed|failed|error|errors|no tests ran)\b.* =+$|^(?:\d+ (?:failed|passed|skipped)[, ]).*"
    r"|^Ran \d+ tests? in |^FAILED \((?:failures|errors|skipped)|^Tests?:?\s+.*\b(?:failed|passed)\b|^Test Suites?: |^Test Files "
    r"|^test result: |^\[?(?:ERROR|INFO|WARNING)?\]? ?Tests run: \d+.*Failures: \d+|^\d+ examples?, \d+ failures?|^\d+ passing|^\d+ failing"
    r"|^# (?:tests|pass|fail) \d+|^BUILD (?:FAILED|SUCCESS\w*|FAILURE)|^\[INFO\] BUILD |^(?:Failed|Passed)!? +- Failed: |"
    r"^\d+% tests passed|^\[  (?:PASSED|FAILED)  \] \d+ tests?|^Found \d+ errors? in|^OK \(|^OK$"
)
_EXIT = re.compile(
    r"exit(?:ed)?(?: with)?(?: exit)?[ -](?:code|status)[ :=]*-?\d+|returned (?:non-zero )?(?:exit )?(?:code|status) ?:? ?-?\d+"
    r"|^make(?:\[\d+\])?: \*\*\* |^npm ERR! (?:code|errno)|^error: could not compile|^Command failed|^ERROR: (?:Job failed|failed)"
    r"|^\s*(?:Segmentation fault|Killed|Aborted|core dumped)|Process completed with exit code",
    re.IGNORECASE,
)
_CANDIDATE = re.compile(
    r"(?i)fail|error|not ok|[✕✗✖×❌●]|rspec|passed|passing|exit|ran \d|tests?\b|\*\*\*|killed|abort|segm|^ok|errno"
)
_PREFIX = re.compile(r"^(?:\d{4}-\d\d-\d\dT[\d:.]+Z? ?|\[\d\d:\d\d:\d\d\] ?|\S+ +\| )")


def failing_lines(lines: Sequence[str]) -> tuple[list[int], list[int], list[int]]:
    """Lines (0-based) that name a failing test, that sum a run up, and that tell an exit status."""
    failed: list[int] = []
    summary: list[int] = []
    exits: list[int] = []
    for place, line in enumerate(lines):
        if len(line) > 600 or not _CANDIDATE.search(line):
            continue
        bare = _PREFIX.sub("", line, count=1).rstrip()
        if _FAILED.match(bare):
            failed.append(place)
        elif _SUMMARY.match(bare):
            summary.append(place)
        elif _EXIT.search(bare):
            exits.append(place)
    return failed, summary, exits
