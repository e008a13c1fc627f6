"""A changed configuration file takes effect while the guard runs; a wrong one changes nothing."""

from __future__ import annotations


def test_a_server_that_is_added_and_a_tool_that_is_denied(bench, helpers, until):
    bench.counting()
    host = bench.host()
    host.await_tool("count/record")
    bench.config.write_text("{ this is no JSON")
    until(lambda: b"not used" in host.stderr, what="the complaint")
    bench.counting("second")
    bench.section["tools"] = {"deny": ["count/*"]}
    bench.write()
    host.await_tool("second/record")
    assert "tool ran: no" in helpers.text_of(host.tool("count/record", {"text": "x"}))
    assert helpers.text_of(host.tool("second/record", {"text": "x"})) == "recorded x"
