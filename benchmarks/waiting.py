"""Waiting: how long hostile queries work, and how quickly others are answered meanwhile, through a real process."""

from __future__ import annotations

import json
import statistics
import time
from typing import Any

from benchmarks.model import Options, Part, Table, Verdict
from benchmarks.wire import REF, Peer, guard_command, server, settled

HOW = """One guard process. Each hostile query is posted on a result of 100,000 records (10 MB) or on a text of 10 MB;
while it works, pings, a search for a tool, a small call and a read of another result are asked in turn. Seconds of the
clock: on a machine that does other things too, all of them grow. The last rows are eight searches and six pages of
results of 10 MB at once."""
HOSTILE = {
    "regex with nested repetitions": "/(a|a)*(b|b)*(.*)*x{1,50}$/",
    "regex of many wildcards": "/(.*)(.*)(.*)(.*)(.*)zz/s",
    "JMESPath that multiplies": "select:items[].[@,@,@,@,@,@][].[@,@,@,@,@][].[@,@,@,@] | length(@)",
    "JMESPath that sorts by text": "select:sort_by(items,&to_string([@,@,@,@]))[0]",
    "endless recursion": "sql:WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n) SELECT max(x) FROM n",
    "cross join of 1e15 rows": "sql:SELECT count(*) FROM rows a, rows b, rows c WHERE a.id+b.id=c.id*7",
    "LIKE of a huge pattern": f"sql:SELECT count(*) FROM rows WHERE name LIKE '%{'a%_' * 1_500}%'",
    "texts of megabytes in SQL": "sql:SELECT sum(length(upper(hex(printf('%.*c',7000000,'a'))))) FROM rows",
}
TOGETHER = {
    "8 searches of 10 MB": [("records", f"row {n}") for n in (4711, 99_999, 5, 77)]
    + [("text", f"line {n}") for n in (1, 2, 199_999, 5)],
    "6 pages of 10 MB": [("records", "")] * 3 + [("text", "")] * 3,
}


def run(options: Options) -> Part:
    """All hostile queries one by one, then large reads together."""
    part = Part("waiting", "Others meanwhile", HOW)
    columns = ("query", "it took (s)", "ping", "find_tool", "small call", "read of another result", "slowest")
    table = Table("Milliseconds until others are answered, medians", columns, [])
    servers = {"count": server("counting", COUNTER_FILE=str(options.scratch / "counter.jsonl"))}
    with Peer(guard_command(options.scratch / "waiting", servers)) as peer:
        settled(peer, "record")
        size = 10 if options.quick else 1
        refs = {
            "records": _ref(peer, "table", rows=100_000 // size),
            "text": _ref(peer, "big", lines=200_000 // size),
            "small": _ref(peer, "table", rows=300),
        }
        for name, query in HOSTILE.items():
            ref = refs["text" if query.startswith("/(.*)") else "records"]
            _judged(part, table, name, _measured(peer, refs["small"], [(ref, query)]))
        for name, reads in TOGETHER.items():
            found = _measured(peer, refs["small"], [(refs[kind], query) for kind, query in reads])
            _judged(part, table, name, found, others=300)
    part.tables.append(table)
    return part


def _ref(peer: Peer, tool: str, **arguments: int) -> str:
    answer = peer.call("call_tool", {"tool_ref": f"count/{tool}", "arguments": arguments})
    found = REF.search(answer.text)
    assert found is not None, answer.text[:300]
    return found[1]


def _judged(
    part: Part, table: Table, name: str, found: tuple[float, dict[str, list[float]]], others: float = 150
) -> None:
    took, spans = found
    medians = [round(statistics.median(times), 1) for times in spans.values()]
    table.rows.append([name, round(took, 2), *medians, round(max(max(times) for times in spans.values()))])
    part.verdicts.append(Verdict(f"{name}, all answered", round(took, 2), 2.0, "s"))
    part.verdicts.append(Verdict(f"others during: {name}", max(medians), others, "ms"))


def _measured(peer: Peer, small: str, reads: list[tuple[str, str]]) -> tuple[float, dict[str, list[float]]]:
    """Seconds until all reads were answered, and milliseconds of what was asked meanwhile."""
    asked: dict[str, tuple[str, dict[str, Any]]] = {
        "ping": ("ping", {}),
        "find": _call("find_tool", {"query": "write a row to the ledger"}),
        "call": _call("call_tool", {"tool_ref": "count/record", "arguments": {"text": "x"}}),
        "read": _call("read_result", {"result_ref": small, "query": "items:3"}),
    }
    began = time.perf_counter()
    open_ids = {peer.post(*_call("read_result", {"result_ref": ref, "query": query})) for ref, query in reads}
    spans: dict[str, list[float]] = {kind: [] for kind in asked}
    took = 0.0
    while open_ids or not all(spans.values()):
        for kind, request in asked.items():
            started = time.perf_counter()
            wanted = peer.post(*request)
            while (identifier := json.loads(peer.receive())["id"]) != wanted:
                open_ids.discard(identifier)
                took = time.perf_counter() - began
            spans[kind].append((time.perf_counter() - started) * 1_000)
    return took, spans


def _call(name: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return "tools/call", {"name": name, "arguments": arguments}
