"""What has expired or was evicted is told so by the guard that made it, too, and not served from its memory."""

from __future__ import annotations


def test_a_result_past_its_time_is_expired_for_the_guard_that_made_it(bench, helpers, until):
    bench.counting()
    bench.section["store"]["ttl_seconds"] = 3
    host = bench.host()
    ref = helpers.ref_of(host.tool("count/big", {"lines": 2_000}))
    until(lambda: "has expired" in helpers.text_of(host.read(ref)), what="the end of its time")
    assert "tool ran: yes" in helpers.text_of(host.read(ref))
    assert len(bench.calls()) == 1


def test_a_result_over_the_quota_is_evicted_for_the_guard_that_made_it(bench, helpers, until):
    bench.counting()
    bench.section["store"]["quota_bytes"] = 50_000
    host = bench.host()
    first = helpers.ref_of(host.tool("count/big", {"lines": 2_000}))
    second = helpers.ref_of(host.tool("count/table", {"rows": 2_000}))
    until(lambda: "was evicted" in helpers.text_of(host.read(first)), what="the eviction")
    assert "evicted" not in helpers.text_of(host.read(second))
