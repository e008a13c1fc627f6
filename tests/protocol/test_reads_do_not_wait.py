"""Queries that work as long as they may do not keep others waiting: who is asked later answers first."""

from __future__ import annotations

import json
from typing import Any

HOSTILE = [
    "sql:WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n) SELECT max(x) FROM n",
    "sql:SELECT count(*) FROM rows a, rows b, rows c, rows d WHERE a.amount + b.amount + c.amount + d.amount = 0.1",
    "sql:SELECT count(*) FROM rows a, rows b, rows c, rows d WHERE a.name LIKE '%' || b.name || c.name || d.name || 'x'",
]
TIMES = 2
"""So often each on both results: more than there are threads for them, each busy for 1.5 s."""


def _post(host: Any, name: str, arguments: dict[str, Any]) -> int:
    return host.post("tools/call", {"name": name, "arguments": arguments})


def _order(host: Any) -> list[int]:
    """The ids of the answers so far, in the order in which they came."""
    return [
        message["id"] for message in map(json.loads, list(host.lines)) if "id" in message and "method" not in message
    ]


def _others_are_first(host: Any, helpers: Any, large: str, small: str) -> bool:
    """Whether what is asked after the hostile queries is answered before the last of them."""
    hostile = [
        _post(host, "read_result", {"result_ref": ref, "query": query})
        for query in HOSTILE * TIMES
        for ref in (large, small)
    ]
    others = [
        _post(host, "call_tool", {"tool_ref": "count/record", "arguments": {"text": "small"}}),
        _post(host, "find_tool", {"query": "write a row to the ledger"}),
        _post(host, "read_result", {"result_ref": small, "query": "items:3"}),
        _post(host, "read_result", {"result_ref": small}),
        _post(host, "read_result", {"result_ref": small, "query": "row 77"}),
        _post(host, "read_result", {}),
    ]
    answers = [host.answer(identifier)["result"] for identifier in others]
    assert "recorded small" in helpers.text_of(answers[0])
    assert "count/record#" in helpers.text_of(answers[1])
    assert '"row 3"' in helpers.text_of(answers[2])
    assert not any(answer.get("isError") for answer in answers)
    for identifier in hostile:
        text = helpers.text_of(host.answer(identifier)["result"])
        assert "stopped" in text, text[:300]
    order = _order(host)
    last = max(order.index(identifier) for identifier in hostile)
    return all(order.index(identifier) < last for identifier in others)


def test_small_calls_reads_and_searches_answer_while_hostile_queries_work(guard, helpers):
    host = guard()
    large = helpers.ref_of(host.tool("count/table", {"rows": 6_000}))
    small = helpers.ref_of(host.tool("count/table", {"rows": 300}))
    # A machine that is busy with other things may hold a small call up once; waiting in a queue it would be each time.
    assert any(_others_are_first(host, helpers, large, small) for _ in range(3))
    assert len(host.request("tools/list")["tools"]) == 3
