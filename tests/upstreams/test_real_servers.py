"""Servers that we did not write, over their own carriers: connected, listed, called, and left without a trace."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import anyio
import psutil
import pytest

from raw_host import PATIENCE, listens
from slimguard.settings import ServerConfig

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).resolve().parent.parent.parent
NODE = ROOT / ".node" / "node_modules" / ".bin"
SDK_SERVER = """
import sys
from typing import Annotated, Any
from mcp.server import MCPServer
from pydantic import Field
app = MCPServer("sdk")
@app.tool()
def add(a: int, b: int) -> int:
    return a + b
@app.tool()
def region(where: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
    return where
app.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
"""


def node(name: str, *arguments: str) -> ServerConfig:
    command = NODE / f"mcp-server-{name}"
    if not command.exists():
        pytest.skip("npm servers are not installed: run fixtures/servers/install_node.sh")
    return ServerConfig(name=name, transport="stdio", command=str(command), args=arguments, fingerprint=name)


def python(name: str, *arguments: str) -> ServerConfig:
    if shutil.which(f"mcp-server-{name}", path=str(Path(sys.executable).parent)) is None:
        pytest.skip(f"mcp-server-{name} is not installed")
    module = f"mcp_server_{name}"
    return ServerConfig(
        name=name, transport="stdio", command=sys.executable, args=("-m", module, *arguments), fingerprint=name
    )


def text_of(raw: bytes) -> str:
    return json.loads(raw)["content"][0]["text"]


async def test_the_official_python_servers_answer(upstream_kit: ModuleType, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    servers = [python("time"), python("git", "--repository", str(tmp_path)), python("fetch")]
    async with upstream_kit.running(*servers, settle=60) as rig:
        statuses = {status.name: status for status in rig.fleet.statuses()}
        now = await rig.call("get_current_time", {"timezone": "Asia/Tokyo"}, server="time")
        status = await rig.call("git_status", {"repo_path": str(tmp_path)}, server="git")
        wrong = await rig.call("get_current_time", {"timezone": "Nowhere/At/All"}, server="time")

    assert {name: status.state for name, status in statuses.items()} == dict.fromkeys(("time", "git", "fetch"), "ready")
    assert [statuses[name].tools for name in ("time", "git", "fetch")] == [2, 12, 1]
    assert "Asia/Tokyo" in text_of(now.answer.raw)
    assert "Repository status" in text_of(status.answer.raw)
    assert wrong.stored.is_error
    assert psutil.Process().children(recursive=True) == []


async def test_the_official_node_servers_answer(upstream_kit: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("Ωμέγα 😀")
    memory = node("memory")
    servers = [node("everything"), node("filesystem", str(tmp_path)), memory]
    async with upstream_kit.running(*servers, settle=60) as rig:
        statuses = {status.name: status for status in rig.fleet.statuses()}
        added = await rig.call("get-sum", {"a": 2, "b": 3}, server="everything")
        read = await rig.call("read_text_file", {"path": str(tmp_path / "note.txt")}, server="filesystem")
        steps: list[object] = []
        await rig.call(
            "trigger-long-running-operation", {"duration": 0.2, "steps": 2}, server="everything", progress=steps.append
        )

    assert {status.state for status in statuses.values()} == {"ready"}
    assert statuses["everything"].tools >= 13
    assert statuses["everything"].protocol == "2025-11-25"
    assert "5" in text_of(added.answer.raw)
    assert text_of(read.answer.raw) == "Ωμέγα 😀"
    assert len(steps) >= 2
    assert psutil.Process().children(recursive=True) == []


@pytest.fixture(params=["streamableHttp", "sse"])
def everything_over_http(request: pytest.FixtureRequest, free_port: Callable[[], int]) -> Iterator[ServerConfig]:
    command = node("everything").command
    port = free_port()
    environment = os.environ | {"PORT": str(port)}
    with subprocess.Popen(
        [command, request.param], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        path, transport = ("/sse", "sse") if request.param == "sse" else ("/mcp", "http")
        yield ServerConfig(name="everything", transport=transport, url=f"http://127.0.0.1:{port}{path}")
        process.kill()


async def test_the_official_node_server_answers_over_http(
    everything_over_http: ServerConfig, upstream_kit: ModuleType
) -> None:
    await listening(everything_over_http.url)
    async with upstream_kit.running(everything_over_http, settle=60) as rig:
        (status,) = rig.fleet.statuses()
        added = await rig.call("get-sum", {"a": 2, "b": 3}, server="everything")

    assert (status.state, status.reason) == ("ready", "")
    assert status.tools >= 13
    assert "5" in text_of(added.answer.raw)


@pytest.mark.parametrize(("protocol", "expected"), [("auto", "2026-07-28"), ("2025-11-25", "2025-11-25")])
async def test_a_server_of_the_python_sdk_answers_over_http_in_both_eras(
    protocol: str, expected: str, upstream_kit: ModuleType, free_port: Callable[[], int]
) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}/mcp"
    config = ServerConfig(name="sdk", transport="http", url=url, protocol=protocol)
    with subprocess.Popen([sys.executable, "-c", SDK_SERVER, str(port)], stderr=subprocess.DEVNULL) as process:
        try:
            await listening(url)
            async with upstream_kit.running(config, settle=60) as rig:
                (status,) = rig.fleet.statuses()
                added = await rig.call("add", {"a": 2, "b": 3}, server="sdk")
                marked = await rig.call("region", {"where": "Zürich "}, server="sdk")
        finally:
            process.kill()

    assert (status.state, status.protocol, status.tools) == ("ready", expected, 2)
    assert text_of(added.answer.raw) == "5"
    assert text_of(marked.answer.raw) == "Zürich ", marked.answer.raw


async def listening(url: str) -> None:
    """Wait until somebody listens where `url` points."""
    port = int(url.rpartition(":")[2].partition("/")[0])
    with anyio.fail_after(PATIENCE):
        while not listens(port):
            await anyio.sleep(0.05)
