"""find_tool: at most three authorised tools with their complete schemas, or the map; reads, never calls an upstream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from slimguard import policy, ranking
from slimguard.canonical import dump
from slimguard.errors import RequestRejected
from slimguard.frame import safe_text
from slimguard.guard.naming import reason_of
from slimguard.guard.services import Services
from slimguard.model import Budget, Caller, JsonObject, Reply, ServerStatus, Tool, is_array, is_object
from slimguard.ports import TokenCounter


async def find_tool(services: Services, caller: Caller, arguments: JsonObject) -> Reply:
    """Answer one `find_tool` request; raises `RequestRejected` for a query that is no text."""
    query = arguments.get("query", "")
    if not isinstance(query, str):
        raise RequestRejected(
            "query must be a string", next_call='find_tool(query="verb and object")', code="bad_query"
        )
    counter = services.budgets(caller.host).counter
    before = services.shelf.catalog()
    found = await _search(services, query.strip())
    if found is None:
        await services.upstreams.settle(policy.CONNECT_WAIT_SECONDS)
        return Reply(text=_map_answer(services, counter, ""))
    # A server may have become ready while the search ran: then what was searched is not what there is.
    if found.confidence in ("none", "low") and (_waiting(services) or services.shelf.catalog() is not before):
        await services.upstreams.settle(policy.CONNECT_WAIT_SECONDS)
        found = await _search(services, query.strip()) or found
    services.audit.record("find", matches=len(found.matches), confidence=found.confidence)
    if not found.matches:
        return Reply(text=_map_answer(services, counter, query, found.nearest))
    return Reply(text=_matches_answer(services, caller, counter, found))


async def _search(services: Services, query: str) -> ranking.Found | None:
    if not query:
        return None
    return await services.shelf.search(query)


def _waiting(services: Services) -> bool:
    """Whether a server that has no kept tools is still connecting."""
    known = {tool.server for tool in services.upstreams.tools()}
    return any(status.state == "connecting" and status.name not in known for status in services.upstreams.statuses())


def _matches_answer(services: Services, caller: Caller, counter: TokenCounter, found: ranking.Found) -> str:
    statuses = {status.name: status for status in services.upstreams.statuses()}
    entries = [_entry(match.tool, statuses.get(match.tool.server), counter) for match in found.matches]
    text = _fitting(entries, counter, policy.DISCOVERY_BUDGET)
    told = _introduction(services, caller, found.matches[0].tool, statuses, counter)
    head = "low confidence: no tool matches well; nearest first\n" if found.confidence == "low" else ""
    tail = ""
    if found.confidence == "low":
        tail = "\n" + "\n".join(_map_lines(services, policy.LOW_CONFIDENCE_MAP_LINES))
    waiting = [s.name for s in statuses.values() if s.state == "connecting" and s.tools == 0]
    if waiting and found.confidence in ("low", "none"):
        tail += f"\nstill connecting: {', '.join(waiting[:10])}; ask again for their tools"
    return head + text + told + tail


def _entry(tool: Tool, status: ServerStatus | None, counter: TokenCounter) -> str:
    lines = [f"tool_ref: {tool.ref}"]
    if status is not None and status.state in ("unavailable", "disabled"):
        lines.append(f"unavailable: {reason_of(status)}")
    about = _about(tool)
    if about:
        lines.append(about)
    schema = dump(tool.input_schema)
    if counter.within(schema, policy.SCHEMA_TOKENS):
        lines.append(schema)
    else:
        lines.append(f"arguments (schema shortened, read it all with read_result(result_ref={dump(tool.ref)})):")
        lines.append(signature(tool.input_schema))
    return "\n".join(lines)


def _about(tool: Tool) -> str:
    title = tool.title.strip()
    description = safe_text(tool.description.strip())
    if not title or title.casefold() in description.casefold()[: len(title) + 40] or _plain(title) == _plain(tool.name):
        return description
    return f"{safe_text(title)}: {description}" if description else safe_text(title)


def _plain(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def signature(schema: Any) -> str:
    """A schema in one line a property: name, `?` when optional, type, enum; for schemas too fat to show."""
    properties = schema.get("properties") if is_object(schema) else None
    if not is_object(properties):
        return dump(schema)[: policy.SIGNATURE_CHARS]
    required = schema.get("required")
    needed = set(required) if is_array(required) else set[Any]()
    lines: list[str] = []
    used = 0
    for name, item in sorted(properties.items(), key=lambda pair: pair[0] not in needed):
        line = f"{name}{'' if name in needed else '?'}: {_type_of(item)}"
        used += len(line)
        if used > policy.SIGNATURE_CHARS:
            lines.append(f"… {len(properties) - len(lines)} more properties")
            break
        lines.append(line)
    return "\n".join(lines)


def _type_of(schema: Any) -> str:
    if not is_object(schema):
        return "any"
    values = schema.get("enum")
    if is_array(values):
        shown = dump(values[:12])
        return shown if len(values) <= 12 else f"{shown[:-1]},…]"
    kind = schema.get("type")
    if kind == "array":
        return f"array of {_type_of(schema.get('items'))}"
    if kind == "object" and is_object(schema.get("properties")):
        return "{" + ", ".join(list(schema["properties"])[:12]) + "}"
    if kind is None:
        return "any"
    return " or ".join(map(str, kind)) if is_array(kind) else str(kind)


def _fitting(entries: Sequence[str], counter: TokenCounter, budget: Budget) -> str:
    """As many whole entries as fit; a single entry that does not fit is cut and says so."""
    for count in range(len(entries), 0, -1):
        text = "\n\n".join(entries[:count])
        if len(text.encode("utf-8", "replace")) <= budget.bytes and counter.within(text, budget.tokens):
            return text
    end = counter.page_end(entries[0], 0, budget.tokens - 60, max_bytes=budget.bytes - 200)
    return entries[0][:end] + "\n(shortened; read_result with this tool_ref as result_ref reads the whole definition)"


def _introduction(
    services: Services, caller: Caller, tool: Tool, statuses: dict[str, ServerStatus], counter: TokenCounter
) -> str:
    """The server's own instructions, once a session, with the first of its tools that is found."""
    status = statuses.get(tool.server)
    known = services.introduced.setdefault(caller.session, set())
    if status is None or not status.instructions.strip() or tool.server in known:
        return ""
    known.add(tool.server)
    text = safe_text(status.instructions.strip())
    end = counter.page_end(text, 0, policy.INSTRUCTIONS_TOKENS)
    return f"\n\nserver {tool.server} says: {text[:end]}{'' if end >= len(text) else ' …'}"


