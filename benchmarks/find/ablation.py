"""What each part of the ranking is worth: hit@3 without it, one part at a time. Run with `run.py --only ablation`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from benchmarks.find import data
from slimguard import ranking
from slimguard.model import Tool
from slimguard.ranking import intent, lexicon, products, text, verbs
from slimguard.ranking.index import build
from slimguard.ranking.weights import DEFAULT, Weights

SETS = (
    "livemcp_claude_big",
    "livemcp_tasks",
    "blind_en",
    "blind_zh",
    "blind_ml",
    "stabletoolbench",
    "metatool",
    "typos",
)
_EVERY = {"stabletoolbench": 2, "metatool": 6}
"""Of the large sets, every second or sixth query is enough for a table."""


def _fields(**changed: float) -> Weights:
    return replace(DEFAULT, fields={**DEFAULT.fields, **changed})


PARTS: dict[str, Weights] = {
    "everything": DEFAULT,
    "all fields alike": replace(DEFAULT, fields=dict.fromkeys(DEFAULT.fields, 1.0)),
    "no parameters": _fields(parameters=0.0, details=0.0),
    "no server name": _fields(server=0.0),
    "no synonyms": replace(DEFAULT, synonym=0.0, loose=0.0, loose_translation=0.0),
    "no everyday outcomes": replace(DEFAULT, related=0.0),
    "no abbreviations": replace(DEFAULT, abbreviation=0.0),
    "no translations": replace(DEFAULT, translation=0.0, loose_translation=0.0),
    "no repair of words": replace(DEFAULT, typo=0.0, compound=0.0),
    "no gain of name coverage": replace(DEFAULT, name_coverage=0.0),
    "no gain of the server": replace(DEFAULT, server_named=0.0),
    "no actions": replace(DEFAULT, same_action=1.0, other_change=1.0, opposite=1.0, unasked_change=1.0),
    "no expected products": replace(DEFAULT, other_product=1.0),
    "long queries read as short ones": replace(DEFAULT, brief=1000),
    "no gain of the server that serves several requests": replace(DEFAULT, company=0.0),
    "several requests as one": replace(DEFAULT, company=0.0, repeated=0.0),
    "no limit on rarer alternatives": replace(DEFAULT, idf_cap=1000.0),
}


@contextmanager
def without_values() -> Iterator[None]:
    """Paths and sums as the words that they are made of."""
    kept = intent.in_words
    intent.in_words = str
    try:
        yield
    finally:
        intent.in_words = kept


@contextmanager
def without_stems() -> Iterator[None]:
    """Words as they are written, in the catalog, the query and the lexicon."""
    kept = text.stem
    _forget()
    text.stem = _as_written
    try:
        yield
    finally:
        text.stem = kept
        _forget()


def _as_written(word: str, language: str = "en") -> str:
    del language
    return word


def _forget() -> None:
    """Make the lexicon be read again."""
    for function in (value for module in (lexicon, products, verbs) for value in vars(module).values()):
        clear = getattr(function, "cache_clear", None)
        if clear is not None:
            clear()


def asked_of(folder: Path, name: str) -> tuple[data.Query, ...]:
    """Some of a set's queries; `typos` are the English ones with one edit each."""
    if name != "typos":
        return data.queries(folder, name)[:: _EVERY.get(name, 1)]
    source = (
        query for english in ("livemcp_claude_big", "hand_en", "blind_en") for query in data.queries(folder, english)
    )
    return data.typos(tuple(source))[::2]


def table(folder: Path) -> None:
    """Print a Markdown table: one row a part left out, one column a set, the means of hit@3 and hit@1."""
    kept: dict[str, ranking.Index] = {}
    print("| | " + " | ".join(SETS) + " | mean | mean hit@1 |")
    print("|---|" + "---|" * (len(SETS) + 2))
    for part, weights in PARTS.items():
        _row(part, [measure(folder, name, weights, kept) for name in SETS])
    with without_values():
        _row("no reading of values", [measure(folder, name, DEFAULT, kept) for name in SETS])
    with without_stems():
        _row("no stemming", [measure(folder, name, DEFAULT, None) for name in SETS])


def _row(part: str, hits: list[tuple[float, float]]) -> None:
    row = " | ".join(f"{third:.1f}" for third, _ in hits)
    means = (sum(third for third, _ in hits) / len(hits), sum(first for _, first in hits) / len(hits))
    print(f"| {part} | {row} | {means[0]:.1f} | {means[1]:.1f} |", flush=True)


def _previous(kept: dict[str, ranking.Index] | None, catalog: str, tools: tuple[Tool, ...]) -> ranking.Index | None:
    if kept is None:
        return None
    if catalog not in kept:
        kept[catalog] = build(tools)
    return kept[catalog]


def measure(folder: Path, name: str, weights: Weights, kept: dict[str, ranking.Index] | None) -> tuple[float, float]:
    """hit@3 and hit@1 of a set in percent; `kept` has indexes whose analyses are used again."""
    asked = asked_of(folder, name)
    tools, ids = data.catalog(folder, asked[0].catalog)
    previous = _previous(kept, asked[0].catalog, tools)
    index = build(tools, previous, weights=weights)
    known = {(tool.server, tool.digest): key for tool, key in zip(tools, ids, strict=True)}
    first = third = 0
    for query in asked:
        found = [known[match.tool.server, match.tool.digest] for match in ranking.search(index, query.text).matches]
        first += bool(found) and found[0] in query.gold
        third += any(key in query.gold for key in found)
    return 100 * third / len(asked), 100 * first / len(asked)
