"""General vocabulary: which words mean the same, in which language; reviewed data files, never code or a model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Literal

from slimguard.ranking import text

Phrase = tuple[str, ...]
"""Index terms that belong together: `("pull", "request")`; one word is a phrase of one."""

Kind = Literal[
    "same",
    "synonym",
    "loose",
    "related",
    "abbreviation",
    "translation",
    "loose_translation",
    "compound",
    "typo",
    "part",
]
"""How an alternative relates to the query's word; `weights.Weights` has a number for each."""

CONCEPT_FILES = (
    "lexicon_actions.tsv",
    "lexicon_software.tsv",
    "lexicon_office.tsv",
    "lexicon_commerce.tsv",
    "lexicon_world.tsv",
)
CJK_LANGUAGES = ("zh", "ja", "ko")
LONGEST_PHRASE = 4


@dataclass(frozen=True, slots=True)
class Concept:
    """One meaning: English core words, English words that come near, and the words of other languages."""

    core: tuple[Phrase, ...]
    loose: tuple[Phrase, ...]
    native: dict[str, tuple[str, ...]]


def rows(name: str) -> Iterator[list[str]]:
    """Cells of each line of a data file; `#` starts a comment line."""
    content = files("slimguard").joinpath("data", name).read_text(encoding="utf-8")
    for line in content.splitlines():
        if line.strip() and not line.startswith("#"):
            yield line.split("\t")


def split_cell(cell: str) -> list[str]:
    """The comma-separated alternatives of a cell."""
    return [item.strip() for item in cell.split(",") if item.strip()]


def phrase_of(raw: str) -> Phrase:
    """English words as index terms."""
    return tuple(text.stem(word) for word in text.split_words(raw))


@cache
def concepts() -> tuple[Concept, ...]:
    """Every concept of the data files, in their order."""
    found: list[Concept] = []
    for name in CONCEPT_FILES:
        lines = rows(name)
        header = next(lines)
        for cells in lines:
            by_language = dict(zip(header, cells, strict=False))
            core, _, loose = by_language.pop("en").partition("|")
            native = {language: tuple(split_cell(cell)) for language, cell in by_language.items() if cell.strip()}
            found.append(Concept(_phrases(core), _phrases(loose), native))
    return tuple(found)


def _phrases(cell: str) -> tuple[Phrase, ...]:
    return tuple(dict.fromkeys(phrase_of(item) for item in split_cell(cell)))


@cache
def english() -> dict[Phrase, dict[Phrase, Kind]]:
    """Alternatives of each English phrase: concepts, abbreviations, products and what outcomes ask for."""
    found: dict[Phrase, dict[Phrase, Kind]] = defaultdict(dict)
    for concept in concepts():
        for phrase in concept.core:
            _add(found[phrase], concept.core, "synonym", phrase)
            _add(found[phrase], concept.loose, "loose", phrase)
            _add(found[phrase], _native_phrases(concept), "translation", phrase)
        for phrase in concept.loose:
            _add(found[phrase], concept.core, "loose", phrase)
            _add(found[phrase], _native_phrases(concept), "loose_translation", phrase)
    for short, long in rows("lexicon_abbreviations.tsv"):
        for key in split_cell(short):
            _add(found[phrase_of(key)], _phrases(long), "abbreviation", phrase_of(key))
    for outcome, wanted in rows("lexicon_related.tsv"):
        for key in split_cell(outcome):
            _add(found[phrase_of(key)], _phrases(wanted), "related", phrase_of(key))
    for said, wanted in rows("lexicon_english.tsv"):
        first, *others = _phrases(wanted)
        for key in split_cell(said):
            _add(found[phrase_of(key)], (first,), "synonym", phrase_of(key))
            _add(found[phrase_of(key)], tuple(others), "related", phrase_of(key))
    for names in rows("lexicon_products.tsv"):
        aliases = [name for name in split_cell(names[0]) if not text.is_cjk(name)]
        for alias in aliases:
            _add(found[phrase_of(alias)], tuple(phrase_of(name) for name in aliases), "abbreviation", phrase_of(alias))
    return dict(found)


_CLOSENESS: tuple[Kind, ...] = (
    "same",
    "abbreviation",
    "translation",
    "synonym",
    "loose_translation",
    "related",
    "loose",
)


def _add(target: dict[Phrase, Kind], phrases: tuple[Phrase, ...], kind: Kind, own: Phrase) -> None:
    """Note `phrases` as alternatives of `own`, keeping the closest kind of each."""
    for phrase in phrases:
        known = target.get(phrase)
        if phrase and phrase != own and (known is None or _CLOSENESS.index(kind) < _CLOSENESS.index(known)):
            target[phrase] = kind


def _native_phrases(concept: Concept) -> tuple[Phrase, ...]:
    """The Chinese, Japanese and Korean words of a concept as index terms: catalogs exist in those languages too."""
    words = (word for language in CJK_LANGUAGES for word in concept.native.get(language, ()))
    return tuple((word,) for word in words if len(word) > 1)


