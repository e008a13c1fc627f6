"""Measure find_tool's ranking: hit@1, hit@3 and MRR on every given set, confidence, tokens, time, and an ablation.

Run `python -m benchmarks.find.run --shared FOLDER` (or set SLIMGUARD_SHARED); `--sets blind_en,blind_zh` picks sets,
`--only table,typos,confidence,size,speed,stress,ablation` picks tables.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

from benchmarks.find import ablation, data, stress
from benchmarks.find.baselines import Bm25, plain, stemmed
from slimguard import canonical, ranking
from slimguard.ranking.answer import ranked_tools
from slimguard.tokens import Tokens


def measure(rank: Callable[[str], list[str]], queries: list[data.Query]) -> tuple[float, float, float]:
    """hit@1, hit@3 and mean reciprocal rank within ten, in percent."""
    first = third = reciprocal = 0.0
    for query in queries:
        order = rank(query.text)
        place = next((at for at, found in enumerate(order[:10]) if found in query.gold), None)
        if place is not None:
            first += place == 0
            third += place < 3
            reciprocal += 1 / (place + 1)
    size = max(1, len(queries))
    return 100 * first / size, 100 * third / size, 100 * reciprocal / size


class Catalogs:
    """Indexes of ours and of the baselines, each built once a catalog."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.kept: dict[tuple[str, str], object] = {}

    def ranker(self, kind: str, name: str) -> Callable[[str], list[str]]:
        """A function from a query to ids in order."""
        tools, ids = data.catalog(self.folder, name)
        if kind == "slimguard":
            index = self.index(name)
            known = {(tool.server, tool.name, tool.digest): key for tool, key in zip(tools, ids, strict=True)}

            def answer(query: str) -> list[str]:
                found = ranking.search(index, query)
                return [known[match.tool.server, match.tool.name, match.tool.digest] for match in found.matches]

            return answer
        if (kind, name) not in self.kept:
            self.kept[kind, name] = Bm25(tools, stemmed if kind == "stemmed" else plain)
        baseline = self.kept[kind, name]
        assert isinstance(baseline, Bm25)
        return lambda query: [ids[place] for place in baseline.rank(query)]

    def index(self, name: str) -> ranking.Index:
        """Our index of a catalog."""
        if ("index", name) not in self.kept:
            self.kept["index", name] = ranking.build(data.catalog(self.folder, name)[0])
        index = self.kept["index", name]
        assert isinstance(index, ranking.Index)
        return index


def table(catalogs: Catalogs, sets: list[str], kinds: list[str], half: str) -> None:
    """Print one row a set: each ranker's hit@3 (hit@1) MRR."""
    print(f"{'set':<22}{'n':>5}  " + "".join(f"{kind:>26}" for kind in kinds))
    for name in sets:
        queries = list(data.queries(catalogs.folder, name))
        halves = [half] if half != "both" else ["all", "tune", "check"] if name.startswith("blind") else ["all"]
        for part in halves:
            chosen = [query for query in queries if part in ("all", query.half)]
            row = f"{name + ('' if part == 'all' else '/' + part):<22}{len(chosen):>5}  "
            for kind in kinds:
                one, three, reciprocal = measure(catalogs.ranker(kind, chosen[0].catalog), chosen)
                row += f"{three:>12.1f} ({one:4.1f}) {reciprocal:5.1f} "
            print(row, flush=True)


def typos(catalogs: Catalogs, kinds: list[str]) -> None:
    """Print the rankers on the English sets with one synthetic edit a query."""
    source = tuple(
        query for name in ("livemcp_claude_big", "hand_en", "blind_en") for query in data.queries(catalogs.folder, name)
    )
    edited = list(data.typos(source))
    row = f"{'synthetic typos':<22}{len(edited):>5}  "
    for kind in kinds:
        one, three, reciprocal = measure(catalogs.ranker(kind, "realmcp"), edited)
        row += f"{three:>12.1f} ({one:4.1f}) {reciprocal:5.1f} "
    print(row)


