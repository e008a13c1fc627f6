"""The catalog: tokens of `tools/list` and of one discovery for 3, 30, 300 and 1,400 tools."""

from __future__ import annotations

from benchmarks.counting import Account
from benchmarks.model import Options, Part, Plot, Table, Verdict
from benchmarks.stress import QUERY, TOOL
from benchmarks.wire import Peer, guard_command, script, server

HOW = """One server with so many tools of ordinary length. Direct is its `tools/list`, which a host pays in every
request; ours is the list of three tools and one `find_tool` with its answer."""
SIZES = (3, 30, 300, 1_400)


def run(options: Options) -> Part:
    """All sizes."""
    part = Part("catalogs", "Catalog", HOW)
    columns = ("tools", "direct tools/list", "our tools/list", "one discovery", "tool found", "share of direct")
    table = Table("Tokens", columns, [])
    for size in SIZES:
        direct, ours = Account(), Account()
        with Peer(script("bench_stress"), env={"BENCH_TOOLS": str(size)}) as peer:
            direct.listed(peer)
        servers = {"news": server("bench_stress", BENCH_TOOLS=str(size))}
        with Peer(guard_command(options.scratch / f"catalog-{size}", servers)) as peer:
            ours.listed(peer)
            text = ours.call(peer, "find_tool", {"query": QUERY}, "finds").text
        found = f"/{TOOL}#" in text
        share = f"{100 * ours.total / direct.lists:.1f} %"
        table.rows.append([size, direct.lists, ours.lists, ours.finds, "yes" if found else "no", share])
        part.verdicts.append(Verdict(f"{size} tools: the tool is found", found, 1, exactly=True))
    part.tables.append(table)
    bars: list[tuple[str, float]] = []
    for row in table.rows:
        bars += [(f"direct, {row[0]:,} tools", float(row[1])), (f"slimguard, {row[0]:,}", float(row[2] + row[3]))]
    part.plots.append(Plot("catalogs", "List of tools and one discovery", bars, "tokens", log=True))
    return part
