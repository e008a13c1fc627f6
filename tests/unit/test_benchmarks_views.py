"""What the tasks benchmark rests on: a text of lines that differ in their numbers only costs little, ends included."""

from __future__ import annotations

import json

from slimguard.document import document_of
from slimguard.model import Budget
from slimguard.tokens import Tokens
from slimguard.views.render import render_strictly


def test_lines_that_differ_in_their_numbers_only_are_shown_twice_at_each_end() -> None:
    lines = [f"{number}. Pump {number} of the quarter was found in order." for number in range(1, 700)]
    text = "\n".join(["Report of the night", *lines, "End of the report"])
    result = json.dumps({"content": [{"type": "text", "text": text}]}).encode()
    body = render_strictly(document_of(result), Budget(1_740, 6_900, 198, 2_000), Tokens()).body
    assert "Report of the night" in body
    assert "End of the report" in body
    assert body.count("of the quarter") == 4


def test_lines_that_differ_in_words_are_shown_as_before() -> None:
    words = ("north", "south", "east", "west", "upper", "lower", "inner", "outer")
    lines = [f"The {one} {two} gate of the harbour is open." for one in words for two in words] * 8
    result = json.dumps({"content": [{"type": "text", "text": "\n".join(lines)}]}).encode()
    body = render_strictly(document_of(result), Budget(1_740, 6_900, 198, 2_000), Tokens()).body
    assert body.count("of the harbour") > 15
