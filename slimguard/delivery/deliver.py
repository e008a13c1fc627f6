"""How a stored result reaches the host: exact, mirror, or view and `result_ref`; pure, and never worse than exact.

A failure in here never turns a success into an error (P6): views fall back to a plain one, that to the exact result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import jmespath
from jmespath.exceptions import JMESPathError

from slimguard import frame
from slimguard.canonical import dump, survives
from slimguard.delivery.inline import fits, passed_media, smaller_budget, without_media
from slimguard.delivery.large import large_text
from slimguard.document import Document, continuation_of, document_of
from slimguard.errors import UpstreamFailed
from slimguard.model import Answer, Budget, JsonObject, Ran, Reply, StoredCall, Tool
from slimguard.policy import EXTREME_VIEW_BUDGET, FRAME_BYTES, FRAME_TOKENS, MEDIA_BYTES
from slimguard.ports import TokenCounter
from slimguard.settings import ToolSettings
from slimguard.views import View, render

NOT_RUN_CODES = (-32601, -32602)
"""JSON-RPC: method not found, invalid params. The request was refused before any tool ran."""


SMALL_TIMES = 16
"""A result whose text is so many times an inline budget is not measured: spaces alone never shrink it that much."""


def deliver(
    document: Document,
    call: StoredCall,
    tool: Tool | None,
    budget: Budget,
    counter: TokenCounter,
    *,
    settings: ToolSettings | None = None,
    inline: Budget | None = None,
    extreme: bool = False,
    forced: bool = False,
    hint: Callable[[], str] = lambda: "",
) -> Reply:
    """The answer for a result that is stored under `call.ref`; total: it returns for any document.

    `budget` is a view's, `inline` (the same when None) what an exact delivery may cost. `forced` asks for a text of
    ours even where exact would do, because something must be said with it. `hint` gives a line to stand below a view,
    and is asked only when there is one.
    """
    if extreme:
        budget = smaller_budget(budget, EXTREME_VIEW_BUDGET)
    plan = _Plan(document, call, tool, budget, inline or budget, counter, settings or ToolSettings(), hint)
    try:
        return _deliver(plan, forced=forced)
    except Exception:  # noqa: BLE001 - P6: whatever fails in here, the result is delivered
        return deliver_unstored(document)


def deliver_unstored(document: Document, answer: Answer | None = None, reason: str = "") -> Reply:
    """The exact result whatever its size, for when it could not be stored or no view could be made (P4, P6).

    `answer` is what the document was made of; `reason` why it was not stored, said only where the answer is an error
    of ours anyway: an exact result carries nothing of ours.
    """
    if document.kind != "result":
        why = f"not stored: {reason}" if reason else (answer.note if answer is not None else "")
        return Reply(text=_error_message(document, "", _error_text(document), why), is_error=True)
    if document.result is None or not survives(document.result):
        return Reply(text=document.raw_text, is_error=document.is_error)
    return Reply(exact=document.result, is_error=document.is_error)


@dataclass(frozen=True, slots=True)
class _Plan:
    """One delivery: what, of which call, for how much."""

    document: Document
    call: StoredCall
    tool: Tool | None
    budget: Budget
    inline: Budget
    counter: TokenCounter
    settings: ToolSettings
    hint: Callable[[], str]

    @property
    def ref(self) -> str:
        return self.call.ref


def _deliver(plan: _Plan, *, forced: bool) -> Reply:
    document, settings = plan.document, plan.settings
    if document.kind != "result":
        return _deliver_failure(plan)
    result = document.result
    if document.too_large:
        return Reply(text=large_text(document, plan.call, plan.budget, plan.counter), is_error=plan.call.is_error)
    if result is None:
        return _viewed(plan)
    if result.get("resultType") == "input_required":
        name = plan.tool.id if plan.tool is not None else f"{plan.call.server}/{plan.call.tool}"
        return _viewed(plan, f"{name} asks for further input, which is not passed on; tool ran: unknown", is_error=True)
    if settings.view == "exact" and not forced:
        return Reply(exact=result, is_error=document.is_error) if survives(result) else _viewed(plan)
    if settings.select:
        projected = _projected(plan, settings.select)
        if projected is not None:
            return projected
    exact = {key: item for key, item in result.items() if key != "structuredContent"} if document.mirrored else result
    if forced:
        return _viewed(plan)
    plain, media = without_media(exact)
    small = len(document.raw) - media <= SMALL_TIMES * max(plan.inline.bytes, plan.budget.bytes)
    if small and fits(exact, plan.inline, plan.counter) and survives(exact):
        return Reply(exact=exact, is_error=document.is_error)
    reply = _viewed(plan)
    if small and media <= MEDIA_BYTES and _is_larger(reply, plain, plan) and survives(exact):
        return Reply(exact=exact, is_error=document.is_error)
    return reply


def _is_larger(reply: Reply, plain: JsonObject, plan: _Plan) -> bool:
    """Whether a view costs more than what it is a view of, media apart."""
    if reply.text is None:
        return False
    size = plan.counter.count(dump({"content": [{"type": "text", "text": reply.text}]}))
    return plan.counter.within(dump(plain), size)


def _viewed(plan: _Plan, *notes: str, is_error: bool = False) -> Reply:
    media, listed = passed_media(plan.document)
    text = _framed_view(plan, [*notes, *listed])
    return Reply(text=text, media=media, is_error=plan.document.is_error or is_error)


def _framed_view(plan: _Plan, notes: Sequence[str]) -> str:
    """The view between its header and footer, within the whole budget as it goes over the wire."""
    budget, counter = plan.budget, plan.counter
    hint = plan.hint()
    reserve_tokens, reserve_bytes = FRAME_TOKENS + counter.count(hint), FRAME_BYTES + len(hint.encode("utf-8"))
    text = ""
    for _ in range(6):
        inner = replace(
            budget,
            tokens=max(20, budget.tokens - reserve_tokens),
            bytes=max(80, budget.bytes - reserve_bytes),
            lines=None if budget.lines is None else max(1, budget.lines - (3 if hint else 2)),
        )
        text = _framed(render(plan.document, inner, counter), plan, notes, hint)
        wire = dump(text)
        over_tokens = counter.count(wire) - budget.tokens
        over_bytes = len(wire.encode("utf-8", "surrogatepass")) - budget.bytes
        if over_tokens <= 0 and over_bytes <= 0:
            break
        reserve_tokens += max(0, over_tokens) + 20
        reserve_bytes += max(0, over_bytes) + 80
    return text


def _framed(view: View, plan: _Plan, notes: Sequence[str], hint: str) -> str:
    document, budget = plan.document, plan.budget
    size = f"{frame.token_text(plan.counter.estimate(document.raw_text))}, {frame.size_text(len(document.raw))}"
    shown = f"{view.shown} of {view.of}"
    tables = f"sql tables: {view.tables}" if view.tables else ""
    upstream = ", ".join(continuation_of(document))
    odd = "lone surrogates are shown as U+FFFD" if frame.has_surrogates(view.body) else ""
    about = [size, *document.notes, *notes, odd, f"upstream: {upstream}" if upstream else "", tables]
    first = frame.header(f"view of {view.kind}", plan.ref, shown, *about)
    if budget.line_chars is not None and len(first) > budget.line_chars:
        first = frame.header(f"view of {view.kind}", plan.ref, shown, size, upstream[: budget.line_chars // 2])
    query = view.hints[0] if view.hints else "outline"
    last = frame.footer(plan.ref, shown, frame.read_call(plan.ref, query))
    body = frame.printable(view.body)
    return frame.framed(first, f"{body}\n{hint}" if hint else body, last)


def _projected(plan: _Plan, expression: str) -> Reply | None:
    """The user's projection as the view; None when it does not apply to this result."""
    document = plan.document
    block = next(iter(document.values), None)
    if block is None or block.json is None:
        return None
    try:
        value = jmespath.search(expression, block.json.value)
    except (JMESPathError, RecursionError):
        return None
    if value is None:
        return None
    text = dump(value)
    query = f"select:{expression}"
    shown = frame.one_line(query)
    first = frame.header("projection", plan.ref, shown, frame.size_text(len(document.raw)))
    last = frame.footer(plan.ref, shown, frame.read_call(plan.ref, query))
    whole = frame.framed(first, frame.fenced(text), last)
    if fits({"content": [{"type": "text", "text": whole}]}, plan.budget, plan.counter):
        return Reply(text=whole, is_error=document.is_error)
    own = document_of(dump({"content": [{"type": "text", "text": text}]}).encode("utf-8", "surrogatepass"))
    inner = replace(
        plan.budget,
        tokens=max(20, plan.budget.tokens - FRAME_TOKENS),
        bytes=max(80, plan.budget.bytes - FRAME_BYTES),
    )
    return Reply(text=frame.framed(first, render(own, inner, plan.counter).body, last), is_error=document.is_error)


