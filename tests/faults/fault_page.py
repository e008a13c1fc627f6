"""Writes the matrix into docs/explanation/faults.md: `python tests/faults/fault_page.py`; `--check` only compares.

Counts and endings come from fault_table.py, results from fault_results.json, which `make faults` writes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent.parent))

from fault_table import CARRIERS, CASES, FAULTS, Ending, endings_of  # noqa: E402

from slimguard.points import POINTS  # noqa: E402

PAGE = HERE.parent.parent / "docs" / "explanation" / "faults.md"
RESULTS = HERE / "fault_results.json"
BEGIN, END = "<!-- matrix: written by tests/faults/fault_page.py -->", "<!-- end of matrix -->"

WORDS = {"-": "nothing", "failed": "not sent", "unknown": "unknown", "stored": "stored"}


def section(results: dict[str, Any]) -> str:
    """The generated part of the page."""
    held = sum(tuple(results.get(case.name, ())) in case.endings for case in CASES)
    twice = sum(ending[0] > 1 for ending in results.values())
    lines = [
        f"{len(CASES)} cases: {len(POINTS)} points × {len(FAULTS)} faults × {len(CARRIERS)} ways to the server.",
        "",
        f"Last whole run: {held} of {len(CASES)} ended as the table says, the tool ran twice in {twice}.",
        "",
        *(f"- **{name}**: {words}" for name, words in FAULTS.items()),
        "",
    ]
    for carrier in CARRIERS:
        lines += [f"### {carrier}", "", "| point | " + " | ".join(FAULTS) + " |", "|---" * (len(FAULTS) + 1) + "|"]
        for point in POINTS:
            cells = (_cell(endings_of(carrier, fault, point)) for fault in FAULTS)
            lines.append(f"| {point} | " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines)


def _cell(endings: tuple[Ending, ...]) -> str:
    return " or ".join(f"{WORDS[state]} ({executed})" for executed, state in endings)


def page_with(text: str, generated: str) -> str:
    """The page with its generated part replaced."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{generated}\n{END}{after}"


def results() -> dict[str, Any]:
    """Endings of the last whole run by the name of the case."""
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def main() -> int:
    """Write the page, or say whether it is up to date."""
    text = PAGE.read_text()
    wanted = page_with(text, section(results()))
    if "--check" in sys.argv:
        return int(wanted != text)
    PAGE.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
