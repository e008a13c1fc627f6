"""A thousand calls at once over three servers: each is answered, with its own result, and each ran once."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import pytest

SERVER = Path(__file__).resolve().parent.parent.parent / "fixtures" / "servers" / "faulty_stdio.py"
CALLS = 1_000


@pytest.mark.faults
def test_a_thousand_calls_at_once_over_three_servers_are_each_answered_with_their_own_result(bench, helpers):
    names = ("one", "two", "three")
    for name in names:
        (bench.folder / name).mkdir()
        bench.servers[name] = {
            "command": sys.executable,
            "args": [str(SERVER)],
            "env": {"FAULT_FOLDER": str(bench.folder / name)},
        }
    host = bench.host()
    for name in names:
        host.call("find_tool", {"query": f"{name}/act"})
    asked = {}
    for number in range(CALLS):
        name = names[number % 3]
        arguments = {"tool_ref": f"{name}/act", "arguments": {"text": f"call {number} of {name}", "size": 30}}
        asked[host.post("tools/call", {"name": "call_tool", "arguments": arguments})] = arguments["arguments"]["text"]
    for identifier, text in asked.items():
        result = host.answer(identifier, 120)["result"]
        assert not result.get("isError"), helpers.text_of(result)
        assert result["content"][-1]["text"] == text
    executed = Counter(
        json.loads(line)["arguments"]["text"]
        for name in names
        for line in (bench.folder / name / "counter.jsonl").read_text().splitlines()
    )
    assert executed == Counter(asked.values())