@cache
def words_of(language: str) -> dict[str, dict[Phrase, Kind]]:
    """Alternatives of each word of `language`, by the folded word; `meaning` also finds other forms of a word."""
    found: dict[str, dict[Phrase, Kind]] = defaultdict(dict)
    for concept in concepts():
        for word in concept.native.get(language, ()):
            target = found[_key(word, language)]
            _add(target, concept.core, "translation", ())
            _add(target, concept.loose, "loose_translation", ())
            _add(target, _native_phrases(concept), "synonym", (word,))
    if language in CJK_LANGUAGES:
        for names in rows("lexicon_products.tsv"):
            aliases = split_cell(names[0])
            for alias in aliases:
                if text.is_cjk(alias):
                    target = found[text.fold(alias)]
                    _add(target, tuple(phrase_of(name) for name in aliases if not text.is_cjk(name)), "translation", ())
                    _add(target, tuple((name,) for name in aliases if text.is_cjk(name)), "synonym", (alias,))
    return dict(found)


def _key(word: str, language: str) -> str:
    return text.fold(word) if language in CJK_LANGUAGES else " ".join(text.split_words(word))


@cache
def _by_beginning(language: str) -> dict[str, tuple[str, ...]]:
    """Words of a language by their first three letters, so that only the likely ones are ever stemmed."""
    found: dict[str, list[str]] = defaultdict(list)
    for word in words_of(language):
        found[word[:3]].append(word)
    return {beginning: tuple(words) for beginning, words in found.items()}


def meaning(language: str, said: Sequence[str]) -> dict[Phrase, Kind] | None:
    """Alternatives of a word or phrase of `language` in any of its forms, None if it is not known."""
    stems = [_stems(word, language) for word in said]
    found: dict[Phrase, Kind] = {}
    for word in _by_beginning(language).get(said[0][:3], ()):
        parts = word.split(" ")
        if len(parts) == len(stems) and all(
            own & _stems(part, language) for own, part in zip(stems, parts, strict=True)
        ):
            for phrase, kind in words_of(language)[word].items():
                _add(found, (phrase,), kind, ())
    return found or None


@lru_cache(maxsize=65536)
def _stems(word: str, language: str) -> frozenset[str]:
    """Stems of a word; German `kurs` has another one than `kurse`, so that both count."""
    plural = {text.stem(word + "e", language)} if language == "de" and word.endswith("s") else set[str]()
    return frozenset({text.stem(word, language), *plural})


@cache
def surface_words(language: str) -> frozenset[str]:
    """Folded single words of `language` as they are written, to tell languages apart."""
    return frozenset(
        text.fold(part)
        for concept in concepts()
        for word in concept.native.get(language, ())
        for part in word.split()
        if len(part) > 2
    )


@cache
def _long_words() -> tuple[frozenset[str], int]:
    words = {word for language in CJK_LANGUAGES for word in words_of(language) if len(word) > 2 and text.is_cjk(word)}
    return frozenset(words), max((len(word) for word in words), default=0)


def long_words(run: str) -> list[str]:
    """Known CJK words of three characters or more that stand in `run`; shorter ones are character pairs."""
    words, longest = _long_words()
    return [
        run[start : start + size]
        for start in range(len(run) - 2)
        for size in range(3, min(longest, len(run) - start) + 1)
        if run[start : start + size] in words
    ]


@cache
def _longest(language: str) -> int:
    return max((len(word) for word in words_of(language)), default=0)


def segment(run: str, language: str) -> list[tuple[int, int]]:
    """Spans of `run` that are known words of `language`, chosen to cover the most with the fewest words."""
    words, longest, size = words_of(language), _longest(language), len(run)
    best: list[tuple[float, int]] = [(0.0, 0)] * (size + 1)
    for start in range(size - 1, -1, -1):
        best[start] = (best[start + 1][0], 0)
        for length in range(1, min(longest, size - start) + 1):
            if run[start : start + length] in words:
                worth = best[start + length][0] + length - (0.9 if length == 1 else 0.3)
                if worth > best[start][0]:
                    best[start] = (worth, length)
    spans: list[tuple[int, int]] = []
    at = 0
    while at < size:
        length = best[at][1]
        if length:
            spans.append((at, at + length))
        at += length or 1
    return spans


@cache
def lists(name: str) -> dict[str, frozenset[str]]:
    """A data file of word lists: key -> words, folded, phrases with single spaces."""
    found: dict[str, set[str]] = defaultdict(set)
    for key, words in rows(name):
        found[key].update(text.fold(word) for word in split_cell(words))
    return {key: frozenset(words) for key, words in found.items()}


@cache
def _simplified() -> dict[int, str]:
    return {
        ord(old): new for pair in rows("lexicon_traditional.tsv") for old, new in zip(pair[0], pair[1], strict=True)
    }


def simplify(run: str) -> str:
    """Traditional Chinese characters as simplified ones; everything else stays."""
    return run.translate(_simplified())


def load() -> None:
    """Read every data file of this module now, so that no query waits for it."""
    english()
    _simplified()
    for language in (*CJK_LANGUAGES, *text.LATIN):
        _by_beginning(language)
        surface_words(language)
    for language in CJK_LANGUAGES:
        _longest(language)
