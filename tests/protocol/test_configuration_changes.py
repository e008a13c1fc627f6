"""A changed configuration file takes effect while the guard runs; a wrong one changes nothing."""

from __future__ import annotations

import time


def found(host, helpers, query: str, wanted: str, seconds: float = 15) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if wanted in helpers.text_of(host.call("find_tool", {"query": query})):
            return True
        time.sleep(0.1)
    return False


def test_a_server_that_is_added_and_a_tool_that_is_denied(bench, helpers):
    bench.counting()
    host = bench.host()
    assert found(host, helpers, "count/record", "count/record#")
    bench.config.write_text("{ this is no JSON")
    time.sleep(0.1)
    bench.counting("second")
    bench.section["tools"] = {"deny": ["count/*"]}
    bench.write()
    assert found(host, helpers, "second/record", "second/record#")
    assert "tool ran: no" in helpers.text_of(host.tool("count/record", {"text": "x"}))
    assert helpers.text_of(host.tool("second/record", {"text": "x"})) == "recorded x"
