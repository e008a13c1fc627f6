"""Six official servers behind one guard: three tools in both eras, every tool found, results as when called directly."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client

from slimguard.tokens import Tokens

ROOT = Path(__file__).resolve().parent.parent.parent
CLOCK = re.compile(r"\d{4}-\d\d-\d\d(?=T)|\d{1,2}:\d\d:\d\d(?:\s?[AP]M)?")
BIN = ROOT / ".node" / "node_modules" / ".bin"


@pytest.fixture
def six(bench, tmp_path: Path) -> dict[str, Any]:
    """The six servers in the configuration, with a small repository and folder to work on."""
    if not (BIN / "mcp-server-everything").exists():
        pytest.skip("npm servers are not installed: make test installs them (fixtures/servers/install_node.sh)")
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "large.txt").write_text("".join(f"Zeile {i}: größer als vorher, 你好\n" for i in range(20_000)))
    (folder / "small.txt").write_text("a small file\n")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    git = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run([*git, "add", "small.txt"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "first"], check=True)
    bench.servers = {
        "everything": {"command": str(BIN / "mcp-server-everything"), "args": ["stdio"]},
        "filesystem": {"command": str(BIN / "mcp-server-filesystem"), "args": [str(folder)]},
        "memory": {
            "command": str(BIN / "mcp-server-memory"),
            "env": {"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")},
        },
        "git": {"command": sys.executable, "args": ["-m", "mcp_server_git", "--repository", str(folder)]},
        "time": {"command": sys.executable, "args": ["-m", "mcp_server_time", "--local-timezone", "UTC"]},
        "fetch": {"command": sys.executable, "args": ["-m", "mcp_server_fetch"]},
    }
    node = str(BIN)
    bench.environment = {"PATH": f"{node}{os.pathsep}{os.environ['PATH']}"}
    return {"folder": folder}


def direct(bench, helpers, server: str):
    """The same server without a guard."""
    entry = bench.servers[server]
    env = {**bench.environment, **entry.get("env", {})}
    host = helpers.RawHost([entry["command"], *entry.get("args", [])], env)
    bench.hosts.append(host)
    host.initialize()
    return host


def test_every_tool_is_found_by_its_name_and_a_dozen_answer_as_when_called_directly(six, bench, helpers):
    host = bench.host()
    listed = {name: direct(bench, helpers, name) for name in bench.servers}
    names = {name: [tool["name"] for tool in server.request("tools/list")["tools"]] for name, server in listed.items()}
    assert sum(map(len, names.values())) >= 51
    for server, tools in names.items():
        for tool in tools:
            text = helpers.text_of(host.call("find_tool", {"query": f"{server} {tool}"}))
            assert f"tool_ref: {server}/{tool}#" in text, (server, tool, text[:300])
            plain = helpers.text_of(host.call("find_tool", {"query": tool}))
            assert f"/{tool}#" in plain, (tool, plain[:300])
    folder = str(six["folder"])
    calls: list[tuple[str, str, dict[str, Any]]] = [
        ("everything", "echo", {"message": "héllo"}),
        ("everything", "get-sum", {"a": 1.5, "b": 2}),
        ("everything", "get-tiny-image", {}),
        ("everything", "get-structured-content", {"location": "New York"}),
        ("everything", "get-annotated-message", {"messageType": "error", "includeImage": True}),
        ("everything", "get-resource-reference", {"resourceType": "Text", "resourceId": 1}),
        ("everything", "get-resource-links", {"count": 3}),
        ("filesystem", "read_text_file", {"path": f"{folder}/small.txt"}),
        ("filesystem", "list_directory", {"path": folder}),
        ("memory", "read_graph", {}),
        ("git", "git_log", {"repo_path": folder}),
        ("git", "git_status", {"repo_path": folder}),
        ("time", "convert_time", {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}),
    ]
    for server, tool, arguments in calls:
        expected = listed[server].call(tool, arguments)
        got = host.tool(f"{server}/{tool}", arguments)
        texts = [block.get("text") for block in expected["content"]]
        structured = expected.get("structuredContent")
        if structured is not None and any(text and _same(text, structured) for text in texts):
            expected = {key: value for key, value in expected.items() if key != "structuredContent"}
        assert _without_times(got) == _without_times(expected), (server, tool)


def _without_times(value: Any) -> Any:
    """The value without days and times of day, which a server may put into what it says."""
    return json.loads(CLOCK.sub("…", json.dumps(value, ensure_ascii=False)))


def _same(text: str, value: Any) -> bool:
    try:
        return json.loads(text) == value
    except ValueError:
        return False


def test_a_large_file_is_byte_equal_after_paging(six, bench, helpers):
    host = bench.host()
    path = f"{six['folder']}/large.txt"
    ref = helpers.ref_of(host.tool("filesystem/read_text_file", {"path": path}))
    assert "".join(host.pages(ref)) == Path(path).read_text()
    expected = direct(bench, helpers, "filesystem")
    identifier = expected.post("tools/call", {"name": "read_text_file", "arguments": {"path": path}})
    expected.answer(identifier)
    line = next(line for line in expected.lines if b'"result"' in line and b"Zeile 19999" in line)
    raw = "".join(host.pages(ref, "raw:"))
    assert raw.encode() in line
    export = [sys.executable, "-m", "slimguard", "results", "export", ref, "--config", str(bench.config)]
    assert subprocess.run(export, check=True, capture_output=True).stdout == raw.encode()


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
async def test_the_official_client_sees_three_tools_in_both_eras(six, bench, mode):
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "slimguard", "serve", "--config", str(bench.write())], env=bench.environment
    )
    async with Client(stdio_client(parameters), mode=mode) as client:
        listed = await client.list_tools()
        assert [tool.name for tool in listed.tools] == ["find_tool", "call_tool", "read_result"]
        result = await client.call_tool(
            "call_tool", {"tool_ref": "time/get_current_time", "arguments": {"timezone": "UTC"}}
        )
        assert "UTC" in result.content[0].text


def test_the_inspector_sees_exactly_three_tools_within_270_tokens(six, bench):
    inspector = BIN / "mcp-inspector"
    node = BIN / "node"
    if not inspector.exists() or not node.exists():
        pytest.skip("the MCP Inspector is not installed: fixtures/servers/install_node.sh installs it")
    guard = shutil.which("slimguard", path=str(Path(sys.executable).parent))
    command = [str(node), str(inspector), "--cli", str(guard), "serve", "--method", "tools/list"]
    command += ["-e", f"SLIMGUARD_CONFIG={bench.write()}"]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, **bench.environment, "SLIMGUARD_CONFIG": str(bench.config)},
    )
    listed = json.loads(done.stdout)
    tools = listed.get("result", listed)["tools"]
    assert [tool["name"] for tool in tools] == ["find_tool", "call_tool", "read_result"]
    assert Tokens().count(json.dumps({"tools": tools}, ensure_ascii=False, separators=(",", ":"))) <= 270
