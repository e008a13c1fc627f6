"""Values in a query: a path says `file` and the format, a sum says `calculate`."""

from __future__ import annotations

import pytest

from slimguard.ranking.values import in_words


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("read /home/ann/data/people.xlsx", "read file xlsx"),
        ("read the spreadsheet /home/ann/data/people.xlsx", "read the spreadsheet file"),
        ("save markdown to ~/notes/issues/search.md", "save markdown to file"),
        (r"open 'C:\Users\ann\report.docx' now", "open ' file docx ' now"),
        ("list files in /var/log/", "list files in log"),
        ("read ./src/main.py.", "read file py"),
    ],
)
def test_a_path_says_file_and_format(query: str, words: str) -> None:
    assert in_words(query).split() == words.split()


@pytest.mark.parametrize(
    "query", ["read and/or write", "fork owner/name", "on 12/11/2025", "call 030-123 / 4-5", "a TCP/IP/UDP scan", "a/b"]
)
def test_what_only_looks_like_a_path_stays(query: str) -> None:
    assert in_words(query) == query


@pytest.mark.parametrize("query", ["(1234*5.6)/7", "what is 3 + 4", "17 × 23", "2^10 exactly"])
def test_a_sum_says_calculate(query: str) -> None:
    assert in_words(query) == f"{query} calculate"