def _map_answer(services: Services, counter: TokenCounter, query: str, nearest: Sequence[str] = ()) -> str:
    head = ["no tool matches these words; name one step (verb and object) or the product"] if query else []
    if nearest:
        head.append(f"nearest names: {', '.join(nearest)}")
    lines = [*head, *_map_lines(services, policy.MAP_LINES)]
    text = "\n".join(lines)
    end = counter.page_end(text, 0, policy.VIEW_BUDGET.tokens, max_bytes=policy.VIEW_BUDGET.bytes)
    return text[:end]


def _map_lines(services: Services, limit: int) -> list[str]:
    """One line a server: its tools by area, or why it has none."""
    catalog = services.shelf.catalog()
    listed = {tool.server for tool in catalog.tools}
    servers = "1 server" if len(listed) == 1 else f"{len(listed)} servers"
    tools = "1 tool" if len(catalog.tools) == 1 else f"{len(catalog.tools)} tools"
    lines = [f"{tools} on {servers}; `server: words` asks one server only"]
    lines += [_map_line(area) for area in ranking.map_of(catalog.tools, limit)]
    for status in services.upstreams.statuses():
        if status.state in ("unavailable", "connecting") and status.name not in listed:
            reason = f" ({reason_of(status)[: policy.REASON_CHARS]})" if status.reason else ""
            lines.append(f"{status.name}: {status.state}{reason}")
    return lines


def _map_line(area: ranking.Area) -> str:
    if area.servers > 1:
        return f"{area.tools} tools on {area.servers} more servers: {', '.join(area.nouns)}"
    return f"{area.server} ({area.tools} tools){': ' if area.nouns else ''}{', '.join(area.nouns)}"
