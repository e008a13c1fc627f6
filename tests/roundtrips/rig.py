"""A guard before worlds, over stdio or HTTP, and a scripted agent that knows nothing but the guard's tools."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from raw_host import PATIENCE, eventually, listens

HERE = Path(__file__).resolve().parent
REF = re.compile(r"result_ref=(r[0-9a-z]{14})")
TOKEN = "a-token-for-round-trips"


class Pipe:
    """The guard on a pipe."""

    def __init__(self, command: Sequence[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def send(self, message: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")
        self.process.stdin.flush()
        while "id" in message:
            line = self.process.stdout.readline()
            assert line, self.close()
            answer = json.loads(line)
            if answer.get("id") == message["id"]:
                return answer
        return {}

    def close(self) -> str:
        assert self.process.stdin is not None
        assert self.process.stderr is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(PATIENCE)
        finally:
            self.process.kill()
        return self.process.stderr.read().decode()


class Web:
    """The guard over Streamable HTTP."""

    def __init__(self, command: Sequence[str]) -> None:
        # Bound, without listening, as long as the guard runs, so that nobody else is given the port.
        self.held = socket.socket()
        self.held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.held.bind(("127.0.0.1", 0))
        port = self.held.getsockname()[1]
        self.url, self.session = f"http://127.0.0.1:{port}/mcp", ""
        environment = {**os.environ, "SLIMGUARD_TOKEN": TOKEN}
        self.process = subprocess.Popen([*command, "--http", str(port)], env=environment, stderr=subprocess.PIPE)
        eventually(lambda: listens(port), what="somebody who listens")

    def send(self, message: dict[str, Any]) -> dict[str, Any]:
        headers = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "authorization": f"Bearer {TOKEN}",
            **({"mcp-session-id": self.session} if self.session else {}),
        }
        body = json.dumps(message, ensure_ascii=False).encode()
        with urllib.request.urlopen(urllib.request.Request(self.url, body, headers), timeout=60) as answer:
            self.session = answer.headers.get("mcp-session-id") or self.session
            text = answer.read().decode()
        if not text.strip():
            return {}
        if text.lstrip().startswith("{"):
            return json.loads(text)
        events = [line[5:].strip() for line in text.splitlines() if line.startswith("data:")]
        found = [json.loads(event) for event in events if event]
        return next(item for item in found if item.get("id") == message.get("id"))

    def close(self) -> str:
        self.held.close()
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        finally:
            self.process.kill()
        assert self.process.stderr is not None
        return self.process.stderr.read().decode()


class Rig:
    """Worlds behind a guard in one folder."""

    def __init__(
        self, folder: Path, worlds: Sequence[str], transport: str = "stdio", mode: str = "compact", **section: Any
    ) -> None:
        self.folder, self.worlds, self.mode = folder, worlds, mode
        self.processes: list[subprocess.Popen[bytes]] = []
        servers = {name: self._server(name, transport) for name in worlds}
        ours = {"mode": mode, "store": {"path": str(folder / "store" / "results.db")}, **section}
        config = folder / "slimguard.json"
        config.write_text(json.dumps({"mcpServers": servers, "slimguard": ours}))
        command = [sys.executable, "-m", "slimguard", "serve", "--config", str(config)]
        self.host = (Pipe if transport == "stdio" else Web)(command)
        self.stderr = ""

    def _server(self, name: str, transport: str) -> dict[str, Any]:
        (self.folder / name).mkdir()
        arguments = [str(HERE / "upstream.py"), name, str(self.folder / name)]
        if transport == "stdio":
            return {"command": sys.executable, "args": arguments}
        process = subprocess.Popen([sys.executable, *arguments, "--http"], stdout=subprocess.PIPE)
        self.processes.append(process)
        assert process.stdout is not None
        return {"url": f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"}

    def state(self, world: str, file: str) -> bytes:
        """What a world has in a file."""
        return (self.folder / world / file).read_bytes()

    def executions(self, world: str, tool: str = "") -> list[dict[str, Any]]:
        """What a world really ran."""
        file = self.folder / world / "calls.jsonl"
        lines = file.read_text(encoding="utf-8").split("\n") if file.exists() else []
        found = [json.loads(line) for line in lines if line]
        return [item for item in found if tool in ("", item["name"])]

    def audit(self) -> list[dict[str, Any]]:
        """The audit record."""
        file = self.folder / "store" / "results.audit.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def close(self) -> None:
        self.stderr = self.host.close()
        for process in self.processes:
            process.kill()
            process.wait()


class Agent:
    """Calls, reads and counts; every exchange is kept as it went over the wire."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.exchanges: list[tuple[dict[str, Any], dict[str, Any]]] = []
        self.last_id = 0
        self.refs: dict[str, str] = {}
        self._request("initialize", protocolVersion="2025-11-25", capabilities={},
                      clientInfo={"name": "roundtrips", "version": "1"})  # fmt: skip
        rig.host.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.listed = self._request("tools/list")

    def _request(self, method: str, **params: Any) -> dict[str, Any]:
        self.last_id += 1
        answer = self.rig.host.send({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params})
        assert "result" in answer, answer
        return answer["result"]

    def _call(self, name: str, arguments: dict[str, Any], fails: bool = False) -> str:
        result = self._request("tools/call", name=name, arguments=arguments)
        self.exchanges.append(({"name": name, "arguments": arguments}, result))
        text = "\n".join(block["text"] for block in result["content"] if block["type"] == "text")
        assert bool(result.get("isError")) == fails, text
        return text

    def run(self, tool: str, arguments: dict[str, Any], query: str = "", *, fails: bool = False) -> str:
        """Call a tool (`server/name`), found first; with a query the answer is that of the query."""
        if self.rig.mode == "native":
            text = self._call(tool.partition("/")[2], arguments, fails)
            return self.read(REF.search(text)[1], query) if query else text  # type: ignore[index]
        if tool not in self.refs:
            found = re.search(rf"{re.escape(tool)}#\w+", self._call("find_tool", {"query": tool}))
            assert found is not None
            self.refs[tool] = found[0]
        asked = {"result_query": query} if query else {}
        return self._call("call_tool", {"tool_ref": self.refs[tool], "arguments": arguments, **asked}, fails)

    def read(self, ref: str, query: str = "", *, fails: bool = False) -> str:
        """Read a stored result."""
        return self._call("read_result", {"result_ref": ref, **({"query": query} if query else {})}, fails)


def ref_in(text: str) -> str:
    """The result_ref that an answer names."""
    found = REF.search(text)
    assert found is not None, text[:300]
    return found[1]


def body_of(text: str) -> str:
    """What stands between header and footer."""
    return text.partition("\n")[2].rpartition("\n")[0]
