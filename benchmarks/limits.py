"""Honest limits: where talking to the servers directly is cheaper than through the guard."""

from __future__ import annotations

from typing import Any

from benchmarks.counting import Account, tokens
from benchmarks.model import Options, Part, Table
from benchmarks.wire import REF, Peer, guard_command, pages, script, server

HOW = """Everything a host pays for one task, `tools/list` included, directly and through the guard (find, call and
what is read). Where direct is smaller the guard does not pay in tokens; what it then still gives is the exact stored
result, and that no call is sent twice."""
NAME = "search_news_archive"


def run(options: Options) -> Part:
    """The table for the README's "when not to use it"."""
    part = Part("limits", "When direct is cheaper", HOW)
    table = Table("One task, tokens", ("situation", "direct", "slimguard", "cheaper"), [])
    for count in (1, 3, 5, 10, 30):
        for rows, words in ((3, "a small result"), (2_000, "a large result, the view is enough")):
            if rows == 3 or count in (1, 10):
                label = f"{count} tool{'s' if count > 1 else ''}, {words}"
                table.rows.append(_compared(options, label, count, rows))
    table.rows.append(_compared(options, "10 tools, a large result read in full", 10, 2_000, whole=True))
    table.rows.append(_compared(options, "30 tools, ten small calls of one tool", 30, 3, calls=10))
    table.rows.append(_compared(options, "3 tools, ten small calls of one tool", 3, 3, calls=10))
    part.tables.append(table)
    return part


def _compared(options: Options, label: str, count: int, rows: int, *, whole: bool = False, calls: int = 1) -> list[Any]:
    env = {"BENCH_TOOLS": str(count)}
    direct, ours = Account(), Account()
    with Peer(script("bench_stress"), env=env) as peer:
        direct.listed(peer)
        for number in range(calls):
            direct.call(peer, NAME, {"words": f"harbour {number}", "count": rows})
    folder = options.scratch / f"limits-{count}-{rows}-{whole}-{calls}"
    with Peer(guard_command(folder, {"news": server("bench_stress", **env)})) as peer:
        ours.listed(peer)
        ours.call(peer, "find_tool", {"query": "search news archive"}, "finds")
        for number in range(calls):
            given = {"words": f"harbour {number}", "count": rows}
            answer = ours.call(peer, "call_tool", {"tool_ref": f"news/{NAME}", "arguments": given})
        found = REF.search(answer.text) if whole else None
        for request, page in pages(peer, found[1], "block:0") if found else ():
            ours.reads += tokens({"name": "read_result", "arguments": request}) + tokens(page.result)
    cheaper = "direct" if direct.total < ours.total else "slimguard"
    return [label, direct.total, ours.total, f"{cheaper}, {_times(direct.total, ours.total)}"]


def _times(left: int, right: int) -> str:
    ratio = max(left, right) / max(1, min(left, right))
    return f"{ratio:.2f} times" if ratio < 10 else f"{ratio:.0f} times"
