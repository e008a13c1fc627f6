"""Run the official conformance suite's scenarios that apply to a three-tool server (`make conformance`).

Usage: run.py NODE CONFORMANCE_JS. The suite cannot send a bearer token, so a small forwarder on loopback adds it to
each request and changes nothing else; Host and Origin reach the guard as the suite sent them.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

SCENARIOS = ("server-initialize", "ping", "tools-list", "server-sse-multiple-streams", "dns-rebinding-protection")
TOKEN = "a-token-for-the-suite"
ROOT = Path(__file__).resolve().parents[2]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, token: bytes | None) -> None:
    """Copy bytes; with a token, add the header to each request head that passes (bodies have a length here)."""
    try:
        while True:
            if token is None:
                data = await reader.read(65_536)
                if not data:
                    break
                writer.write(data)
                await writer.drain()
                continue
            head = await reader.readuntil(b"\r\n\r\n")
            line, _, rest = head.partition(b"\r\n")
            writer.write(line + b"\r\nAuthorization: Bearer " + token + b"\r\n" + rest)
            for field in rest.lower().split(b"\r\n"):
                if field.startswith(b"content-length:"):
                    writer.write(await reader.readexactly(int(field.partition(b":")[2])))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def forward(target: int) -> asyncio.Server:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        up_reader, up_writer = await asyncio.open_connection("127.0.0.1", target)
        await asyncio.gather(pump(reader, up_writer, TOKEN.encode()), pump(up_reader, writer, None))

    return await asyncio.start_server(connected, "127.0.0.1", 0)


async def main(node: str, suite: str) -> int:
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "slimguard.json"
        server = {"command": sys.executable, "args": [str(ROOT / "fixtures" / "servers" / "counting.py")]}
        server["env"] = {"COUNTER_FILE": f"{folder}/counter"}
        store = {"path": f"{folder}/store/results.db"}
        config.write_text(json.dumps({"mcpServers": {"count": server}, "slimguard": {"store": store}}))
        port = free_port()
        command = [sys.executable, "-m", "slimguard", "serve", "--config", str(config), "--http", str(port)]
        guard = subprocess.Popen(command, env={**os.environ, "SLIMGUARD_TOKEN": TOKEN})
        try:
            for _ in range(600):
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    await asyncio.sleep(0.05)
            forwarder = await forward(port)
            url = f"http://127.0.0.1:{forwarder.sockets[0].getsockname()[1]}/mcp"
            failed = [name for name in SCENARIOS if not await passes(node, suite, url, name)]
        finally:
            guard.terminate()
            guard.wait(5)
    print(f"{len(SCENARIOS) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


async def passes(node: str, suite: str, url: str, scenario: str) -> bool:
    process = await asyncio.create_subprocess_exec(
        node,
        suite,
        "server",
        "--url",
        url,
        "--scenario",
        scenario,
        stdout=asyncio.subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    output, _ = await asyncio.wait_for(process.communicate(), 60)
    good = process.returncode == 0
    print(f"{'✓' if good else '✗'} {scenario}")
    if not good:
        print(output.decode(errors="replace"))
    return good


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1], sys.argv[2])))
