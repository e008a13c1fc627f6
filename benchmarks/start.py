"""The start: from the process's spawn to the answer to `tools/list`, against a bare SDK server in the same run."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Sequence

import psutil

from benchmarks.model import Options, Part, Plot, Table, Verdict
from benchmarks.wire import LEGACY, MODERN, ROOT, Peer, guard_command, server

HOW = """From spawning the process to the answer to `tools/list`, over a pipe, both connection eras; the bare server has
three tools, is written on the SDK alone and connects to nothing. Rounds are interleaved; medians. The processor time is
the process's own until then. The guard's store exists already, as it does for every start but the first."""
UPSTREAMS = (0, 3, 10)


def run(options: Options) -> Part:
    """0, 3 and 10 upstreams and the bare server."""
    rounds = 5 if options.quick else 7
    part = Part("start", "Start", HOW)
    commands = {"bare SDK server": [sys.executable, str(ROOT / "benchmarks" / "bare_server.py")]}
    for count in UPSTREAMS:
        servers = {f"up{number}": server("bench_sized") for number in range(count)}
        commands[f"slimguard, {count} upstreams"] = guard_command(options.scratch / f"start-{count}", servers)
    for command in commands.values():
        _once(command, LEGACY)
    table = Table("Milliseconds to `tools/list`, medians", ("what", "era", "wall", "processor", "wall ÷ bare"), [])
    for era in (LEGACY, MODERN):
        _era(era, commands, rounds, table, part)
    part.tables.append(table)
    bars = [(str(row[0]), float(row[2])) for row in table.rows if row[1] == LEGACY]
    part.plots.append(Plot("start", "Start to tools/list", bars, "ms"))
    return part


def _era(era: str, commands: dict[str, list[str]], rounds: int, table: Table, part: Part) -> None:
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for number in range(rounds):
        names = list(commands)
        for name in names[number % len(names) :] + names[: number % len(names)]:
            taken[name].append(_once(commands[name], era))
    wall = {name: statistics.median(item[0] for item in items) for name, items in taken.items()}
    processor = {name: statistics.median(item[1] for item in items) for name, items in taken.items()}
    floor = wall["bare SDK server"]
    for name in commands:
        ratio = round(wall[name] / floor, 2)
        table.rows.append([name, era, round(wall[name] * 1000), round(processor[name] * 1000), ratio])
        if name != "bare SDK server":
            part.verdicts.append(Verdict(f"start, {name.removeprefix('slimguard, ')}, {era}", ratio, 1.3, "× bare"))


def _once(command: Sequence[str], era: str) -> tuple[float, float]:
    peer = Peer(command, era=era)
    try:
        peer.open().request("tools/list")
        wall = time.perf_counter() - peer.started
        times = psutil.Process(peer.process.pid).cpu_times()
        return wall, times.user + times.system
    finally:
        peer.close()
