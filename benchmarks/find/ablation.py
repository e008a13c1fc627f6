"""What each part of the ranking is worth: hit@3 without it, one part at a time. Run with `run.py --only ablation`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from benchmarks.find import data
from slimguard import ranking
from slimguard.ranking.index import build
from slimguard.ranking.weights import DEFAULT, Weights

SETS = ("livemcp_claude_big", "blind_en", "blind_zh", "blind_ml", "stabletoolbench", "metatool")
_EVERY = {"stabletoolbench": 3, "metatool": 6}
"""Of the large sets, every third or sixth query is enough for a table."""


def _fields(**changed: float) -> Weights:
    return replace(DEFAULT, fields={**DEFAULT.fields, **changed})


PARTS: dict[str, Weights] = {
    "everything": DEFAULT,
    "all fields alike": replace(DEFAULT, fields=dict.fromkeys(DEFAULT.fields, 1.0)),
    "no parameters": _fields(parameters=0.0, details=0.0),
    "no server name": _fields(server=0.0),
    "no kinds of products": replace(_fields(kinds=0.0), kind=0.0),
    "no synonyms": replace(DEFAULT, synonym=0.0, loose=0.0, loose_translation=0.0),
    "no everyday outcomes": replace(DEFAULT, related=0.0),
    "no abbreviations": replace(DEFAULT, abbreviation=0.0),
    "no translations": replace(DEFAULT, translation=0.0, loose_translation=0.0),
    "no repair of words": replace(DEFAULT, typo=0.0, compound=0.0),
    "no gain of coverage": replace(DEFAULT, coverage=0.0),
    "no gain of name coverage": replace(DEFAULT, name_coverage=0.0),
    "no gain of the server": replace(DEFAULT, server_named=0.0),
    "no actions": replace(DEFAULT, same_action=1.0, other_change=1.0, opposite=1.0, unasked_change=1.0),
    "no expected products": replace(DEFAULT, other_product=1.0),
    "long queries as loosely as short": replace(DEFAULT, brief=1000),
    "no limit on rarer alternatives": replace(DEFAULT, idf_cap=1000.0),
}


def table(folder: Path) -> None:
    """Print a Markdown table: one row a part left out, one column a set."""
    kept: dict[str, ranking.Index] = {}
    print("| | " + " | ".join(SETS) + " | mean |")
    print("|---|" + "---|" * (len(SETS) + 1))
    for part, weights in PARTS.items():
        hits: list[float] = []
        for name in SETS:
            asked = data.queries(folder, name)[:: _EVERY.get(name, 1)]
            tools, ids = data.catalog(folder, asked[0].catalog)
            previous = kept.setdefault(asked[0].catalog, build(tools))
            index = build(tools, previous, weights=weights)
            known = {(tool.server, tool.digest): key for tool, key in zip(tools, ids, strict=True)}
            found = 0
            for query in asked:
                matches = ranking.search(index, query.text).matches
                found += any(known[match.tool.server, match.tool.digest] in query.gold for match in matches)
            hits.append(100 * found / len(asked))
        row = " | ".join(f"{one:.1f}" for one in hits)
        print(f"| {part} | {row} | {sum(hits) / len(hits):.1f} |", flush=True)
