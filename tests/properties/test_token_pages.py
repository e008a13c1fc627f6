"""Counts and pages of any text: chunks count exactly, pages concatenate, and no page is over a limit."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from slimguard.tokens import Tokens, cuts, vocabulary

TOKENS = Tokens()

BITS = [
    *" \t\n\r/'\"\\,.;:!?{}[]()<>=+-_*#@%&|`~^$",
    *[
        "  ",
        "\n\n",
        "\r\n",
        "\n  ",
        "\n\t",
        "\n/",
        "//",
        "'s",
        "'LL",
        "'re",
        "\xa0",
        "\u3000",
        "\x85",
        "\u2028",
        "\x1c",
    ],
    *[
        "a",
        "Z",
        "the",
        "The",
        "HTTP",
        "camelCase",
        "é",
        "e\u0301",
        "ß",
        "Ж",
        "ſ",
        "ǅ",
        "ʰ",
        "ª",
        "ب",
        "ก",
        "ि",
        "한",
        "の",
        "世界",
    ],
    *[
        "0",
        "7",
        "123",
        "4567",
        "½",
        "٣",
        "Ⅷ",
        "①",
        "〇",
        "々",
        "，",
        "。",
        "「",
        "’",
        "…",
        "＇",
        "！",
        "😀",
        "👩‍👩‍👧",
        "🏽",
        "\ufe0f",
        "\u200d",
    ],
]

texts = st.one_of(
    st.lists(st.sampled_from(BITS), max_size=120).map("".join),
    st.text(st.characters(exclude_categories=("Cs",)), max_size=200),
    st.builds(
        lambda left, bit, times, right: left + bit * times + right,
        st.lists(st.sampled_from(BITS), max_size=20).map("".join),
        st.sampled_from(BITS),
        st.integers(1, 600),
        st.lists(st.sampled_from(BITS), max_size=20).map("".join),
    ),
)


def encoded(text: str) -> int:
    return len(vocabulary.shared_vocabulary().encode(text))


def is_whole(text: str, place: int) -> bool:
    left, right = text[place - 1 : place], text[place : place + 1]
    return not (left == "\r" and right == "\n") and not ("\ud800" <= left <= "\udbff" and "\udc00" <= right <= "\udfff")


def pages_of(text: str, limit: int, **limits: object) -> list[str]:
    pages: list[str] = []
    start = 0
    while start < len(text):
        end = TOKENS.page_end(text, start, limit, **limits)  # type: ignore[arg-type]
        assert end > start
        assert is_whole(text, end)
        pages.append(text[start:end])
        start = end
    return pages


@settings(max_examples=400, deadline=None)
@given(texts)
def test_every_exact_cut_splits_a_text_into_its_own_tokens(text: str) -> None:
    encode = vocabulary.shared_vocabulary().encode
    whole = list(encode(text))
    for place in range(1, len(text)):
        if cuts.is_exact(text, place):
            assert [*encode(text[:place]), *encode(text[place:])] == whole, (text[:place], text[place:])


@settings(max_examples=200, deadline=None)
@given(texts, st.integers(1, 40), st.integers(1, 60))
def test_counting_in_small_chunks_gives_the_encoders_count(text: str, wanted: int, more: int) -> None:
    start = total = 0
    exact = True
    while start < len(text):
        end, sure = cuts.next_cut(text, start, len(text), wanted=wanted, most=wanted + more)
        assert start < end <= max(start + wanted + more, start + 2)
        total += encoded(text[start:end])
        exact = exact and sure
        start = end
    if exact:
        assert total == encoded(text)
    assert TOKENS.count(text) == encoded(text)


@settings(max_examples=300, deadline=None)
@given(texts, st.integers(1, 200), st.booleans())
def test_pages_concatenate_and_none_is_over_the_limit(text: str, limit: int, cut_lines: bool) -> None:
    pages = pages_of(text, limit, cut_lines=cut_lines)
    assert "".join(pages) == text
    for page in pages:
        assert encoded(page) <= limit or len(page) == 1 or page == "\r\n"


@settings(max_examples=300, deadline=None)
@given(texts, st.integers(1, 120), st.integers(1, 300), st.integers(1, 9))
@example("\r\n" * 3, 9, 1, 9)
def test_pages_keep_to_tokens_bytes_and_lines_at_once(text: str, limit: int, max_bytes: int, max_lines: int) -> None:
    pages = pages_of(text, limit, max_bytes=max_bytes, max_lines=max_lines)
    assert "".join(pages) == text
    for page in pages:
        if len(page) == 1 or page == "\r\n":
            continue
        assert encoded(page) <= limit
        assert len(page.encode()) <= max_bytes
        assert page.count("\n") + (not page.endswith("\n")) <= max_lines


@settings(max_examples=150, deadline=None)
@given(st.text(st.characters(), max_size=150), st.integers(1, 30))
def test_texts_with_lone_surrogates_are_paged_like_any_other(text: str, limit: int) -> None:
    assert "".join(pages_of(text, limit)) == text


@settings(max_examples=40, deadline=None)
@given(st.text("abcdefghijklmnopqrstuvwxyz", min_size=300, max_size=900), st.integers(1, 100))
def test_a_text_without_any_cut_is_still_paged_within_the_limit(text: str, limit: int) -> None:
    pages = pages_of(text, limit)
    assert "".join(pages) == text
    assert max(map(encoded, pages)) <= limit


@settings(max_examples=200, deadline=None)
@given(texts, st.integers(-2, 400))
def test_within_agrees_with_the_count(text: str, limit: int) -> None:
    assert TOKENS.within(text, limit) == (encoded(text) <= limit)


@pytest.mark.parametrize(
    "text",
    [
        " " * 1_000_000,
        "x" + " " * 300_000 + "y",
        "7" * 300_000,
        "字" * 100_000,
        "😀" * 50_000,
        "\r\n" * 100_000,
        "a\u0301" * 60_000,
        "=" * 200_000,
    ],
    ids=lambda text: f"{text[:3]!a} {len(text)}",
)
def test_pages_of_endless_runs_are_full_or_a_chunk_long(text: str) -> None:
    pages = pages_of(text, 2_000)
    assert "".join(pages) == text
    for page in pages:
        assert TOKENS.count(page) <= 2_000
    assert min(map(TOKENS.count, pages[:-1]), default=2_000) >= 500
