"""`slimguard analyze`: what the catalog of the configured servers costs a host, and what is odd in it."""

from __future__ import annotations

import argparse
import os
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slimguard import policy
from slimguard.canonical import dump
from slimguard.cli.connecting import add_seconds
from slimguard.cli.helping import command
from slimguard.cli.output import add_config, add_json, colour, say, say_json, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slimguard.cli.connecting import Survey
    from slimguard.model import Tool

LISTED_TOOLS = 15
"""Rows of the table of tools without --all."""

_PLAIN_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
LONG_NAME = 60
"""Characters of server and tool name together above which Cursor hides a tool."""

DESCRIPTION = """\
Connect to the servers, list their tools and count: tokens by server and by tool, the whole list with and without
slimguard, and what is odd (names that hosts reject, the same name twice, fat schemas, writers not marked). No
tool is run."""
EXAMPLES = (("slimguard analyze", ""), ("slimguard analyze --all", "every tool, not only the dearest"))
THEN = "next: slimguard.tools.deny in the configuration leaves tools out; slimguard find WORDS asks for one"


def add(commands: Any) -> None:
    """Register the command."""
    summary = "show what the servers' tools cost a host, and what is odd"
    parser = command(commands, "analyze", summary, DESCRIPTION, examples=EXAMPLES, then=THEN)
    parser.add_argument("--all", action="store_true", help="list every tool, not only the most expensive")
    add_seconds(parser)
    add_config(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the analysis; exit code 1 when no server could be reached."""
    from slimguard import config
    from slimguard.cli.connecting import survey

    settings = config.load(options.config, os.environ, str(Path.cwd()))
    servers = {name: server for name, server in settings.servers.items() if not server.disabled}
    found = survey(servers, max(0.1, float(options.seconds)))
    report = analysis(found)
    if options.json:
        say_json(report)
    else:
        _show(report, everything=bool(options.all))
    return 0 if any(status.state == "ready" for status in found.statuses) else 1


def analysis(found: Survey) -> dict[str, Any]:
    """Tokens by server and tool, the lists with and without us, and findings, as plain values."""
    from slimguard.host.surface import definitions
    from slimguard.tokens import Tokens

    counter = Tokens()
    tokens = {tool.id: counter.count(dump(tool.definition)) for tool in found.tools}
    schemas = {tool.id: counter.count(dump(tool.input_schema)) for tool in found.tools}
    direct = counter.count(dump({"tools": [tool.definition for tool in found.tools]}))
    ours = counter.count(dump({"tools": definitions(always_load=False)}))
    return {
        "servers": [
            {
                "name": status.name,
                "state": status.state,
                "reason": status.reason,
                "protocol": status.protocol,
                "tools": status.tools,
                "tokens": sum(tokens[tool.id] for tool in found.tools if tool.server == status.name),
                "unreadable_tools": list(status.skipped),
            }
            for status in found.statuses
        ],
        "tools": [
            {"tool": tool.id, "tokens": tokens[tool.id], "schema_tokens": schemas[tool.id]}
            for tool in sorted(found.tools, key=lambda tool: (-tokens[tool.id], tool.id))
        ],
        "tokens_direct": direct,
        "tokens_with_slimguard": ours,
        "findings": {
            "same_name_on_several_servers": _duplicates(found.tools),
            "names_that_hosts_reject": [tool.id for tool in found.tools if not _PLAIN_NAME.fullmatch(tool.name)],
            "names_too_long_with_server": [
                tool.id for tool in found.tools if len(tool.server) + len(tool.name) > LONG_NAME
            ],
            "fat_schemas": [tool.id for tool in found.tools if schemas[tool.id] > policy.SCHEMA_TOKENS],
            "without_annotations": [tool.id for tool in found.tools if not tool.annotations],
            "writers_not_marked": [tool.id for tool in found.tools if _unmarked_writer(tool)],
            "suspicious_texts": {tool.id: list(why) for tool, why in _suspicious(found.tools)},
            "offer_more_than_tools": {name: list(offers) for name, offers in found.beyond.items()},
        },
    }


def _duplicates(tools: Sequence[Tool]) -> dict[str, list[str]]:
    names = Counter(tool.name for tool in tools)
    return {name: [tool.server for tool in tools if tool.name == name] for name, count in names.items() if count > 1}


def _suspicious(tools: Sequence[Tool]) -> list[tuple[Tool, tuple[str, ...]]]:
    """Tools whose texts hide characters, repeat themselves or speak to the model."""
    from slimguard.ranking import suspicious

    return [(tool, findings) for tool in tools if (findings := suspicious(tool))]


def _unmarked_writer(tool: Tool) -> bool:
    """Neither marked read-only nor said to destroy or not: a host cannot tell what it does."""
    return not tool.read_only and "destructiveHint" not in tool.annotations


_TITLES = {
    "same_name_on_several_servers": "the same name on several servers: hosts without prefixes lose one",
    "names_that_hosts_reject": "names that some hosts reject (allowed: letters, digits, _ and -, up to 64)",
    "names_too_long_with_server": f"server and tool name over {LONG_NAME} characters: Cursor hides these",
    "fat_schemas": f"input schemas over {policy.SCHEMA_TOKENS} tokens: find_tool gives a signature and a ref instead",
    "without_annotations": "no annotations at all",
    "writers_not_marked": "neither marked read-only nor destructive or not",
    "suspicious_texts": "texts that look wrong; find_tool shows them without hidden characters",
    "offer_more_than_tools": "offer prompts or resources, which do not pass through slimguard yet",
}


def _show(report: dict[str, Any], *, everything: bool) -> None:
    rows = [
        (one["name"], one["state"], str(one["tools"]), f"{one['tokens']:,}", one["protocol"] or one["reason"])
        for one in report["servers"]
    ]
    table(("server", "state", "tools", "tokens", ""), rows)
    say()
    tools = report["tools"] if everything else report["tools"][:LISTED_TOOLS]
    table(
        ("tool", "tokens", "of these schema"),
        [(t["tool"], f"{t['tokens']:,}", f"{t['schema_tokens']:,}") for t in tools],
    )
    if len(tools) < len(report["tools"]):
        say(f"and {len(report['tools']) - len(tools)} more (--all)")
    say()
    direct, ours = (colour(f"{report[key]:,}", "bold") for key in ("tokens_direct", "tokens_with_slimguard"))
    say(f"tools/list, tokens of o200k_base: direct {direct}, slimguard {ours}")
    for key, title in _TITLES.items():
        found = report["findings"][key]
        if found:
            names = [f"{name} ({', '.join(on)})" for name, on in found.items()] if isinstance(found, dict) else found  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
            shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")  # pyright: ignore[reportUnknownArgumentType]
            say(f"{colour('note', 'yellow')}  {title}: {shown}")
