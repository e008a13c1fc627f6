"""A new user's first minute: servers in a host's file, `init`, `install`, a real client from the written entry, back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

COUNTING = Path(__file__).resolve().parents[2] / "fixtures" / "servers" / "counting.py"


def slimguard(home: Path, *arguments: str) -> str:
    environment = {**os.environ, "HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-m", "slimguard", *arguments],
        cwd=home / "project", env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.anyio
async def test_three_servers_become_three_tools_and_the_old_file_comes_back(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    module = {"command": sys.executable}
    servers: dict[str, Any] = {
        "git": {**module, "args": ["-m", "mcp_server_git"]},
        "time": {**module, "args": ["-m", "mcp_server_time"]},
        "fetch": {**module, "args": ["-m", "mcp_server_fetch"], "env": {"UNUSED": "SENTINEL-env"}},
    }
    host_file = project / ".mcp.json"
    host_file.write_text('{\n  // mine\n  "mcpServers": ' + json.dumps(servers, indent=4) + "\n}\n")
    before = host_file.read_bytes()

    said = slimguard(tmp_path, "init", "--no-connect")
    said += slimguard(tmp_path, "validate")
    said += slimguard(tmp_path, "install", "--host", "claude-code", "--no-connect")
    assert "SENTINEL" not in said

    text = host_file.read_text()
    assert "// mine" in text
    entry = json.loads("\n".join(line for line in text.splitlines() if "//" not in line))["mcpServers"]["slimguard"]
    started = StdioServerParameters(
        command=entry["command"], args=entry["args"], env={**os.environ, "HOME": str(tmp_path)}, cwd=str(project)
    )
    async with Client(stdio_client(started)) as client:
        listed = await client.list_tools()
        assert [tool.name for tool in listed.tools] == ["find_tool", "call_tool", "read_result"]
        called = await client.call_tool(
            "call_tool", {"tool_ref": "time/get_current_time", "arguments": {"timezone": "Europe/Athens"}}
        )
        assert not called.is_error
        assert "Europe/Athens" in str(called.content)

    slimguard(tmp_path, "rollback")
    assert host_file.read_bytes() == before
