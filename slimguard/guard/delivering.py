"""From what is known of one execution to the reply: exact, mirror or view; what fails here loses no answer.

Nothing is sent from here: the tool has run, or is running.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from slimguard import delivery, policy
from slimguard.document import Document, document_of
from slimguard.errors import SlimguardError, UpstreamFailed
from slimguard.frame import error_text, footer, framed, header, read_call
from slimguard.guard.reading import Reader, opened
from slimguard.guard.services import Services
from slimguard.guard.writing_back import write_back
from slimguard.model import Budget, Caller, Execution, JsonObject, Outcome, Reply, StoredCall, Tool

T = TypeVar("T")


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


def exact_at_once(services: Services, caller: Caller, execution: Execution, heard: Outcome) -> Reply | None:
    """The reply for a small answer that is being stored, if it is delivered exactly and so needs no ref; else None.

    It is the one that `deliver_outcome` gives once the answer is stored, or is known not to be.
    """
    answer, tool = heard.answer, execution.tool
    if answer is None or answer.kind != "result" or heard.state != "running" or heard.joined:
        return None
    budgets = services.budgets(caller.host)
    inline = budgets.inline(tool)
    if len(answer.raw) > policy.INLINE_WORK_BYTES or inline.tokens < policy.INLINE_WORK_BYTES:
        return None
    reply = delivery.deliver(
        document_of(answer.raw, answer.kind),
        _row(execution),
        tool,
        budgets.view(tool),
        budgets.counter,
        settings=budgets.tool(tool),
        inline=inline,
        extreme=services.settings().mode == "extreme",
    )
    return reply if reply.exact is not None else None


def _row(execution: Execution) -> StoredCall:
    """The call as it will be stored, as far as a delivery without a ref asks."""
    tool = execution.tool
    return StoredCall(
        ref=execution.ref,
        owner=execution.owner,
        scope=execution.scope,
        server=tool.server,
        tool=tool.name,
        tool_digest=tool.digest,
        state="stored",
        created_at=execution.created_at,
        expires_at=execution.expires_at,
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
        except Exception as error:  # noqa: BLE001 - P6: the tool has run, so its view is delivered whatever the query does
            note = f"result_query failed: {_told(error)}"
    budgets = services.budgets(caller.host)
    inline = budgets.inline(tool)
    note = note[: budgets.counter.page_end(note, 0, policy.NOTE_TOKENS, max_bytes=policy.NOTE_BYTES)]

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
            _beside(budgets.view(tool), note),
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
    first, _, body = reply.text.partition("\n")
    return Reply(f"{first}\n{note}\n{body}", reply.exact, reply.media, reply.is_error)


def _told(error: Exception) -> str:
    """A failed query in words: the tool ran, whatever the reader thinks that only read."""
    if not isinstance(error, SlimguardError):
        return f"internal error ({type(error).__name__}) (tool ran: yes)"
    return error_text(SlimguardError(error.message, ran="yes", next_call=error.next_call, detail=error.detail))


def _beside(budget: Budget, note: str) -> Budget:
    """What is left of a view's budget beside a note; its tokens are at most its bytes, and about a third of them."""
    if not note:
        return budget
    size = len(note.encode("utf-8", "replace")) + 1
    return replace(
        budget,
        tokens=max(200, budget.tokens - min(policy.NOTE_TOKENS, size)),
        bytes=max(800, budget.bytes - size),
        lines=None if budget.lines is None else max(10, budget.lines - note.count("\n") - 1),
    )


async def _aside(services: Services, size: int, work: Callable[[], T]) -> T:
    """`work` on a result of `size` bytes: at once when it is small, else off the loop."""
    if size <= policy.INLINE_WORK_BYTES:
        return work()
    return await services.compute.run(work)
