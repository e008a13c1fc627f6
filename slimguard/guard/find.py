"""find_tool: at most three authorised tools with their complete schemas, or the map; reads, never calls an upstream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from slimguard import policy, ranking
from slimguard.canonical import dump
from slimguard.errors import RequestRejected
from slimguard.frame import MARK, one_line, safe_text
from slimguard.guard.naming import reason_of
from slimguard.guard.services import Services
from slimguard.model import Budget, Caller, JsonObject, Reply, ServerStatus, Tool, is_array, is_object
from slimguard.ports import TokenCounter

_OURS = (MARK, "tool_ref:", "unavailable:")
"""How lines of ours begin in an answer."""


async def find_tool(services: Services, caller: Caller, arguments: JsonObject) -> Reply:
    """Answer one `find_tool` request; raises `RequestRejected` for a query that is no text."""
    query = arguments.get("query", "")
    if not isinstance(query, str):
        raise RequestRejected(
            "query must be a string", next_call='find_tool(query="verb and object")', code="bad_query"
        )
    counter = services.budgets(caller.host).counter
    before, waiting = services.shelf.catalog(), _waiting(services)
    found = await _search(services, query.strip())
    if found is None:
        await services.upstreams.settle(policy.CONNECT_WAIT_SECONDS)
        return Reply(text=_map_answer(services, caller, counter, ""))
    # A server may have become ready while the search ran: then what was searched is not what there is.
    unsure = found.confidence in ("none", "low") and (waiting or services.shelf.catalog() is not before)
    if unsure or any(name.casefold() in query.casefold() for name in waiting):
        await services.upstreams.settle(policy.CONNECT_WAIT_SECONDS)
        found = await _search(services, query.strip()) or found
    services.audit.record("find", matches=len(found.matches), confidence=found.confidence)
    if not found.matches:
        return Reply(text=_map_answer(services, caller, counter, query, found.nearest))
    return Reply(text=_matches_answer(services, caller, counter, found))


async def _search(services: Services, query: str) -> ranking.Found | None:
    if not query:
        return None
    return await services.shelf.search(query)


def _waiting(services: Services) -> Sequence[str]:
    """Servers that are still connecting and of which no kept tools are known."""
    known = {tool.server for tool in services.upstreams.tools()}
    statuses = services.upstreams.statuses()
    return [status.name for status in statuses if status.state == "connecting" and status.name not in known]


def _matches_answer(services: Services, caller: Caller, counter: TokenCounter, found: ranking.Found) -> str:
    statuses = {status.name: status for status in services.upstreams.statuses()}
    budget = _budget(services, caller)
    head = "low confidence; nearest first\n" if found.confidence == "low" else ""
    told = _introduction(services, caller, found.matches[0].tool, statuses, counter)
    tail = ""
    if found.confidence == "low":
        lines = _map_lines(services, policy.LOW_CONFIDENCE_MAP_LINES)
        waiting = [s.name for s in statuses.values() if s.state == "connecting" and s.tools == 0]
        if waiting:
            lines.insert(1, f"still connecting: {', '.join(waiting[:10])}; ask again for their tools")
        tail = "\n" + _lines_within(lines, _share(budget, 4), counter)
    around = head + told + tail
    rest = replace(
        budget,
        tokens=budget.tokens - counter.count(around),
        bytes=budget.bytes - len(around.encode("utf-8", "replace")),
        lines=None if budget.lines is None else budget.lines - around.count("\n"),
    )
    entries = [_entry(match.tool, statuses.get(match.tool.server), counter) for match in found.matches]
    return head + _fitting(entries, counter, rest) + told + tail


def _budget(services: Services, caller: Caller) -> Budget:
    """What a whole answer may cost on this host: those that cut early get no more than a page."""
    page, whole = services.budgets(caller.host).page(), policy.DISCOVERY_BUDGET
    return replace(whole, tokens=min(whole.tokens, page.tokens), bytes=min(whole.bytes, page.bytes))


def _share(budget: Budget, parts: int) -> Budget:
    lines = None if budget.lines is None else budget.lines // parts
    return replace(budget, tokens=budget.tokens // parts, bytes=budget.bytes // parts, lines=lines)


@dataclass(frozen=True, slots=True)
class _Entry:
    """One tool of an answer: what names it, what its server says of it, and its schema."""

    named: str
    about: str
    schema: str
    ref: str

    def text(self, counter: TokenCounter, limit: int | None = None) -> str:
        """All of it, or with a description of at most `limit` tokens: the schema matters more."""
        about = self.about
        if limit is not None:
            end = counter.page_end(about, 0, limit, max_bytes=6 * limit, max_lines=policy.DESCRIPTION_LINES)
            cut = f"… (shortened; read_result(result_ref={dump(self.ref)}) reads it all)"
            about = about if end >= len(about) else f"{about[:end].rstrip()}{cut}"
        return "\n".join(filter(None, (self.named, about, self.schema)))


def _entry(tool: Tool, status: ServerStatus | None, counter: TokenCounter) -> _Entry:
    named = f"tool_ref: {tool.ref}"
    if status is not None and status.state in ("unavailable", "disabled"):
        named += f"\nunavailable: {reason_of(status)}"
    schema = dump(tool.input_schema)
    if not counter.within(schema, policy.SCHEMA_TOKENS):
        short = f"arguments (schema shortened, read it all with read_result(result_ref={dump(tool.ref)})):"
        schema = f"{short}\n{signature(tool.input_schema)}"
    return _Entry(named, _fenced(_about(tool)), schema, tool.ref)


def _fenced(text: str) -> str:
    """A server's words, in which no line can be taken for one of ours."""
    return "\n".join(f"\\{line}" if line.lstrip().startswith(_OURS) else line for line in text.split("\n"))


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
    needed = {name for name in required if isinstance(name, str)} if is_array(required) else set[str]()
    lines: list[str] = []
    used = 0
    for name, item in sorted(properties.items(), key=lambda pair: pair[0] not in needed):
        line = f"{one_line(name)}{'' if name in needed else '?'}: {_type_of(item)}"
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
        return "{" + ", ".join(map(one_line, list(schema["properties"])[:12])) + "}"
    if kind is None:
        return "any"
    return one_line(" or ".join(map(str, kind)) if is_array(kind) else str(kind))


