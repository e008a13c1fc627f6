"""A world as an MCP server, over stdio or Streamable HTTP, by hand: `upstream.py WORLD FOLDER [--http]`.

Every execution is one line in `calls.jsonl`: the tool, the arguments and the result as they went over the wire.
"""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from worlds import WORLDS, Refused, compact


class World:
    """One server's tools and its record of executions."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        self.tools = WORLDS[name](folder)

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        method, params = message.get("method"), message.get("params") or {}
        if method == "initialize":
            version = params.get("protocolVersion", "2025-11-25")
            server = {"name": self.name, "version": "1"}
            return {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}}
        if method == "ping":
            return {"result": {}}
        if method == "tools/list":
            return {"result": {"tools": [{"name": name, **definition} for name, (definition, _) in self.tools.items()]}}
        if method != "tools/call":
            return {"error": {"code": -32601, "message": "Method not found"}}
        arguments = params.get("arguments") or {}
        result = self.run(params["name"], arguments)
        record = {"name": params["name"], "arguments": arguments, "result": result}
        with (self.folder / "calls.jsonl").open("a", encoding="utf-8") as file:
            file.write(compact(record) + "\n")
        return {"result": result}

    def run(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            value = self.tools[name][1](arguments)
        except Refused as refused:
            return {"content": [{"type": "text", "text": str(refused)}], "isError": True}
        text = value if isinstance(value, str) else compact(value)
        return {"content": [{"type": "text", "text": text}]}


def serve_stdio(world: World) -> None:
    out = sys.stdout.buffer
    for line in sys.stdin.buffer:
        message = json.loads(line)
        (world.folder / "last_request.json").write_bytes(line)
        if "id" in message:
            out.write((compact({"jsonrpc": "2.0", "id": message["id"], **world.answer(message)}) + "\n").encode())
            out.flush()


def serve_http(world: World) -> None:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            (world.folder / "last_request.json").write_bytes(body)
            message = json.loads(body)
            if "id" not in message:
                self.reply(202, b"")
                return
            self.reply(200, compact({"jsonrpc": "2.0", "id": message["id"], **world.answer(message)}).encode())

        def do_GET(self) -> None:
            self.reply(405, b"")

        def do_DELETE(self) -> None:
            self.reply(200, b"")

        def reply(self, status: int, body: bytes) -> None:
            self.send_response(status)
            if body:
                self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    here = World(sys.argv[1], Path(sys.argv[2]))
    serve_http(here) if "--http" in sys.argv else serve_stdio(here)
