"""The cost of a call: small ones, large ones and many at once, against direct and against a minimal SDK proxy."""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from benchmarks.model import Options, Part, Plot, Table, Verdict
from benchmarks.wire import ROOT, Peer, guard_command, script, server, settled

HOW = """One upstream behind three paths, each a process of its own over pipes: direct, a proxy written on the SDK alone
(`benchmarks/minimal_proxy.py`: no validation, no store, no view), and slimguard with its durable store. Rounds are
interleaved; what is added is the median less the direct one's. A call of the guard waits for one `fsync`, of its
ledger, before the tool runs; one of a tool that is not marked read-only waits for a second one, of its snapshot, before
the reply. An `fsync` is measured in the same folder in each round, and so many are taken off where it says so. (A
small exact reply of a read-only tool needs no ref, and does not wait for its snapshot.) The ratio of a small call is
the median of the ratios of several batches, each of medians, so that a moment in which the machine is busy with
something else does not decide; the bound is on the tool that most calls are of, the read-only one, and the other is
told beside it. The bound of a 1 MB result is in milliseconds, not a ratio, so it is held against the least disturbed
call of each path. Large results are new bytes each time, and the time includes storing them durably,
reading them back and making the view."""
SIZES = (("100 KB", 100_000), ("1 MB", 1_000_000), ("10 MB", 10_000_000))
AT_ONCE = (1, 10, 100, 1_000)
BATCHES, QUICK_BATCHES = 9, 3
ROUNDS = 40
"""Rounds of one batch of small calls, after as many that warm everything up."""
Paths = Mapping[str, Peer]


def run(options: Options) -> Part:
    """Small, large, and many at once."""
    part = Part("calls", "Cost of a call", HOW)
    proxy = [sys.executable, str(ROOT / "benchmarks" / "minimal_proxy.py"), *script("bench_sized")]
    folder = options.scratch / "calls"
    guard = guard_command(folder, {"sized": server("bench_sized")})
    with Peer(script("bench_sized")) as direct, Peer(proxy) as floor, Peer(guard) as guarded:
        settled(guarded, "echo")
        paths = {"direct": direct, "minimal SDK proxy": floor, "slimguard": guarded}
        _small(paths, folder, QUICK_BATCHES if options.quick else BATCHES, part)
        _large(paths, 3 if options.quick else 7, part)
        _many(paths, part)
    return part


def call(name: str, peer: Peer, tool: str, arguments: Mapping[str, Any]) -> float:
    """One call by a path; its seconds."""
    if name != "slimguard":
        return peer.call(tool, arguments).seconds
    answer = peer.call("call_tool", {"tool_ref": f"sized/{tool}", "arguments": arguments})
    if answer.result.get("isError"):
        raise RuntimeError(answer.text[:500])
    return answer.seconds


