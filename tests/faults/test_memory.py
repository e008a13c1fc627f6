"""What a large answer costs the guard after it was delivered: nothing of it stays in memory."""

from __future__ import annotations

import psutil
import pytest

MEGABYTE = 1024 * 1024
SIZE = 80 * MEGABYTE
"""More than the cache of documents keeps, whose memory is meant to stay."""


@pytest.mark.faults
@pytest.mark.parametrize("carrier", ["stdio", "http-sse"])
def test_after_a_large_answer_the_guard_holds_none_of_it(fault_rig, helpers, until, carrier):
    rig = fault_rig(carrier)
    host = rig.guard()
    warm = host.tool("up/act", {"text": "warm", "size": 18 * MEGABYTE})
    host.read(helpers.ref_of(warm), "bytes:0-100")
    process = psutil.Process(host.process.pid)
    before = process.memory_info().rss
    result = host.tool("up/act", {"text": "large", "size": SIZE}, timeout=60)
    ref = helpers.ref_of(result)
    assert len(helpers.text_of(result)) < 8_000
    assert "line of large" in helpers.text_of(host.read(ref, "bytes:1000-2000"))
    until(lambda: process.memory_info().rss - before < SIZE // 4, 10, "memory that is given back")
