"""What HTTP can do to a call, end to end: each tool runs at most once, and the host is told honestly whether it ran."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

SERVERS = Path(__file__).resolve().parent.parent.parent / "fixtures" / "servers"

REFUSED = {
    "redirect307": "no",
    "redirect308": "no",
    "redirect301": "unknown",
    "redirect303": "unknown",
    "status401": "no",
    "status403": "no",
    "status429": "no",
    "status500": "unknown",
    "status502": "unknown",
    "mismatch": "unknown",
    "drop": "unknown",
    "drop-forever": "unknown",
    "close-mid-body": "unknown",
    "accepted": "unknown",
    "input": "unknown",
}
"""What the server does to the call, and the word after `tool ran:`."""


@pytest.fixture
def behind_http(bench):
    """Starts the raw HTTP server and a guard before it; gives the host and the server's own count of calls."""
    log = bench.folder / "raw.log"
    processes = []

    def start(carrier: str):
        environment = {**os.environ, "RAW_LOG": str(log), "RAW_MODE": ""}
        command = [sys.executable, str(SERVERS / "raw_http.py"), carrier]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
        processes.append(process)
        port = int(process.stdout.readline())
        path = "sse" if carrier == "legacy-sse" else "mcp"
        kind = "sse" if carrier == "legacy-sse" else "http"
        bench.servers["raw"] = {"type": kind, "url": f"http://127.0.0.1:{port}/{path}"}
        return bench.host(), lambda: Counter(log.read_text().split()) if log.exists() else Counter()

    yield start
    for process in processes:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize("carrier", ["json", pytest.param("sse", marks=pytest.mark.faults)])
def test_no_trouble_of_http_runs_a_tool_twice_and_each_is_told_honestly(behind_http, helpers, carrier):
    host, count = behind_http(carrier)
    for name, ran in REFUSED.items():
        result = host.tool(f"raw/{name}")
        text = helpers.text_of(result)
        assert result["isError"] is True, name
        assert f"tool ran: {ran}" in text, (name, text)
        assert count()[name] <= 1, name
    assert max(count().values()) == 1


def test_a_broken_event_stream_is_resumed_and_the_tool_ran_once(behind_http, helpers):
    host, count = behind_http("sse")
    result = host.tool("raw/drop-resume")
    assert helpers.text_of(result) == "x"
    assert count()["drop-resume"] == 1


def test_a_session_that_is_gone_is_opened_anew_for_the_next_call_and_nothing_is_replayed(behind_http, helpers):
    host, count = behind_http("json")
    result = host.tool("raw/status404")
    assert "tool ran: no" in helpers.text_of(result)
    again = host.tool("raw/echo", {"n": 1})
    assert again["structuredContent"]["params"]["arguments"] == {"n": 1}
    assert count() == {"status404": 1, "echo": 1}


def test_input_required_is_stored_readable_and_never_continued(behind_http, helpers):
    host, count = behind_http("json")
    result = host.tool("raw/input")
    ref = helpers.ref_of(result)
    assert "tool ran: unknown" in helpers.text_of(result)
    assert '"input_required"' in helpers.text_of(host.read(ref, "raw:"))
    assert count() == {"input": 1}


def test_a_legacy_event_stream_that_breaks_leaves_the_outcome_unknown(behind_http, helpers):
    host, _ = behind_http("legacy-sse")
    result = host.tool("raw/drop")
    assert result["isError"] is True and "tool ran: unknown" in helpers.text_of(result)
    assert helpers.text_of(host.tool("raw/garbage")) == "x"
