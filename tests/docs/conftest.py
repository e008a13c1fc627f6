"""A scratch machine for the documents: a home, a project, and the commands that the pages use."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from raw_host import PATIENCE, eventually, listens

SHOP = '{"mcpServers": {"shop": {"command": "python", "args": ["-m", "slimguard.demo.shop", "outbox.jsonl"]}}}'
INSTALLERS = ("pip", "pipx", "uv")
"""Programs that change the machine: `make release-check` is what tries them."""


@dataclass
class Machine:
    """Runs the lines of a console block as a new user would."""

    home: Path
    background: list[subprocess.Popen[bytes]] = field(default_factory=list)
    replaced: dict[str, str] = field(default_factory=dict)

    @property
    def project(self) -> Path:
        return self.home / "project"

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "SLIMGUARD_"))}
        return {**kept, "HOME": str(self.home), "PATH": f"{self.home / 'bin'}:{os.environ['PATH']}", "NO_COLOR": "1"}

    def run(self, line: str) -> tuple[int, str]:
        """Exit code and all output of one line; a line that ends with & goes on."""
        for old, new in self.replaced.items():
            line = line.replace(old, new)
        if line.endswith("&"):
            return 0, self._start(line[:-1])
        done = subprocess.run(
            ["sh", "-c", line],
            cwd=self.project, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=300, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout.decode()

    def _start(self, line: str) -> str:
        process = subprocess.Popen(
            ["sh", "-c", f"exec env {line}"],
            cwd=self.project, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip
        self.background.append(process)
        assert process.stderr is not None
        first = process.stderr.readline().decode()
        port = re.search(r":(\d+)/", first)
        assert port, first
        eventually(lambda: listens(int(port[1])), what=f"somebody who listens for {line}")
        return first

    def close(self) -> None:
        for process in self.background:
            process.terminate()
            process.communicate(timeout=PATIENCE)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    made = Machine(tmp_path)
    made.project.mkdir()
    programs = {"slimguard": "-m slimguard", "python": "", "uvx": "-m"}
    (tmp_path / "bin").mkdir()
    for name, words in programs.items():
        path = tmp_path / "bin" / name
        path.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {words} "$@"\n')
        path.chmod(0o755)
    uvx = tmp_path / "bin" / "uvx"
    uvx.write_text(
        f'#!/bin/sh\nmodule=$(echo "$1" | tr - _)\nshift\nexec {shlex.quote(sys.executable)} -m "$module" "$@"\n'
    )
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def stored(machine: Machine) -> Callable[[], str]:
    """Makes one stored result, the log of the shop, and returns its ref."""

    def make() -> str:
        import anyio
        from mcp import StdioServerParameters
        from mcp.client import Client
        from mcp.client.stdio import stdio_client

        (machine.project / "slimguard.json").write_text(SHOP)
        command = StdioServerParameters(
            command=sys.executable, args=["-m", "slimguard", "serve"], env=machine.environment, cwd=str(machine.project)
        )

        async def call() -> str:
            async with Client(stdio_client(command)) as client:
                arguments = {"tool_ref": "shop/read_log", "arguments": {"day": "2026-03-14"}}
                return str(await client.call_tool("call_tool", arguments))

        found = re.search(r"result_ref=(\w+)", anyio.run(call))
        assert found
        return found[1]

    return make
