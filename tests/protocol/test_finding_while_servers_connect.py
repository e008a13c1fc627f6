"""A search that names a server which is still connecting waits for it, also when another server has a tool like that."""

from __future__ import annotations


def test_a_named_server_is_waited_for_though_another_has_a_tool_of_that_name(bench, helpers):
    bench.counting("elsewhere")
    bench.counting("anything", START_SLEEP="2")
    host = bench.host()
    host.await_tool("elsewhere/record")
    assert "anything/record#" in helpers.text_of(host.call("find_tool", {"query": "anything/record"}))
