"""File paths in a query are values: what they say about the tool is `file` and the format."""

from __future__ import annotations

import pytest

from slimguard.ranking.values import without_paths


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
    assert without_paths(query).split() == words.split()


@pytest.mark.parametrize("query", ["read and/or write", "fork owner/name", "on 12/11/2025", "a TCP/IP/UDP scan", "a/b"])
def test_what_only_looks_like_a_path_stays(query: str) -> None:
    assert without_paths(query) == query