def _deliver_failure(plan: _Plan) -> Reply:
    """A JSON-RPC error, or an answer that is none: an error with its text, and the ref of the exact bytes."""
    document = plan.document
    text = _error_message(document, plan.ref, _error_text(document), plan.call.note)
    if fits({"content": [{"type": "text", "text": text}]}, plan.budget, plan.counter):
        return Reply(text=text, is_error=True)
    return _viewed(plan, f"tool ran: {_ran(document)}", is_error=True)


def _error_text(document: Document) -> str:
    return "\n".join(frame.fenced(block.text) for block in document.blocks if block.text)


def _error_message(document: Document, ref: str, text: str, why: str) -> str:
    stored = f"the exact answer: {frame.read_call(ref, 'raw:')}" if ref else ""
    if document.kind == "error":
        code = document.result.get("code") if document.result is not None else None
        reason = f"the server answered with JSON-RPC error {dump(code)}"
    else:
        reason = "the server answered with something that is no legal result"
    error = UpstreamFailed(f"{reason} ({why})" if why else reason, ran=_ran(document), detail=text)
    return "\n".join(filter(None, (frame.error_text(error), stored)))


def _ran(document: Document) -> Ran:
    if document.kind == "illegal":
        return "yes"
    code = document.result.get("code") if document.result is not None else None
    return "no" if code in NOT_RUN_CODES else "unknown"
