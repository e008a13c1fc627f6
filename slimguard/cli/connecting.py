"""A read-only look at servers for commands: connect, list, leave; it never calls a tool and keeps nothing."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from slimguard import policy
from slimguard.model import ServerStatus, Tool
from slimguard.settings import ServerConfig


@dataclass(frozen=True, slots=True)
class Survey:
    """What the servers said: one status each, and their tools."""

    statuses: tuple[ServerStatus, ...]
    tools: tuple[Tool, ...]
    beyond: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: {})
    """Servers that offer prompts or resources, which do not pass through slimguard yet, and which of them."""


class _Nothing:
    """A keeper of catalogs that keeps nothing."""

    async def load(self, keys: Mapping[str, str]) -> Mapping[str, Sequence[Tool]]:
        """Nothing is kept."""
        del keys
        return {}

    async def save(self, server: str, key: str, tools: Sequence[Tool]) -> None:
        """Keep nothing."""


def survey(servers: Mapping[str, ServerConfig], seconds: float) -> Survey:
    """Connect to all servers at once, for at most `seconds`; those that are not ready by then say so."""
    import anyio

    from slimguard.clock import SystemClock
    from slimguard.upstream.fleet import Fleet

    async def main() -> Survey:
        no_ledger: Any = None  # nothing is called, so nothing is recorded
        fleet = Fleet(servers, no_ledger, _Nothing(), SystemClock())
        found: list[Survey] = []
        async with anyio.create_task_group() as group:
            await group.start(fleet.run)
            await fleet.settle(seconds)
            beyond = await fleet.beyond()
            found.append(Survey(tuple(fleet.statuses()), tuple(fleet.tools()), beyond))
            await fleet.shutdown()
        return found[0]

    return anyio.run(main)


def add_seconds(parser: argparse.ArgumentParser) -> None:
    """The `--seconds N` option of commands that wait for servers."""
    words = f"wait at most so long for servers (default: {policy.START_SECONDS:g})"
    parser.add_argument("--seconds", type=float, metavar="N", default=policy.START_SECONDS, help=words)


def missing_command(server: ServerConfig, environment: Mapping[str, str]) -> str:
    """Why a local server's command cannot be started: not found, with the PATH that was searched; or nothing."""
    if server.transport != "stdio" or server.problem or not server.command:
        return ""
    path = server.env.get("PATH") or environment.get("PATH", "")
    if shutil.which(server.command, path=path):
        return ""
    searched = "" if "/" in server.command or "\\" in server.command else f"; searched PATH: {path}"
    return f"command not found: {server.command}{searched}"
