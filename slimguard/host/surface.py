"""The three tools as the host sees them: their definitions, and the instructions of the server; pure data."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import Any

from slimguard import policy
from slimguard.host.profiles import profile_of
from slimguard.model import JsonObject
from slimguard.settings import Settings

FIND = "find_tool"
CALL = "call_tool"
READ = "read_result"

_SEPARATORS = re.compile(r"__|[./:]")
_PREFIXED = re.compile(rf"(?P<host>.+(?:__|[./:])|(?:mcp_)?slimguard_)(?P<own>{FIND}|{CALL}|{READ})")

_TEXT = {"type": "string"}

DEFINITIONS: tuple[dict[str, Any], ...] = (
    {
        "name": FIND,
        "description": "Find tool_ref and schema for one step: verb object product; without query a map.",
        "inputSchema": {"type": "object", "properties": {"query": _TEXT}},
        "annotations": {"readOnlyHint": True, "idempotentHint": True},
    },
    {
        "name": CALL,
        "description": "Run a tool once. Large results are stored: read on by result_ref; call again only for "
        'other arguments. Values may be {"$result":ref}.',
        "inputSchema": {
            "type": "object",
            "properties": {"tool_ref": _TEXT, "arguments": {"type": "object"}, "result_query": _TEXT},
            "required": ["tool_ref"],
        },
    },
    {
        "name": READ,
        "description": "Read stored results. query: words, /regex/, lines:1-9, items:0-9, select:JMESPath, "
        "sql:SELECT…, outline; else pages. No ref: recent.",
        "inputSchema": {"type": "object", "properties": {"result_ref": _TEXT, "query": _TEXT, "cursor": _TEXT}},
        "annotations": {"readOnlyHint": True, "idempotentHint": True},
    },
)
"""At most 270 tokens together (o200k_base); a test counts them, since a host pays for each in every request.

No `outputSchema`: a view would break it.
"""

_HOW_TO_WRITE = """\
{"$result":"REF"} (its exact text) or {"$result":{"ref":"REF","select":"body.value","edits":[{"replace":"old","with":
"new"}]}}. Part: select, lines, items, bytes or block. Edits: replace (exact, once, or all:true), set path to value,
remove path, insert text before/after match or line:N, append; a path is /a/0/b or JMESPath: rows[?id=='7'].state; in:
path stays inside one text. read_result with query edit:[…] shows the diff first.
Do not call a tool again to see more of the same result; call again only for other arguments, such as its next page.
Errors say `tool ran: no`, `yes` or `unknown`; after `unknown`, check the effect before you repeat anything.
"""

_THREE_TOOLS = """\
slimguard stands before other MCP servers and gives their tools through three.
1. find_tool: one step a query (verb and object, and the product's name): "create issue github". It returns tool_ref
and the complete input schema. A tool you do not see is not missing: search for it; without a query you get a map.
2. call_tool: tool_ref and arguments (an object that fits the schema). The tool runs at most once. A small result comes
as it is; a large one is stored whole and shown as a view with a result_ref.
3. read_result: whatever a view left out is one read away, and runs nothing: words, /regex/i, lines:120-180 (1-based),
items:0-9 (0-based), bytes:0-4096, select:JMESPath, sql:SELECT count(*) FROM rows, outline, raw:, or none for pages.
Aggregate with sql or select instead of reading pages. Several refs join with +. If you know what you need, give it at
once as call_tool's result_query.
4. To write a result back, changed or not, do not copy it: a value anywhere in call_tool's arguments may be
"""

_OWN_NAMES = """\
slimguard stands before other MCP servers and lists their tools by their own names. A call runs the tool at most once. A
small result comes as it is; a large one is stored whole and shown as a view with a result_ref.
1. read_result: whatever a view left out is one read away, and runs nothing: words, /regex/i, lines:120-180 (1-based),
items:0-9 (0-based), bytes:0-4096, select:JMESPath, sql:SELECT count(*) FROM rows, outline, raw:, or none for pages.
Aggregate with sql or select instead of reading pages. Several refs join with +.
2. To write a result back, changed or not, do not copy it: a value anywhere in a tool's arguments may be
"""
INSTRUCTIONS = _THREE_TOOLS + _HOW_TO_WRITE
NATIVE_INSTRUCTIONS = _OWN_NAMES + _HOW_TO_WRITE


def definitions(*, always_load: bool) -> list[JsonObject]:
    """The definitions for one host; `always_load` adds the mark that keeps Claude Code from deferring them."""
    if not always_load:
        return [dict(definition) for definition in DEFINITIONS]
    return [{**definition, "_meta": {"anthropic/alwaysLoad": True}} for definition in DEFINITIONS]


def instructions_for(settings: Settings) -> str:
    """What a host tells its model of us, in the mode of these settings."""
    return NATIVE_INSTRUCTIONS if settings.mode == "native" else INSTRUCTIONS


def listed_tools(settings: Settings, client: str) -> list[JsonObject]:
    """The definitions for the host with this client name, under these settings."""
    name = profile_of(client) if settings.host == "auto" else settings.host
    return definitions(always_load=policy.HOSTS.get(name, policy.HOSTS["default"]).always_load)


def own_tool(name: str, servers: Container[str]) -> str:
    """The tool of ours that `name` means, since hosts prefix names (`mcp__slimguard__find_tool`); else `name` itself.

    A prefix with the name of one of the `servers` behind slimguard is no host's: that server's tool is not ours.
    """
    found = _PREFIXED.fullmatch(name)
    if found is None or any(part in servers for part in _SEPARATORS.split(found["host"])):
        return name
    return found["own"]
