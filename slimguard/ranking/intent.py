"""A query as a list of concepts, each with alternatives in other words and languages; never looks at tools."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from slimguard import policy
from slimguard.ranking import lexicon, products, text
from slimguard.ranking.languages import language_of
from slimguard.ranking.lexicon import Kind, Phrase
from slimguard.ranking.values import in_words

_LATIN_WORD = re.compile(r"[A-Za-zÀ-ɏ][A-Za-z0-9À-ɏ]*")

Repair = Callable[[str, str, str], dict[Phrase, tuple[Kind, float]]]
"""Readings of a word that the catalog does not have, given the word, the one before and the one after it."""


@dataclass(frozen=True, slots=True)
class Concept:
    """One thing that the query says. `known` tells vocabulary from names and values such as `Seattle`."""

    word: str
    alternatives: dict[Phrase, tuple[Kind, float]]
    """Each way to say it, with how it relates and how well it fits (1 is best)."""
    soft: bool = False
    known: bool = True
    negated: bool = False
    product: bool = False
    """Whether it names a product: a tool of another product is rarely what was meant."""
    proper: bool = False
    """Whether it is written like a name, of a place or a person for instance, and is no word of the lexicon."""
    overlapping: bool = False
    size: int = 1


@dataclass(frozen=True, slots=True)
class _Word:
    raw: str
    """Folded, as written."""
    negated: bool
    capital: bool = False
    """Whether it is written like a name: with a capital letter within a clause."""


def read(query: str, knows: Callable[[str], bool], repair: Repair) -> list[Concept]:
    """The concepts of `query` in order; `knows` tells whether the catalog has a term, `repair` mends unknown words."""
    cleaned = in_words(text.clean(query[: policy.FIND_QUERY_CHARS]))
    words = text.split_words(cleaned)[: policy.QUERY_WORDS]
    spaced = [word for word in words if not text.is_cjk(word)]
    language = language_of(spaced, knows)
    names = _written_like_names(cleaned)
    marked = [replace(word, capital=word.raw in names) for word in _marked(cleaned, language)[: policy.QUERY_WORDS]]
    if any(text.is_cjk(word.raw) for word in marked):
        script = _script(cleaned)
        found: list[Concept] = []
        start = 0
        for at, word in enumerate(marked):
            if text.is_cjk(word.raw):
                found.extend(_spaced(marked[start:at], "en", knows, repair))
                found.extend(_run(word, script, knows))
                start = at + 1
        found.extend(_spaced(marked[start:], "en", knows, repair))
        return found
    return _spaced(marked, language, knows, repair)


def _written_like_names(cleaned: str) -> frozenset[str]:
    """Folded words that begin with a capital within a clause of other words."""
    found: set[str] = set()
    for clause in _clauses(cleaned):
        words = _LATIN_WORD.findall(clause)
        if len(words) > 1 and all(word[0].isupper() for word in words):
            continue
        rest = words if any(text.is_cjk(char) for char in clause) else words[1:]
        found.update(text.fold(word) for word in rest if word[0].isupper())
    return frozenset(found)


def _script(cleaned: str) -> str:
    if any("\u3040" <= char <= "\u30ff" for char in cleaned):
        return "ja"
    return "ko" if any("\uac00" <= char <= "\ud7af" for char in cleaned) else "zh"


# --- negation ---------------------------------------------------------------------------------------------------------


def _marked(cleaned: str, language: str) -> list[_Word]:
    """Words with whether a cue of negation rules them out. A scope ends at punctuation, a conjunction or four words."""
    found: list[_Word] = []
    for clause in _clauses(cleaned):
        words = text.split_words(clause)
        if any(text.is_cjk(word) for word in words):
            found.extend(_marked_cjk(words))
        else:
            found.extend(_marked_spaced(words, language))
    return found


def _clauses(cleaned: str) -> list[str]:
    for mark in ",;:.!?()，。；！？、（）\n":
        if mark in cleaned:
            cleaned = cleaned.replace(mark + " " if mark in ".:!?" else mark, "\n")
    return cleaned.split("\n")


def _cues(key: str) -> frozenset[str]:
    return lexicon.lists("lexicon_negation.tsv").get(key, frozenset())


def _marked_spaced(words: list[str], language: str) -> list[_Word]:
    before, ends = _cues(f"{language} before"), _cues(f"{language} end")
    found: list[_Word] = []
    left = 0
    at = 0
    while at < len(words):
        cue = next((size for size in (3, 2, 1) if " ".join(words[at : at + size]) in before), 0)
        if cue:
            left = 5
            at += cue
            continue
        if words[at] in ends:
            left = 0
        found.append(_Word(words[at], left > 0))
        left = max(0, left - 1)
        at += 1
    return found


def _marked_cjk(words: list[str]) -> list[_Word]:
    found: list[_Word] = []
    negated = False
    for word in words:
        if not text.is_cjk(word):
            found.append(_Word(word, negated))
            continue
        pieces, negated = _split_run(text.fold(word), negated=negated)
        for piece, ruled_out in pieces:
            if piece == "":
                found = [replace(one, negated=True) for one in found]
            else:
                found.append(_Word(piece, ruled_out))
    return found


def _split_run(run: str, *, negated: bool) -> tuple[list[tuple[str, bool]], bool]:
    """`run` cut at cues of negation; an empty piece says that all before it is ruled out."""
    for cue in sorted(_cues("ja after") | _cues("ko after"), key=len, reverse=True):
        head, found, tail = run.partition(cue)
        if found and not _is_chinese(run):
            rest, after = _split_run(tail, negated=False) if tail else ([], False)
            return [*([(head, True)] if head else []), ("", True), *rest], after
    for cue in sorted(_cues("zh before"), key=len, reverse=True):
        head, found, tail = run.partition(cue)
        if found and _is_chinese(run):
            ended = next(
                (at for at in range(len(tail)) for end in _cues("zh end") if tail.startswith(end, at)), len(tail)
            )
            pieces = [(head, negated), (tail[:ended], True), (tail[ended:], False)]
            return [piece for piece in pieces if piece[0]], ended == len(tail)
    return [(run, negated)], negated


def _is_chinese(run: str) -> bool:
    return all("\u3400" <= char <= "\u9fff" for char in run)


# --- words with spaces ------------------------------------------------------------------------------------------------


def _spaced(words: list[_Word], language: str, knows: Callable[[str], bool], repair: Repair) -> list[Concept]:
    """Concepts of words in a language with spaces: the longest known phrases first, then single words."""
    found: list[Concept] = []
    at = 0
    while at < len(words):
        size, concept = _longest_phrase(words, at, language)
        if concept is None:
            size, concept = 1, _single(words, at, language, knows, repair)
        if concept is not None:
            found.append(replace(concept, negated=words[at].negated))
        at += size
    return found


def _longest_phrase(words: list[_Word], at: int, language: str) -> tuple[int, Concept | None]:
    """The longest phrase of two words or more that the lexicon knows and that starts at `at`."""
    for size in range(min(lexicon.LONGEST_PHRASE, len(words) - at), 1, -1):
        raw = [word.raw for word in words[at : at + size]]
        stems = tuple(text.stem(word) for word in raw)
        alternatives = lexicon.english().get(stems)
        own: Phrase = stems
        if alternatives is None and language != "en":
            alternatives = lexicon.meaning(language, raw)
        if alternatives is not None:
            merged: dict[Phrase, tuple[Kind, float]] = {own: ("same", 1.0)}
            merged.update({phrase: (kind, 1.0) for phrase, kind in alternatives.items()})
            for stem in stems:
                merged.setdefault((stem,), ("part", 1.0))
            named = " ".join(raw) in products.names()
            return size, Concept(" ".join(raw), merged, product=named, size=size)
    return 1, None


def _single(words: list[_Word], at: int, language: str, knows: Callable[[str], bool], repair: Repair) -> Concept | None:
    raw = words[at].raw
    if raw in lexicon.lists("lexicon_stopwords.tsv")[language]:
        return None
    stem = text.stem(raw)
    soft = raw in lexicon.lists("lexicon_stopwords.tsv")["soft"] and language == "en"
    merged: dict[Phrase, tuple[Kind, float]] = {(stem,): ("same", 1.0)}
    foreign = lexicon.meaning(language, [raw]) if language != "en" else None
    alternatives = foreign if foreign is not None else lexicon.english().get((stem,))
    if alternatives is not None:
        merged.update({phrase: (kind, 1.0) for phrase, kind in alternatives.items()})
    known = alternatives is not None
    if foreign is None and len(raw) > 1 and not any(knows(phrase[0]) for phrase in merged):
        before = words[at - 1].raw if at else ""
        after = words[at + 1].raw if at + 1 < len(words) else ""
        for phrase, reading in repair(raw, before, after).items():
            merged.setdefault(phrase, reading)
            for other, kind in lexicon.english().get(phrase, {}).items():
                merged.setdefault(other, (kind, reading[1] * 0.8))
    capital = words[at].capital
    product = raw in products.names() or (capital and raw in products.ambiguous())
    return Concept(raw, merged, soft=soft, known=known, product=product, proper=capital and not known)


# --- runs without spaces ----------------------------------------------------------------------------------------------


def _run(word: _Word, script: str, knows: Callable[[str], bool]) -> list[Concept]:
    """Concepts of a CJK run: known words, and the character pairs that no known word covers."""
    run = word.raw
    if script == "zh":
        run, script = _chinese_or_japanese(run)
    stop = lexicon.lists("lexicon_stopwords.tsv")[script]
    found: list[Concept] = []
    covered = [False] * len(run)
    for start, end in lexicon.segment(run, script):
        covered[start:end] = [True] * (end - start)
        found.append(_known_cjk(run[start:end], script, negated=word.negated))
    blocked = _stopped(run, covered, stop)
    for at in range(max(1, len(run) - 1)):
        pair = run[at : at + 2]
        inside = [covered[place] for place in range(at, at + len(pair))]
        if all(inside) or any(blocked[at : at + len(pair)]) or not knows(pair):
            continue
        found.append(
            Concept(pair, {(pair,): ("same", 1.0)}, negated=word.negated, known=False, overlapping=any(inside))
        )
    return found


def _chinese_or_japanese(run: str) -> tuple[str, str]:
    """A run without kana as Chinese in simplified characters, or as Japanese when more of it is known there."""
    simplified = lexicon.simplify(run)
    chinese = sum(end - start for start, end in lexicon.segment(simplified, "zh"))
    japanese = sum(end - start for start, end in lexicon.segment(run, "ja"))
    return (run, "ja") if japanese > chinese else (simplified, "zh")


def _known_cjk(word: str, script: str, *, negated: bool) -> Concept:
    merged: dict[Phrase, tuple[Kind, float]] = {(word,): ("same", 1.0)}
    if len(word) > 2:
        for pair in text.bigrams(word):
            merged.setdefault((pair,), ("part", 1.0))
    for phrase, kind in lexicon.words_of(script)[word].items():
        merged[phrase] = (kind, 1.0)
    return Concept(word, merged, negated=negated, product=word in products.names())


def _stopped(run: str, covered: list[bool], stop: frozenset[str]) -> list[bool]:
    """Places of `run` that belong to words which say nothing, the longest first, outside known words."""
    blocked = [False] * len(run)
    for word in sorted(stop, key=lambda item: (-len(item), item)):
        at = run.find(word)
        while at >= 0:
            if not any(covered[at : at + len(word)]) and not any(blocked[at : at + len(word)]):
                blocked[at : at + len(word)] = [True] * len(word)
            at = run.find(word, at + 1)
    return blocked
