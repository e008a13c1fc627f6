"""Time and memory of the ranking on catalogs far too large: 10,000 tools, some with a megabyte of description."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.find import data
from slimguard import canonical, ranking
from slimguard.model import Tool

TOOLS = 10_000
HUGE = 20
HUGE_CHARS = 1_000_000


def catalog(folder: Path, size: int = TOOLS, huge: int = HUGE) -> list[Tool]:
    """`size` tools: the real ones, then the same under other servers, and `huge` with a megabyte of description."""
    pool = [tool for name in ("realmcp", "stabletoolbench", "sealtools") for tool in data.catalog(folder, name)[0]]
    tools = [
        replace(pool[at % len(pool)], server=f"{pool[at % len(pool)].server}{at // len(pool) or ''}")
        for at in range(size - huge)
    ]
    return [*tools, *(_huge(number) for number in range(huge))]


def _huge(number: int) -> Tool:
    words = f"weather file report number {number} "
    description = (words * (HUGE_CHARS // len(words) + 1))[:HUGE_CHARS]
    definition = {"name": f"huge_{number}", "description": description, "inputSchema": {"type": "object"}}
    return Tool("huge", f"huge_{number}", definition, canonical.definition_digest(definition))


def report(folder: Path) -> None:
    """Print seconds to build the index, megabytes that it takes, and milliseconds a query, short ones and long ones."""
    tools = catalog(folder)
    ranking.search(ranking.build(tools[:10]), "warm up 预热")
    before = _resident()
    began = time.process_time()
    index = ranking.build(tools)
    built = time.process_time() - began
    print(f"{len(tools)} tools, {HUGE} of them with a description of 1 MB: build {built:.2f} s of processor time,")
    print(f"  {_resident() - before:.0f} MB for the index; the catalog itself is not counted")
    began = time.process_time()
    ranking.build(tools[1:], index)
    print(f"  one tool less: built again in {time.process_time() - began:.2f} s")
    for label, name in (("of one step", "blind_en"), ("of several sentences", "stabletoolbench")):
        _time(label, [query.text for query in data.queries(folder, name)], index)
    _time("of a megabyte", ["wheather flie " * 70_000, "天气文件" * 250_000, "x" * 1_000_000], index)


def _time(label: str, queries: Sequence[str], index: ranking.Index) -> None:
    taken: list[float] = []
    for query in queries:
        began = time.process_time()
        ranking.search(index, query)
        taken.append(1000 * (time.process_time() - began))
    taken.sort()
    print(f"  queries {label}: median {taken[len(taken) // 2]:.1f} ms, p95 {taken[int(len(taken) * 0.95)]:.1f} ms")


def _resident() -> float:
    """The most memory that this process has had, in megabytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1024 if sys.platform != "darwin" else most / 1024 / 1024