def _fitting(entries: Sequence[_Entry], counter: TokenCounter, budget: Budget) -> str:
    """As many entries as fit, with shorter descriptions before with fewer tools; one alone is cut and says so."""
    for limit in (None, policy.DESCRIPTION_TOKENS):
        text = "\n\n".join(entry.text(counter, limit) for entry in entries)
        if _fits(text, counter, budget):
            return text
    for count in range(len(entries) - 1, 0, -1):
        text = "\n\n".join(entry.text(counter, policy.DESCRIPTION_TOKENS) for entry in entries[:count])
        if _fits(text, counter, budget):
            return text
    first = entries[0]
    whole = first.text(counter, policy.DESCRIPTION_TOKENS)
    end = counter.page_end(whole, 0, budget.tokens - 100, max_bytes=budget.bytes - 600, max_lines=_lines(budget))
    return f"{whole[:end]}\n(shortened; read_result(result_ref={dump(first.ref)}) reads the whole definition)"


def _fits(text: str, counter: TokenCounter, budget: Budget) -> bool:
    if len(text.encode("utf-8", "replace")) > budget.bytes or not counter.within(text, budget.tokens):
        return False
    return budget.lines is None or text.count("\n") < budget.lines


def _lines(budget: Budget) -> int | None:
    return None if budget.lines is None else max(1, budget.lines - 2)


def _lines_within(lines: Sequence[str], budget: Budget, counter: TokenCounter) -> str:
    """Whole lines as far as they fit, and how many did not; at least the first."""
    for count in range(len(lines), 0, -1):
        left = len(lines) - count
        text = "\n".join([*lines[:count], *([f"… {left} more lines"] if left else [])])
        if _fits(text, counter, budget):
            return text
    return lines[0]


def _introduction(
    services: Services, caller: Caller, tool: Tool, statuses: dict[str, ServerStatus], counter: TokenCounter
) -> str:
    """The server's own instructions, once a session, with the first of its tools that is found."""
    status = statuses.get(tool.server)
    known = services.introduced.setdefault(caller.session, set())
    if status is None or not status.instructions.strip() or tool.server in known:
        return ""
    known.add(tool.server)
    text = _fenced(safe_text(status.instructions.strip()))
    end = counter.page_end(text, 0, policy.INSTRUCTIONS_TOKENS, max_lines=policy.DESCRIPTION_LINES)
    return f"\n\nserver {tool.server} says: {text[:end]}{'' if end >= len(text) else ' …'}"


def _map_answer(
    services: Services, caller: Caller, counter: TokenCounter, query: str, nearest: Sequence[str] = ()
) -> str:
    head = ["no tool matches these words; name one step (verb and object) or the product"] if query else []
    if nearest:
        head.append(f"nearest names: {', '.join(nearest)}")
    lines = [*head, *_map_lines(services, policy.MAP_LINES)]
    return _lines_within(lines, services.budgets(caller.host).inline(), counter)


def _map_lines(services: Services, limit: int) -> list[str]:
    """One line a server: its tools by area, or why it has none; above them their sum, when there is more than one."""
    catalog = services.shelf.catalog()
    listed = {tool.server for tool in catalog.tools}
    tools = "1 tool" if len(catalog.tools) == 1 else f"{len(catalog.tools)} tools"
    several = f"{tools} on {len(listed)} servers; `server: words` asks one server only"
    lines = [] if len(listed) == 1 else [several]
    lines += [_map_line(area) for area in ranking.map_of(catalog.tools, limit)]
    down = [s for s in services.upstreams.statuses() if s.state in ("unavailable", "connecting")]
    down = [status for status in down if status.name not in listed]
    for status in down[:limit]:
        reason = f" ({reason_of(status)[: policy.REASON_CHARS]})" if status.reason else ""
        lines.append(f"{status.name}: {status.state}{reason}")
    if len(down) > limit:
        lines.append(f"… {len(down) - limit} more servers without tools; `slimguard doctor` says why")
    return lines


def _map_line(area: ranking.Area) -> str:
    if area.servers > 1:
        return f"{area.tools} tools on {area.servers} more servers: {', '.join(area.nouns)}"
    return f"{area.server} ({area.tools} tools){': ' if area.nouns else ''}{', '.join(area.nouns)}"
