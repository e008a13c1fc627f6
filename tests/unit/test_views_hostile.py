"""Texts that are made to be slow: no view takes long over blanks, brackets, dashes and the like."""

from __future__ import annotations

import json
import time

import pytest

from slimguard.document import document_of
from slimguard.model import Budget
from slimguard.tokens import Tokens
from slimguard.views.render import render

COUNTER = Tokens()
BUDGET = Budget(1_740, 6_900, 198, 2_000)
SECONDS = 4.0

UNITS = (
    " ", "\n", "\t", "│ ", "├─", "|", "-", "--- ", "[", "[[", "]", "(", "/", "a.", "a:", "a: \n", "# ", ":\n", "BEGIN:A\n",
    "a b ", "0", "0x", "a0", "\r\n", "\n \n", "From a 00:00\n", "commit 0000000\n", "level=", "\"", "'", "<", "<a ", "`--",
    "ERROR ", "src/a.b(1,", "@@ ", "+", "1,", "a\t", "a|", "---|", "- [", "{", "\\",
)  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_a_text_of_one_unit_repeated_is_quick(unit):
    for text in (unit * (60_000 // len(unit)), "\n".join([unit * 40] * 1_000), f"x\n{unit * 3_000}\ny\n" * 8):
        document = document_of(json.dumps({"content": [{"type": "text", "text": text}]}).encode())
        start = time.process_time()
        render(document, BUDGET, COUNTER)
        assert time.process_time() - start < SECONDS


@pytest.mark.parametrize("unit", ["[", "[a", "a.", "]", "x "])
def test_a_long_key_is_quick(unit):
    rows = [{unit * 5_000 + "]": place, "name": f"n{place}"} for place in range(30)]
    document = document_of(json.dumps({"content": [{"type": "text", "text": json.dumps(rows)}]}).encode())
    start = time.process_time()
    render(document, BUDGET, COUNTER)
    assert time.process_time() - start < SECONDS


def test_a_text_of_very_many_tables_is_quick():
    table = "| name | count |\n|---|---|\n" + "".join(f"| part {place} | {place} |\n" for place in range(20))
    text = "\n".join(f"## Part {place}\n\n{table}" for place in range(4_000))
    document = document_of(json.dumps({"content": [{"type": "text", "text": text}]}).encode())
    start = time.process_time()
    render(document, BUDGET, COUNTER)
    assert time.process_time() - start < SECONDS
