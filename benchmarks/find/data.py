"""Sets of queries and catalogs for the find benchmark, read from a folder outside the repository."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from slimguard import canonical
from slimguard.model import Tool

SETS = (
    "livemcp_claude",
    "livemcp_claude_big",
    "livemcp_tasks",
    "hand_en",
    "hand_zh",
    "hand_ml",
    "blind_en",
    "blind_zh",
    "blind_ml",
    "acebench_zh",
    "metatool",
    "stabletoolbench",
    "sealtools",
)


@dataclass(frozen=True, slots=True)
class Query:
    """One query with the ids of the tools that serve it; none means that nothing in the catalog does."""

    text: str
    gold: frozenset[str]
    catalog: str
    language: str
    half: str
    """`tune` or `check`, by a digest of the text: lexicon and weights may only be looked at through `tune`."""


def _rows(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@cache
def catalog(folder: Path, name: str) -> tuple[tuple[Tool, ...], tuple[str, ...]]:
    """The tools of a catalog and, in the same order, the ids that the queries call them by."""
    tools: list[Tool] = []
    ids: list[str] = []
    for row in _rows(folder / f"{name}.tools.jsonl.gz"):
        definition = {key: row[key] for key in ("name", "description", "inputSchema") if key in row}
        tools.append(Tool(row.get("server") or "", row["name"], definition, canonical.definition_digest(definition)))
        ids.append(row["id"])
    return tuple(tools), tuple(ids)


@cache
def queries(folder: Path, name: str) -> tuple[Query, ...]:
    """The queries of a set."""
    return tuple(
        Query(row["query"], frozenset(row["gold"]), row["catalog"], row.get("lang", "en"), _half(row["query"]))
        for row in _rows(folder / f"{name}.queries.jsonl.gz")
    )


def _half(query: str) -> str:
    return "check" if hashlib.md5(query.encode()).digest()[0] % 2 else "tune"


def typos(source: tuple[Query, ...], seed: int = 1) -> tuple[Query, ...]:
    """The English queries with one edit in one word of four letters or more: drop, double, swap or replace."""
    chooser = random.Random(seed)
    found: list[Query] = []
    for query in source:
        words = query.text.split(" ")
        places = [at for at, word in enumerate(words) if len(word) >= 4 and word.isalpha() and word.isascii()]
        if not places:
            continue
        at = chooser.choice(places)
        words[at] = _edited(words[at], chooser)
        found.append(Query(" ".join(words), query.gold, query.catalog, query.language, query.half))
    return tuple(found)


def _edited(word: str, chooser: random.Random) -> str:
    place = chooser.randrange(len(word) - 1)
    kind = chooser.choice(("drop", "double", "swap", "replace"))
    if kind == "drop":
        return word[:place] + word[place + 1 :]
    if kind == "double":
        return word[:place] + word[place] + word[place:]
    if kind == "swap":
        return word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    return word[:place] + chooser.choice("abcdefghijklmnopqrstuvwxyz") + word[place + 1 :]
