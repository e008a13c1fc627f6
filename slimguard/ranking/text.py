"""Text as the ranking sees it: clean, split, folded and stemmed words; never the text that is shown to anyone."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Protocol, cast

import snowballstemmer

_HIDDEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff9-\uffff\U000e0000-\U000e0fff]"
)
"""Characters that print nothing: zero-width, bidi controls, variation selectors, tags, fillers."""

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_CJK_CLASS = "\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_CJK = re.compile(f"[{_CJK_CLASS}]")
_RUNS = re.compile(f"[{_CJK_CLASS}]+|[^{_CJK_CLASS}]+")
_DIGITS = re.compile(r"(?<=[a-z])(?=\d)|(?<=\d)(?=[a-z])")
_BRITISH_IS = re.compile("is(e[drs]?|ing|ations?)$")
"""`summarise` is `summarize`: on both sides, so that it does no harm to words that are always written so."""
_JOINED_CHARS = 18

LATIN = {"en": "english", "es": "spanish", "fr": "french", "de": "german", "pt": "portuguese"}
"""Languages written with spaces, and the names of their Snowball stemmers."""


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802 - the library's own name


class _Stemmers(threading.local):
    """A stemmer a language and thread: Snowball stemmers keep state while they work."""

    def __init__(self) -> None:
        make = cast("Callable[[str], _Stemmer]", snowballstemmer.stemmer)  # pyright: ignore[reportUnknownMemberType]
        self.of = {language: make(name) for language, name in LATIN.items()}


_stemmers = _Stemmers()


def clean(text: str) -> str:
    """NFKC text without hidden characters; control characters become spaces, line ends stay."""
    if text.isascii() and text.isprintable():
        return text
    text = _HIDDEN.sub("", text)
    return _CONTROL.sub(" ", _HIDDEN.sub("", unicodedata.normalize("NFKC", text)))


def has_hidden(text: str) -> bool:
    """Whether `text` holds characters that print nothing or change the direction of writing."""
    return not text.isascii() and _HIDDEN.search(_without_emoji_marks(text)) is not None


def has_control(text: str) -> bool:
    """Whether `text` holds control characters other than tab and line ends, or lone surrogates."""
    return _CONTROL.search(text.replace("\r", "")) is not None


def _without_emoji_marks(text: str) -> str:
    """Without the joiners and selectors that honest emoji and scripts need (ZWJ, ZWNJ between letters, VS15/16)."""
    return re.sub(r"(?<=[^\x00-\x7f])[\u200c\u200d](?=[^\x00-\x7f])|[\ufe0e\ufe0f]|^\ufeff", "", text)


def is_cjk(word: str) -> bool:
    """Whether `word` holds Chinese, Japanese or Korean characters."""
    return not word.isascii() and _CJK.search(word) is not None


@lru_cache(maxsize=65536)
def fold(word: str) -> str:
    """Case-folded, and without accents for the Latin script."""
    word = word.casefold()
    if word.isascii() or is_cjk(word):
        return word
    parts = unicodedata.normalize("NFD", word.replace("ß", "ss").replace("ø", "o").replace("ł", "l"))
    return "".join(char for char in parts if not unicodedata.combining(char))


@lru_cache(maxsize=65536)
def stem(word: str, language: str = "en") -> str:
    """The stem of a folded word; words with digits and very short ones are their own stems."""
    if len(word) < 3 or not word.isalpha() or is_cjk(word):
        return word
    if language == "en" and len(word) > 5:
        word = _BRITISH_IS.sub(r"iz\1", word).replace("our", "or")
    return _stemmers.of[language].stemWord(word)


def split_words(text: str, *, identifiers: bool = False) -> list[str]:
    """Folded words of `text`, in order.

    With `identifiers`, `camelCase` and `snake_case` give their parts and the joined form; without, only what
    cannot be a brand is split (`getUser`, not `GitHub`). Possessives lose their `'s`, elisions their article.
    """
    found: list[str] = []
    for match in _WORD.finditer(text):
        for run in _RUNS.findall(match.group()) if is_cjk(match.group()) else (match.group(),):
            found.extend(_parts(run, identifiers=identifiers))
    return found


def _parts(chunk: str, *, identifiers: bool) -> list[str]:
    if is_cjk(chunk):
        return [chunk]
    before, quote, after = chunk.replace("’", "'").partition("'")
    if quote:
        chunk = before if len(before) > 2 and len(after) <= 2 else after if len(before) <= 2 else before + after
    joined = fold(chunk)
    parts = _CAMEL.sub(" ", chunk).split()
    if len(parts) > 1 and (identifiers or chunk[0].islower() or len(parts) > 2):
        return [fold(part) for part in parts] + ([joined] if len(joined) <= _JOINED_CHARS else [])
    return [joined]


def bigrams(run: str) -> list[str]:
    """Overlapping pairs of a CJK run; a single character is itself."""
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def join_key(text: str) -> str:
    """Letters and digits of `text`, folded and joined: `Get_Issue` and `get issue` are the same name."""
    return "".join(char for char in fold(clean(text)) if char.isalnum())
