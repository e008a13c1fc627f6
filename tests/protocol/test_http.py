"""The guard over Streamable HTTP on loopback: token, Host and Origin are asked for; the three tools work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from raw_host import PATIENCE, listens

TOKEN = "a-token-for-tests"


@pytest.fixture
def served(bench, free_port, until) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    bench.counting()
    port = free_port()
    command = [sys.executable, "-m", "slimguard", "serve", "--config", str(bench.write()), "--http", str(port)]
    process = subprocess.Popen(command, env={**os.environ, "SLIMGUARD_TOKEN": TOKEN}, stderr=subprocess.DEVNULL)
    until(lambda: listens(port), what="somebody who listens")
    yield f"http://127.0.0.1:{port}/mcp", process
    process.terminate()
    assert process.wait(PATIENCE) == 0


@pytest.fixture
def address(served) -> str:
    return served[0]


def post(url: str, **headers: str) -> int:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
    given = {"content-type": "application/json", "accept": "application/json, text/event-stream", **headers}
    try:
        return urllib.request.urlopen(urllib.request.Request(url, body, given), timeout=PATIENCE).status
    except urllib.error.HTTPError as error:
        return error.code


def test_requests_without_the_token_or_from_elsewhere_are_refused(address):
    bearer = f"Bearer {TOKEN}"
    assert post(address) == 401
    assert post(address, authorization="Bearer wrong") == 401
    assert post(address, authorization=TOKEN) == 401
    assert post(address, authorization=f"bearer {TOKEN}") == 400
    assert post(address, authorization=bearer, host="evil.example") == 421
    assert post(address, authorization=bearer, origin="http://evil.example") == 403


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_official_client_finds_calls_and_reads(address, bench, mode):
    import httpx2

    async with (
        httpx2.AsyncClient(headers={"authorization": f"Bearer {TOKEN}"}) as http,
        Client(streamable_http_client(address, http_client=http), mode=mode) as client,
    ):
        assert len((await client.list_tools()).tools) == 3
        result = await client.call_tool("call_tool", {"tool_ref": "count/record", "arguments": {"text": "x"}})
        assert result.content[0].text == "recorded x"
    assert len(bench.calls()) == 1


def test_a_call_in_flight_at_the_end_is_stored_and_the_exit_is_clean(served, bench, until):
    address, process = served
    gate = bench.folder / "gate"

    def send(message: dict, session: str = "") -> str:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        headers |= {"authorization": f"Bearer {TOKEN}"} | ({"mcp-session-id": session} if session else {})
        answer = urllib.request.urlopen(urllib.request.Request(address, body, headers), timeout=PATIENCE)
        return answer.headers.get("mcp-session-id", "")

    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "q", "version": "1"}}
    session = send({"id": 1, "method": "initialize", "params": hello})
    waiting = {"tool_ref": "count/wait", "arguments": {"seconds": 0, "until": str(gate)}}
    call = {"id": 2, "method": "tools/call", "params": {"name": "call_tool", "arguments": waiting}}
    with ThreadPoolExecutor(1) as threads:
        threads.submit(send, call, session)
        until(lambda: bench.calls("wait"), what="the call at the server")
        process.terminate()
        gate.touch()
        assert process.wait(PATIENCE) == 0
    command = [sys.executable, "-m", "slimguard", "results", "list", "--json", "--all", "--config", str(bench.config)]
    listed = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert [row["state"] for row in listed] == ["stored"]
