"""call_tool: resolve, validate, execute at most once, deliver; nothing here ever sends a second time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from slimguard import delivery, policy
from slimguard.canonical import REF_RANDOM_BYTES, make_ref, value_digest
from slimguard.document import Document, Path, document_of
from slimguard.errors import RequestRejected, SlimguardError, StoreUnavailable, UpstreamFailed
from slimguard.frame import error_text, footer, framed, header, read_call
from slimguard.guard.expand import expand, record_flows
from slimguard.guard.find import signature
from slimguard.guard.naming import resolved
from slimguard.guard.reading import Reader, opened
from slimguard.guard.services import Services
from slimguard.guard.writing_back import write_back
from slimguard.model import Caller, Execution, Json, JsonObject, Outcome, Reply, StoredCall, Tool, is_object
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


async def _aside(services: Services, size: int, work: Callable[[], T]) -> T:
    """`work` on a result of `size` bytes: at once when it is small, else off the loop."""
    if size <= policy.INLINE_WORK_BYTES:
        return work()
    return await services.compute.run(work)


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
        left = soft - (services.clock.monotonic() - began)
        outcome = await services.calls.wait(execution.ref, max(0.0, left))
    except SlimguardError:
        raise
    except BaseException:
        # The host gave up: tell the upstream, and let the capture go on without this request.
        services.background(lambda: services.calls.cancel(execution.ref))
        raise
    services.audit.record(
        "call", tool=tool.id, state=outcome.state, ms=int((services.clock.monotonic() - began) * 1000)
    )
    return await deliver_outcome(services, caller, tool, outcome, result_query=result_query, arguments=arguments)


async def deliver_outcome(
    services: Services,
    caller: Caller,
    tool: Tool | None,
    outcome: Outcome,
    *,
    result_query: str = "",
    arguments: JsonObject | None = None,
) -> Reply:
    """The reply for what is known of one execution; raises `UpstreamFailed` when there is no answer.

    `arguments` are those of the call where they are known: a hint on writing back is made of them.
    """
    if outcome.state == "running":
        return still_running(outcome.ref)
    answer = outcome.answer
    if answer is None and outcome.stored is not None:
        pair = await opened(services, caller, outcome.ref)
        return await deliver_stored(
            services, caller, tool, *pair, result_query=result_query, joined=outcome.joined, arguments=arguments
        )
    if answer is None:
        again = "" if outcome.ran == "no" else f"; {read_call(outcome.ref)} tells its state"
        raise UpstreamFailed(
            outcome.reason or "the upstream did not answer",
            ran=outcome.ran,
            next_call=f"do not repeat it blindly: check its effect first{again}" if outcome.ran != "no" else again,
            code="upstream_failed",
        )
    document = await _aside(services, len(answer.raw), lambda: document_of(answer.raw, answer.kind))
    if outcome.stored is None:
        return await services.compute.run(lambda: delivery.deliver_unstored(document, answer, outcome.reason))
    if outcome.stored.digest:
        services.documents.put(outcome.stored.digest, document)
    return await deliver_stored(
        services,
        caller,
        tool,
        outcome.stored,
        document,
        result_query=result_query,
        joined=outcome.joined,
        arguments=arguments,
    )


def still_running(ref: str) -> Reply:
    """The answer when the soft deadline passed before the upstream answered."""
    shown = "nothing yet, still running"
    body = "The tool was started once and goes on. Do not call it again: reading this result_ref waits for its result."
    return Reply(text=framed(header("call", ref, shown), body, footer(ref, shown, read_call(ref))))


async def deliver_stored(
    services: Services,
    caller: Caller,
    tool: Tool | None,
    stored: StoredCall,
    document: Document,
    *,
    result_query: str = "",
    joined: bool = False,
    arguments: JsonObject | None = None,
) -> Reply:
    """Exact, mirror or view of a stored answer; or what `result_query` asks of it, and the view when that fails."""
    note = "joined an identical call that was in flight" if joined else ""
    if result_query.strip():
        try:
            return await Reader(services, caller).answer([(stored, document)], result_query)
        except (RequestRejected, StoreUnavailable) as error:
            told = SlimguardError(error.message, ran="yes", next_call=error.next_call, detail=error.detail)
            note = f"result_query failed: {error_text(told)}"
    budgets = services.budgets(caller.host)
    inline = budgets.inline(tool)

    def hint() -> str:
        if tool is None or arguments is None:
            return ""
        native = services.settings().mode == "native"
        return write_back(tool, arguments, document, stored.ref, services.shelf.catalog().tools, native=native)

    counted = bool(note) or inline.tokens < policy.INLINE_WORK_BYTES
    reply = await _aside(
        services,
        policy.PARSE_LIMIT_BYTES if counted else len(document.raw),
        lambda: delivery.deliver(
            document,
            stored,
            tool,
            budgets.view(tool),
            budgets.counter,
            settings=budgets.tool(tool) if tool else None,
            inline=inline,
            extreme=services.settings().mode == "extreme",
            forced=bool(note),
            hint=hint,
        ),
    )
    services.at("view-made")
    if not note or reply.text is None:
        return reply
    first, _, rest = reply.text.partition("\n")
    return Reply(f"{first}\n{note}\n{rest}", reply.exact, reply.media, reply.is_error)
