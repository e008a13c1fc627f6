"""call_tool: resolve, validate, execute at most once, deliver; nothing here ever sends a second time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from slimguard.canonical import REF_RANDOM_BYTES, make_ref, value_digest
from slimguard.document import Path
from slimguard.errors import RequestRejected, SlimguardError
from slimguard.guard.delivering import deliver_outcome, exact_at_once
from slimguard.guard.expand import expand, record_flows
from slimguard.guard.find import signature
from slimguard.guard.naming import resolved
from slimguard.guard.services import Services
from slimguard.model import Caller, Execution, Json, JsonObject, Outcome, Reply, Tool, is_object
from slimguard.ports import HostChannel
from slimguard.schema import Checker, Problem, checker_for

T = TypeVar("T")

_ALIASES = ("name", "tool", "tool_name")
_OWN = ("tool_ref", "arguments", "result_query")


@dataclass(frozen=True, slots=True)
class Request:
    """A `call_tool` request taken apart: what is ours, and what stood beside it."""

    tool_ref: str
    arguments: Json
    absent: bool
    beside: dict[str, Any]
    result_query: str


async def call_tool(services: Services, caller: Caller, arguments: JsonObject, channel: HostChannel) -> Reply:
    """Answer one `call_tool` request; raises before anything was sent, or with `ran` saying what is known."""
    request = request_of(arguments)
    services.at("parsed")
    tool = await resolved(services, request.tool_ref, services.budgets(caller.host).soft_seconds())
    services.at("resolved")
    checker = await _checker(services, tool)
    request = _query_beside(request, checker)
    expansion = await expand(
        services, caller, tool, checker, request.arguments, beside=request.beside, absent=request.absent
    )
    reading = expansion.reading
    if reading.arguments is None:
        raise _rejected(tool, reading.problems)
    services.at("validated")
    if reading.repaired:
        services.audit.record("repair", tool=tool.id, kind=reading.repaired)
    record_flows(services, expansion.flows)
    return await execute(
        services, caller, tool, reading.arguments, channel, result_query=request.result_query, spelled=expansion.spelled
    )


async def _checker(services: Services, tool: Tool) -> Checker:
    """The checker of a tool, compiled off the loop the first time."""
    kept = services.checkers.get(tool.digest)
    if kept is not None:
        return kept
    checker = await services.compute.run(lambda: checker_for(tool.input_schema))
    services.checkers.put(tool.digest, checker)
    return checker


async def call_directly(
    services: Services, caller: Caller, tool: Tool, arguments: JsonObject, channel: HostChannel
) -> Reply:
    """Answer a request that named the tool itself (native mode); the pipeline is that of `call_tool`."""
    services.at("parsed")
    services.at("resolved")
    checker = await _checker(services, tool)
    expansion = await expand(services, caller, tool, checker, dict(arguments))
    reading = expansion.reading
    if reading.arguments is None:
        raise _rejected(tool, reading.problems, native=True)
    services.at("validated")
    record_flows(services, expansion.flows)
    return await execute(services, caller, tool, reading.arguments, channel, spelled=expansion.spelled)


def request_of(arguments: JsonObject) -> Request:
    """Take the request apart, forgiving where exactly one reading is possible; raises `RequestRejected`."""
    given = dict(arguments)
    inner = given.get("arguments")
    if "tool_ref" not in given and is_object(inner) and isinstance(inner.get("tool_ref"), str) and len(given) == 1:
        given = dict(inner)
    name = given.get("tool_ref")
    for alias in _ALIASES:
        if name is None and isinstance(given.get(alias), str):
            name = given.pop(alias)
    if not isinstance(name, str) or not name.strip():
        raise RequestRejected(
            "tool_ref is missing: it names the tool to call",
            next_call='find_tool(query="verb and object") gives tool_ref',
            code="no_tool",
        )
    query = given.get("result_query")
    if query is not None and not isinstance(query, str):
        raise RequestRejected("result_query must be a string", next_call="leave result_query out", code="bad_query")
    beside = {key: value for key, value in given.items() if key not in _OWN}
    return Request(name, given.get("arguments"), "arguments" not in given, beside, query or "")


def _query_beside(request: Request, checker: Checker) -> Request:
    """`query` beside `arguments` means `result_query` when the tool has no argument of that name."""
    query = request.beside.get("query")
    properties = checker.schema.get("properties") if is_object(checker.schema) else None
    if not isinstance(query, str) or request.result_query or (is_object(properties) and "query" in properties):
        return request
    beside = {key: value for key, value in request.beside.items() if key != "query"}
    return Request(request.tool_ref, request.arguments, request.absent, beside, query)


def _rejected(tool: Tool, problems: tuple[Problem, ...], *, native: bool = False) -> RequestRejected:
    shown = problems[:5]
    lines = [f"{p.path}: {p.rule}: {p.words}{f' — schema {p.fragment}' if p.fragment else ''}" for p in shown]
    if len(problems) > len(shown):
        lines.append(f"… {len(problems) - len(shown)} more")
    lines.append("arguments of this tool:")
    lines.append(signature(tool.input_schema))
    if native:
        message = f"arguments of {tool.id} do not fit its input schema"
        return RequestRejected(message, detail="\n".join(lines), code="invalid_arguments")
    return RequestRejected(
        f"arguments of {tool.id} do not fit its input schema",
        detail="\n".join(lines),
        next_call=f'call_tool(tool_ref="{tool.ref}", arguments={{…}}) with the arguments above; '
        f'find_tool(query="{tool.id}") shows the whole schema',
        code="invalid_arguments",
    )


async def execute(
    services: Services,
    caller: Caller,
    tool: Tool,
    arguments: dict[str, Any],
    channel: HostChannel,
    *,
    result_query: str = "",
    meta: JsonObject | None = None,
    spelled: Mapping[Path, str] | None = None,
) -> Reply:
    """Run a tool once with arguments that validate, and deliver what came of it."""
    began = services.clock.monotonic()
    budgets = services.budgets(caller.host)
    now = services.clock.now()
    execution = Execution(
        ref=make_ref(services.clock.random_bytes(REF_RANDOM_BYTES)),
        owner=caller.owner,
        scope=caller.scope,
        tool=tool,
        arguments=arguments,
        arguments_digest=value_digest(arguments),
        created_at=now,
        expires_at=now + services.settings().store.ttl_seconds,
        call_seconds=budgets.call_seconds(tool),
        meta=meta or {},
        spelled=spelled or {},
    )
    try:
        soft = budgets.soft_seconds(tool)
        await services.calls.start(execution, progress=channel.progress, within=soft)
        heard = await services.calls.wait(execution.ref, _left(services, began + soft), stored=False)
        exact = None if result_query.strip() else exact_at_once(services, caller, execution, heard)
        if exact is not None and tool.read_only:
            services.background(lambda: _record_end(services, execution, began))
            return _made(services, exact)
        outcome = await services.calls.wait(execution.ref, _left(services, began + soft))
    except SlimguardError:
        raise
    except BaseException:
        # The host gave up: tell the upstream, and let the capture go on without this request.
        services.background(lambda: services.calls.cancel(execution.ref))
        raise
    _record(services, tool, outcome, began)
    if exact is not None and outcome.state in ("stored", "held"):
        return _made(services, exact)
    return await deliver_outcome(services, caller, tool, outcome, result_query=result_query, arguments=arguments)


def _made(services: Services, reply: Reply) -> Reply:
    services.at("view-made")
    return reply


def _left(services: Services, until: float) -> float:
    """Seconds that a request may still wait."""
    return max(0.0, until - services.clock.monotonic())


async def _record_end(services: Services, execution: Execution, began: float) -> None:
    """Record how a call ended whose host has its answer already."""
    outcome = await services.calls.wait(execution.ref, execution.call_seconds)
    _record(services, execution.tool, outcome, began)


def _record(services: Services, tool: Tool, outcome: Outcome, began: float) -> None:
    milliseconds = int((services.clock.monotonic() - began) * 1000)
    services.audit.record("call", tool=tool.id, state=outcome.state, ms=milliseconds)