def confidence(catalogs: Catalogs) -> None:
    """Print how often answers are low or empty, for queries that nothing serves and for those that something does."""
    index = catalogs.index("realmcp")
    groups = {
        "unanswerable": ["blind_unanswerable"],
        "answerable": ["blind_en", "blind_zh", "blind_ml", "livemcp_claude_big"],
    }
    for label, names in groups.items():
        for half in ("tune", "check"):
            asked = [q for name in names for q in data.queries(catalogs.folder, name) if q.half == half]
            found = [ranking.search(index, query.text).confidence for query in asked]
            unsure = sum(one in ("low", "none") for one in found)
            counts = {kind: found.count(kind) for kind in ("clear", "several", "low", "none")}
            print(f"{label}/{half:<8} low or none {100 * unsure / max(1, len(asked)):5.1f} % of {len(asked)}  {counts}")


def size(catalogs: Catalogs, sets: list[str]) -> None:
    """Print how much is answered: tools and tokens of their definitions a query, how often one tool alone, and how
    often a tool that serves was the second or third and was left out."""
    counter = Tokens()
    counter.load()
    cost = cache(counter.count)
    print(f"{'set':<22}{'n':>5}{'tools':>8}{'tokens':>8}{'one tool':>10}{'left out':>10}")
    for name in sets:
        queries = data.queries(catalogs.folder, name)
        tools, ids = data.catalog(catalogs.folder, queries[0].catalog)
        known = {(tool.server, tool.name, tool.digest): key for tool, key in zip(tools, ids, strict=True)}
        index = catalogs.index(queries[0].catalog)
        shown = alone = lost = tokens = 0
        for query in queries:
            matches = ranking.search(index, query.text).matches
            shown += len(matches)
            alone += len(matches) == 1
            tokens += sum(cost(canonical.dump(match.tool.definition)) for match in matches)
            given = {known[match.tool.server, match.tool.name, match.tool.digest] for match in matches}
            best = {known[tool.server, tool.name, tool.digest] for tool in ranked_tools(index, query.text, 3)}
            lost += bool(best & query.gold) and not given & query.gold
        count = len(queries)
        print(
            f"{name:<22}{count:>5}{shown / count:>8.2f}{tokens / count:>8.0f}{100 * alone / count:>8.1f} %"
            f"{100 * lost / count:>8.1f} %",
            flush=True,
        )


def speed(catalogs: Catalogs) -> None:
    """Print milliseconds a query (median, p95) and to build, at several sizes of the catalog."""
    pool = list(data.catalog(catalogs.folder, "realmcp")[0]) + list(data.catalog(catalogs.folder, "sealtools")[0])
    names = ("blind_en", "blind_zh", "blind_ml", "livemcp_claude_big", "hand_en")
    asked = [query.text for name in names for query in data.queries(catalogs.folder, name)]
    ranking.search(ranking.build(pool[:10]), "warm up 预热")
    for size in (500, 1_400, 4_000):
        began = time.process_time()
        index = ranking.build(pool[:size])
        built = time.process_time() - began
        taken: list[float] = []
        for query in asked:
            began = time.process_time()
            ranking.search(index, query)
            taken.append(1000 * (time.process_time() - began))
        taken.sort()
        print(
            f"{size:>6} tools: build {built:5.2f} s, query median {taken[len(taken) // 2]:5.1f} ms, "
            f"p95 {taken[int(len(taken) * 0.95)]:5.1f} ms, max {taken[-1]:5.1f} ms"
        )


def main() -> int:
    """Read the options and print the tables asked for."""
    options = argparse.ArgumentParser(description=__doc__)
    default = os.environ.get("SLIMGUARD_SHARED", str(Path(__file__).resolve().parents[3] / "shared"))
    options.add_argument("--shared", default=default)
    options.add_argument("--sets", default=",".join(data.SETS))
    options.add_argument("--kinds", default="slimguard,stemmed,plain")
    options.add_argument("--half", default="both", choices=("both", "all", "tune", "check"))
    options.add_argument("--only", default="table,typos,confidence,size,speed,stress")
    chosen = options.parse_args()
    folder = Path(chosen.shared) / "find"
    if not folder.is_dir():
        print(f"no data in {folder}: pass --shared FOLDER")
        return 2
    catalogs = Catalogs(folder)
    kinds = chosen.kinds.split(",")
    if "table" in chosen.only:
        table(catalogs, chosen.sets.split(","), kinds, chosen.half)
    if "typos" in chosen.only:
        typos(catalogs, kinds)
    if "confidence" in chosen.only:
        confidence(catalogs)
    if "size" in chosen.only:
        size(catalogs, chosen.sets.split(","))
    if "speed" in chosen.only:
        speed(catalogs)
    if "stress" in chosen.only:
        stress.report(folder)
    if "ablation" in chosen.only:
        ablation.table(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
