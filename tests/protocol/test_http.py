"""The guard over Streamable HTTP on loopback: token, Host and Origin are asked for; the three tools work."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

TOKEN = "a-token-for-tests"


@pytest.fixture
def address(bench) -> Iterator[str]:
    bench.counting()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "slimguard", "serve", "--config", str(bench.write()), "--http", str(port)]
    process = subprocess.Popen(
        command, env={**__import__("os").environ, "SLIMGUARD_TOKEN": TOKEN}, stderr=subprocess.PIPE
    )
    url = f"http://127.0.0.1:{port}/mcp"
    for _ in range(500):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            break
        except OSError:
            time.sleep(0.02)
    yield url
    process.terminate()
    assert process.wait(5) is not None


def post(url: str, **headers: str) -> int:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
    given = {"content-type": "application/json", "accept": "application/json, text/event-stream", **headers}
    try:
        return urllib.request.urlopen(urllib.request.Request(url, body, given), timeout=10).status
    except urllib.error.HTTPError as error:
        return error.code


def test_requests_without_the_token_or_from_elsewhere_are_refused(address):
    bearer = f"Bearer {TOKEN}"
    assert post(address) == 401
    assert post(address, authorization="Bearer wrong") == 401
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
