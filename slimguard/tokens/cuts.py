"""Where a text may be cut so that its parts have together exactly the tokens of the whole; never encodes anything.

o200k_base splits a text into pieces by `vocabulary.SPLIT_PATTERN` and merges bytes inside a piece only. A place is
an exact cut when every text has a piece's end there, whatever stands further left or right. docs/explanation/tokens.md
goes through the cases; a property test tries each against the encoder.
"""

from __future__ import annotations

import re

_WORD = "A-Za-z0-9\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3"
_MARK = r"!-&(-/:-@\[-`{-~" + "\u2010-\u2027\u3001-\u3003\u3008-\u3011\uff01-\uff0f\uff1a-\uff20"

_LINE = r"(?<=\n)(?=[^\s/]|[ \t]+[^\s])"
_CUT = re.compile(
    r"(?<=\S)(?=[ \t\xa0\u3000])"  # blanks belong to what follows
    rf"|{_LINE}"
    rf"|(?<=[{_WORD}])(?=[{_MARK}])"  # a word ends before punctuation other than an apostrophe
    r"|(?<=[0-9])(?=[A-Za-z])|(?<=[!-/:-@A-Z\[-`a-z{-~])(?=[0-9])"  # digits stand alone
    r"|(?<=[a-z]{2})(?=[A-Z])"  # two letters, since 'll and 're belong to the word before them in any case
)
_LINE_CUT = re.compile(_LINE)

_STRAY = re.compile("[\u0300-\u036f\u0900-\u0903\u093a-\u094f\u200d\u20d0-\u20ff\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]")
"""What is drawn together with the character before it."""

_JOINER = "\u200d"
_NEAR = 256
_CLUSTER = 16


def is_exact(text: str, place: int) -> bool:
    """Whether `place` is known to be an exact cut of `text`; both ends are."""
    return place in (0, len(text)) or _CUT.match(text, place) is not None


def is_exact_line(text: str, place: int) -> bool:
    """Whether `place` is an exact cut right after a newline."""
    return _LINE_CUT.match(text, place) is not None


def next_cut(text: str, start: int, stop: int, *, wanted: int, most: int) -> tuple[int, bool]:
    """End of a chunk of `text[start:stop]` of about `wanted` and never over `most` characters, and if it is exact.

    Inexact only when a run of `most` characters has no exact cut at all. `stop` counts as exact: what follows it is
    not looked at.
    """
    if stop - start <= wanted:
        return stop, True
    end = start + most
    found = _CUT.search(text, start + wanted, min(stop, end + 1))
    if found is not None:
        return found.start(), True
    if stop <= end:
        return stop, True
    last = _last_match(text, start + 1, start + wanted)
    if last is not None:
        return last, True
    return _blunt(text, start, end)


def cut_near(text: str, low: int, high: int) -> int | None:
    """The last exact cut in the few hundred characters up to `high` (inclusive), after `low`; None without one."""
    return _last_match(text, max(low + 1, high - _NEAR), high)


def whole_character(text: str, low: int, place: int) -> int:
    """`place`, or up to a few characters before it where it would cut what is drawn as one; always after `low`.

    A surrogate pair and a CR LF are never cut, if need be by going one character further.
    """
    end = max(place, low + 1)
    for candidate in range(end, max(low, end - _CLUSTER), -1):
        if not _inside(text, candidate):
            return candidate
    if not _inside_pair(text, end):
        return end
    return end - 1 if end - 1 > low else end + 1


def _inside(text: str, place: int) -> bool:
    if not 0 < place < len(text):
        return False
    return _inside_pair(text, place) or text[place - 1] == _JOINER or _STRAY.match(text, place) is not None


def _inside_pair(text: str, place: int) -> bool:
    if not 0 < place < len(text):
        return False
    left, right = text[place - 1], text[place]
    return (left == "\r" and right == "\n") or ("\ud800" <= left <= "\udbff" and "\udc00" <= right <= "\udfff")


def _last_match(text: str, low: int, high: int) -> int | None:
    """The last exact cut of `low` to `high`, both inclusive."""
    last = None
    for found in _CUT.finditer(text, low, min(len(text), high + 1)):
        last = found.start()
    return last if last is None or last <= high else None


def _blunt(text: str, start: int, end: int) -> tuple[int, bool]:
    """A cut at about `end` where there is none: digits in threes, which is exact, else between characters."""
    run = text[start:end]
    if len(run) < 3 or not (run.isascii() and run.isdecimal()):
        return whole_character(text, start, end), False
    return end - (end - start) % 3, True