def fsync_seconds(folder: Path, times: int = 40) -> float:
    """The median time of appending a page to a file in `folder` and making it durable."""
    taken: list[float] = []
    descriptor = os.open(folder / "fsync.tmp", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    try:
        for _ in range(times):
            os.write(descriptor, b"x" * 4_096)
            began = time.perf_counter()
            os.fsync(descriptor)
            taken.append(time.perf_counter() - began)
    finally:
        os.close(descriptor)
    return statistics.median(taken)


@dataclass(frozen=True, slots=True)
class Way:
    """One way of a small call: the path, the tool at its end, and the flushes of the disk that it waits for."""

    path: str
    tool: str = "echo"
    flushes: int = 0


WAYS = {
    "direct": Way("direct"),
    "minimal SDK proxy": Way("minimal SDK proxy"),
    "slimguard, read-only tool": Way("slimguard", flushes=1),
    "slimguard, tool with effects": Way("slimguard", "act", flushes=2),
}


@dataclass(slots=True)
class Batch:
    """What the small calls of one batch took, in milliseconds, by way; and flushes of the disk alone."""

    taken: dict[str, list[float]]
    synced: list[float]

    def added(self, name: str, *, flushed: bool = False) -> float:
        """What a way's median adds to the direct one's; with `flushed`, the flushes that it waits for taken off."""
        off = statistics.median(self.synced) * WAYS[name].flushes if flushed else 0.0
        return statistics.median(self.taken[name]) - statistics.median(self.taken["direct"]) - off

    def ratio(self, name: str) -> float:
        """What a way adds, flushes taken off, in times of what the minimal proxy adds."""
        return self.added(name, flushed=True) / max(0.01, self.added("minimal SDK proxy"))


def _small(paths: Paths, folder: Path, batches: int, part: Part) -> None:
    _batch(paths, folder)
    measured = [_batch(paths, folder) for _ in range(batches)]
    whole = Batch(
        {name: [value for batch in measured for value in batch.taken[name]] for name in WAYS},
        [value for batch in measured for value in batch.synced],
    )
    columns = ("path", "p50", "p95", "added p50", "added, fsyncs taken off", "÷ proxy", "processor a call")
    table = Table("Small call, milliseconds", columns, [])
    for name, way in WAYS.items():
        values = sorted(whole.taken[name])
        figures = statistics.median(values), values[int(len(values) * 0.95)], whole.added(name)
        ratio = round(statistics.median(batch.ratio(name) for batch in measured), 2)
        spent = _processor(paths[way.path], partial(_echoes, way, paths[way.path]), 100)
        figures = *figures, whole.added(name, flushed=True), ratio, spent
        table.rows.append([name, *(round(figure, 2) for figure in figures)])
        if way.flushes == 1:
            part.verdicts.append(Verdict("added latency, small call, fsync taken off", ratio, 1.5, "× SDK proxy"))
    table.rows.append(["fsync alone", round(statistics.median(whole.synced), 2), "", "", "", "", ""])
    part.tables.append(table)
    bars = [(name, statistics.median(whole.taken[name])) for name in WAYS]
    part.plots.append(Plot("small-call", "Small call, median", bars, "ms"))


def _batch(paths: Paths, folder: Path) -> Batch:
    """One batch of rounds; each way comes at each place of a round equally often."""
    batch = Batch({name: [] for name in WAYS}, [])
    names = list(WAYS)
    for number in range(ROUNDS):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            way, text = WAYS[name], f"{time.monotonic_ns()}"
            batch.taken[name].append(call(way.path, paths[way.path], way.tool, {"text": text}) * 1000)
        batch.synced.append(fsync_seconds(folder, 1) * 1000)
    return batch


def _echoes(way: Way, peer: Peer) -> None:
    for number in range(100):
        call(way.path, peer, way.tool, {"text": f"again {number}"})


def _processor(peer: Peer, work: Callable[[], None], count: int) -> float:
    """Milliseconds of the process's own processor time for each of `count` calls."""
    process = psutil.Process(peer.process.pid)
    before = process.cpu_times()
    work()
    after = process.cpu_times()
    return (after.user + after.system - before.user - before.system) * 1000 / count


def _large(paths: Paths, rounds: int, part: Part) -> None:
    columns = ("size", "what", "direct", "minimal SDK proxy", "slimguard", "added", "processor a call")
    table = Table("Large result, milliseconds (medians)", columns, [])
    for label, size in SIZES:
        count = rounds if size < 5_000_000 else min(rounds, 3)
        for name, peer in paths.items():
            call(name, peer, "prepare", {"bytes": size, "count": count})
        for tool in ("give_records", "give_text"):
            taken: dict[str, list[float]] = {name: [] for name in paths}
            spent = 0.0
            for salt in range(count):
                for name, peer in paths.items():
                    given = {"bytes": size, "salt": salt}

                    def once(name: str = name, peer: Peer = peer, given: dict[str, int] = given) -> None:
                        taken[name].append(call(name, peer, tool, given) * 1000)  # noqa: B023 - called at once

                    if name == "slimguard":
                        spent += _processor(peer, once, count)
                    else:
                        once()
            median = {name: statistics.median(values) for name, values in taken.items()}
            added = median["slimguard"] - median["direct"]
            kind = "records" if tool == "give_records" else "log"
            table.rows.append([label, kind, *(round(median[name], 1) for name in paths), round(added, 1), round(spent)])
            if label == "1 MB":
                against = "+148 in memory, 592 durable"
                least = round(min(taken["slimguard"]) - min(taken["direct"]))
                part.verdicts.append(Verdict(f"added time, 1 MB of {kind}", least, 120, "ms", against=against))
    part.tables.append(table)


def _many(paths: Paths, part: Part) -> None:
    table = Table("Calls at once, milliseconds until the last answer", ("at once", *paths, "slimguard ÷ proxy"), [])
    for count in AT_ONCE:
        row: list[float] = []
        for name, peer in paths.items():
            best = min(_burst(name, peer, count) for _ in range(3 if count < 1_000 else 1))
            row.append(round(best * 1000, 1))
        table.rows.append([count, *row, round(row[2] / max(0.1, row[1]), 1)])
    part.tables.append(table)


def _burst(name: str, peer: Peer, count: int) -> float:
    """Seconds until `count` calls that were sent together are answered."""
    began = time.perf_counter()
    sent = 0
    window = 64  # answers are taken while requests are sent, or both pipes would fill
    for number in range(count):
        given: dict[str, Any] = {"text": f"burst {number}"}
        params: dict[str, Any] = {"name": "echo", "arguments": given}
        if name == "slimguard":
            params = {"name": "call_tool", "arguments": {"tool_ref": "sized/echo", "arguments": given}}
        peer.post("tools/call", params)
        sent += 1
        if sent > window and count > 500:
            peer.receive()
            sent -= 1
    for _ in range(sent):
        peer.receive()
    return time.perf_counter() - began
