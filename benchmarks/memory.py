"""What the guard takes while it runs: resident memory with three upstreams, and how its database grows."""

from __future__ import annotations

import time
from pathlib import Path

import psutil

from benchmarks.calls import call
from benchmarks.model import Options, Part, Table, Verdict
from benchmarks.wire import Peer, guard_command, server

HOW = """Resident memory of the guard's own process (its upstreams are processes of their own): after the list of tools
when all three upstreams are connected, then after one view, which loads the tokenizer. The database's growth is that
of its files, write-ahead log included, over so many new results."""
MEBI = 1024 * 1024


def run(options: Options) -> Part:
    """Memory, then growth."""
    part = Part("memory", "Memory and disk", HOW)
    folder = options.scratch / "memory"
    servers = {f"up{number}": server("bench_sized") for number in range(3)}
    with Peer(guard_command(folder, servers)) as peer:
        peer.request("tools/list")
        process = psutil.Process(peer.process.pid)
        idle = _idle(process)
        peer.call("call_tool", {"tool_ref": "up0/give_text", "arguments": {"bytes": 200_000}})
        after = process.memory_info().rss / MEBI
    rows = [["idle, 3 upstreams connected", round(idle)], ["after the first view (tokenizer loaded)", round(after)]]
    part.tables.append(Table("Resident memory, MiB", ("when", "MiB"), rows))
    part.verdicts.append(Verdict("memory, idle, before the tokenizer", round(idle), 110, "MiB", against="158"))
    part.verdicts.append(Verdict("memory, after the tokenizer", round(after), 165, "MiB", against="158"))
    part.tables.append(_growth(options))
    return part


def _idle(process: psutil.Process) -> float:
    """MiB when the upstreams are there and memory has stopped to grow."""
    deadline, last = time.monotonic() + 30, 0.0
    while time.monotonic() < deadline:
        time.sleep(1)
        now = process.memory_info().rss / MEBI
        if len(process.children(recursive=True)) >= 3 and abs(now - last) < 0.5:
            return now
        last = now
    return last


def _growth(options: Options) -> Table:
    folder = options.scratch / "growth"
    table = Table("Growth of the database", ("results", "bytes of results", "bytes on disk", "a result"), [])
    small, large = (200, 4) if options.quick else (1_000, 20)
    with Peer(guard_command(folder, {"sized": server("bench_sized")})) as peer:
        call("slimguard", peer, "echo", {"text": "first"})
        before = _size(folder / "store")
        for number in range(small):
            call("slimguard", peer, "echo", {"text": f"result {number}"})
        after = _size(folder / "store")
        table.rows.append([f"{small:,} small", small * 60, after - before, round((after - before) / small)])
        for salt in range(large):
            call("slimguard", peer, "give_text", {"bytes": 1_000_000, "salt": salt})
        grown = _size(folder / "store") - after
        table.rows.append([f"{large} of 1 MB", large * 1_000_000, grown, round(grown / large)])
    return table


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir() if file.is_file())
