"""Escapes are decoded as `json` does, and every offset finds its way there and back."""

from __future__ import annotations

import json
import random

import pytest

from slimguard.readers.unescaping import piece_end, unescaped

PARTS = ["\\\\", '\\"', '"', "\\n", "\\u6587", "\\ud83d\\ude00", "\\ud83d", "\\u0001", "\\/", "a", "é", "文", "\1", "n"]


def _text(seed: int, count: int) -> str:
    chance = random.Random(seed)
    return "".join(chance.choice(PARTS) for _ in range(count))


@pytest.mark.parametrize("seed", range(6))
def test_a_long_text_is_decoded_as_json_does(seed: int) -> None:
    chance = random.Random(seed)
    text = "".join(chance.choice([part for part in PARTS if part != '"']) for _ in range(20_000))
    assert unescaped(text).text == json.loads(f'"{text}"', strict=False)


@pytest.mark.parametrize("seed", range(6))
def test_offsets_find_the_way_back_across_pieces(seed: int) -> None:
    text = _text(seed, 12_000)
    made = unescaped(text)
    for offset in range(0, len(made.text), 37):
        start, end = made.origin(offset), made.origin(offset + 1)
        assert unescaped(text[start:end]).text == made.text[offset : offset + 1]
        assert made.arrived(start) == offset


@pytest.mark.parametrize("seed", range(40))
def test_no_piece_ends_inside_an_escape(seed: int) -> None:
    text = _text(seed, 400)
    whole = unescaped(text).text
    for size in (20, 27, 50, 51, 52, 53):
        start, parts = 0, list[str]()
        while start < len(text):
            end = piece_end(text, start, size)
            assert end > start
            parts.append(unescaped(text[start:end]).text)
            start = end
        assert "".join(parts) == whole


def test_a_run_of_backslashes_longer_than_a_piece_is_cut_between_pairs() -> None:
    text = "\\\\" * 30_000 + "\\n"
    assert unescaped(text).text == "\\" * 30_000 + "\n"


def test_what_is_no_escape_stays_as_it_is() -> None:
    text = '\\x \\u12 \\uZZZZ C:\\dir "quoted" \\'
    assert unescaped(text).text == text
