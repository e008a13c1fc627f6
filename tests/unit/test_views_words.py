"""Words that are looked for together are found as each would be alone."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from slimguard.views import failures, levels
from slimguard.views.deeptext import LONG_CHARS, long_text
from slimguard.views.lines import line_starts, lines_with, words_in

WORDS = ("exit", "Exit", "rror: ", "[info]", "✗", "***", "Traceback (", "E0")
_texts = st.lists(st.sampled_from((*WORDS, "\n", " ", "exi", "\ud800", "é", "\0", "***"))).map("".join)


@settings(max_examples=200)
@given(_texts)
def test_one_pass_finds_the_words_that_a_search_for_each_finds(text: str) -> None:
    assert words_in(text, WORDS) == [word for word in WORDS if word in text]


@settings(max_examples=200)
@given(_texts)
def test_lines_with_words_are_those_that_hold_one(text: str) -> None:
    lines = text.split("\n")
    expected = {place for place, line in enumerate(lines) if any(word in line for word in WORDS)}
    assert lines_with(text, line_starts(lines), WORDS) == expected


def test_every_word_is_found_in_a_text_that_holds_them_all() -> None:
    words = tuple(dict.fromkeys((*failures._CANDIDATES, *levels._OTHER_WORDS)))
    assert words_in("\n".join(words) * 50, words) == list(words)


def test_every_level_word_is_found_in_capitals() -> None:
    lines = [f"x {word}: y" for word in levels._WORDS]
    assert levels.levels_of(lines, "\n".join(lines), line_starts(lines)).keys() == set(range(len(lines)))


def test_an_exit_status_is_told_within_a_line_and_at_its_beginning() -> None:
    lines = ["a command exited with code 2", "make: *** [all] Error 2", "x Killed", "  Killed", "all is well, exit"]
    assert failures.failing_lines(lines)[2] == [0, 1, 3]


def test_a_string_of_half_of_a_value_is_found_wherever_it_stands() -> None:
    text = 'say \\"hello\\" ' * 400
    plain = text.replace("\\", "")
    for rest in ("", "x " * (LONG_CHARS // 2)):
        for value in ({"a": plain, "b": rest}, {"b": rest, "a": plain}):
            written = "{" + ",".join(f'"{key}":"{text if key == "a" else rest}"' for key in value) + "}"
            found = long_text(value, written)
            assert found is not None
            assert found[0] == ("a",)
