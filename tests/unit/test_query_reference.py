"""The examples in docs/reference/query-language.md are true."""

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "query-language.md"
EXAMPLE = re.compile(r"^```query (\w+)\n(.*?)\n((?:→ [^\n]*\n)+)```", re.MULTILINE | re.DOTALL)
PULLS = {
    "items": [
        {
            "number": 11,
            "title": "Round invoices",
            "state": "open",
            "draft": False,
            "additions": 30,
            "user": {"login": "ann"},
        },
        {
            "number": 12,
            "title": "Draft of search",
            "state": "open",
            "draft": True,
            "additions": 3,
            "user": {"login": "otto"},
        },
        {
            "number": 13,
            "title": "Sign webhooks",
            "state": "open",
            "draft": False,
            "additions": 7,
            "user": {"login": "otto"},
        },
    ],
    "meta": {"total": 3},
    "next_cursor": "abc",
}
PULLS["items"].append({**PULLS["items"][0], "number": 14, "state": "closed", "user": {"login": "otto"}})  # type: ignore[attr-defined]
LOG = """2026-03-14 10:00:01 INFO [w-1] start req=1
2026-03-14 10:00:02 ERROR [w-2] payment declined req=17
2026-03-14 10:00:03 INFO [w-2] retry req=18
2026-03-14 10:00:04 FATAL [w-1] ledger: out of balance by 1204.55 EUR
Traceback (most recent call last):
ValueError: totals differ
2026-03-14 10:00:06 INFO [w-3] done
"""
MANUAL = "# A manual\n\n## Exit codes\n\nThree means that a script failed.\n\n## Files\n\nNone.\n"


def examples() -> list[tuple[str, str, list[str]]]:
    found = EXAMPLE.findall(PAGE.read_text(encoding="utf-8"))
    return [(name, query, [line[2:] for line in lines.splitlines()]) for name, query, lines in found]


@pytest.mark.parametrize(("name", "query", "lines"), examples())
def test_an_example_gives_what_the_page_says(desk: Any, name: str, query: str, lines: list[str]):
    source = {"pulls": desk.json(PULLS), "log": desk.text(LOG), "manual": desk.text(MANUAL)}[name]
    answer = desk.ask(source, query)
    for line in lines:
        assert line in answer


def test_the_page_has_examples():
    assert len(examples()) >= 12
