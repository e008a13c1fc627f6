"""One read: parse, open the cursor, ask the readers, frame the answers within one budget; never I/O."""

from __future__ import annotations

from collections.abc import Sequence

from slimguard.errors import QueryRejected
from slimguard.frame import error_text, footer, framed, header, read_call
from slimguard.model import Budget, JsonObject
from slimguard.ports import TokenCounter
from slimguard.query import Query, parse, print_queries, print_query
from slimguard.readers.cursor import make_cursor, open_cursor
from slimguard.readers.fitting import less, printable
from slimguard.readers.model import Answer, ReadContext, ReadReply, Request, Source
from slimguard.readers.pages import BLOCK, RAW, WALK, packed, unpacked
from slimguard.readers.registry import PAGED, READERS

_PAGES = "pages"
"""What cursors of pages are bound to instead of a query, so that a ref and a cursor are enough to go on."""
_SLACK = 8
_SAMPLE_CURSOR = "Eq3_Zx9Kd-7Rw2Lt5Vn8Hc1P"
"""Stands for a cursor when the cost of the frame is counted: as long as they get, and as many tokens."""
_TRIES = 3
"""Readings of a query until header, notes and body together are within budget; the first is, as a rule."""
_LONG_QUERY = 1_500


def read(sources: Sequence[Source], query: str, cursor: str, context: ReadContext) -> ReadReply:
    """Answer `query` on a set of stored results, framed and within budget.

    Raises `QueryRejected` for a query or cursor that cannot be answered, with what to write instead, and whatever
    reading the sources raises. Runs in a worker thread: it may take a second on a large result.
    """
    refs = "+".join(source.ref for source in sources)
    queries = parse(printable(query))
    if len(queries) > 1:
        if cursor:
            raise QueryRejected(
                "a cursor continues one query", next_call="send it with the one query of the answer that printed it"
            )
        return _several(sources, queries, refs, context)
    return _one(sources, queries[0], refs, cursor, context)


def page_start(query: str, cursor: str, ref: str, context: ReadContext) -> int | None:
    """The character at which the page of an unparsed result starts that is asked for; None when it is no such page."""
    try:
        queries = parse(printable(query))
        if len(queries) != 1 or queries[0].kind not in ("page", "raw") or queries[0].block not in (None, 0):
            return None
        _, source, block, start = unpacked(_position(queries[0], ref, cursor, context) if cursor else ()) or (
            0,
            0,
            0,
            0,
        )
    except QueryRejected:
        return None
    return start if source == block == 0 else None


def may_take_long(query: str) -> bool:
    """Whether `query` has a part that can be made to work for seconds on a small result too."""
    try:
        return any(item.kind in ("sql", "select", "regex", "diff") for item in parse(query))
    except QueryRejected:
        return False


def page_cursor(context: ReadContext, ref: str, block: int, start: int) -> str:
    """The cursor of the pages of `ref` from a character of a block on, for a view that showed what is before it."""
    return make_cursor(context.secret, context.owner, ref, _PAGES, packed((WALK, 0, block, start)))


def _one(sources: Sequence[Source], query: Query, refs: str, cursor: str, context: ReadContext) -> ReadReply:
    position = _position(query, refs, cursor, context) if cursor else ()
    if cursor and query.kind == "page":
        query = _query_of(position, query)
    budget = context.page_budget if query.kind in PAGED else context.budget
    inner = _body_budget(query, refs, budget, context)
    text, answer = _framed(Request(query, sources, inner, context, position), refs)
    for attempt in range(_TRIES):
        over = _excess(text, budget, context.counter, counted_lines=query.kind != "raw")
        if over is None:
            break
        inner = less(inner, tokens=over.tokens, size=over.bytes, lines=over.lines or 0)
        text, answer = _framed(Request(query, sources, inner, context, position), refs, with_notes=attempt < _TRIES - 1)
    return ReadReply(text, answer.media)


def _framed(request: Request, refs: str, *, with_notes: bool = True) -> tuple[str, Answer]:
    answer = READERS[request.query.kind](request)
    first = header(answer.kind, refs, answer.shown, *(answer.notes if with_notes else ()))
    last = footer(refs, answer.shown, _next_call(answer, request.query, refs, request.context))
    return printable(framed(first, answer.body, last)), answer


def _excess(text: str, budget: Budget, counter: TokenCounter, *, counted_lines: bool) -> Budget | None:
    """By how much `text` is over `budget`, None when it is within; notes and headings are not known beforehand."""
    size, lines = len(text.encode("utf-8")) - budget.bytes, 0
    if counted_lines and budget.lines is not None:
        lines = text.count("\n") + 1 - budget.lines
    if counter.within(text, budget.tokens) and size <= 0 and lines <= 0:
        return None
    return Budget(max(0, counter.count(text) - budget.tokens) + _SLACK, max(0, size) + _SLACK, max(0, lines))


def _several(sources: Sequence[Source], queries: Sequence[Query], refs: str, context: ReadContext) -> ReadReply:
    """Answers one after the other; each gets its part of what is left of the budget."""
    total = context.page_budget if any(query.kind in PAGED for query in queries) else context.budget
    left = less(total, tokens=150, size=600, lines=2)
    parts: list[str] = []
    media: list[JsonObject] = []
    errors: list[QueryRejected] = []
    for place, query in enumerate(queries):
        share = Budget(left.tokens // (len(queries) - place), left.bytes // (len(queries) - place), left.lines)
        spelled = print_query(query) or "page"
        inner = less(
            share, tokens=context.counter.count(spelled) * 2 + 80, size=len(spelled.encode()) * 2 + 200, lines=2
        )
        try:
            answer = READERS[query.kind](Request(query, sources, inner, context, alone=False))
        except QueryRejected as error:
            errors.append(error)
            parts.append(f"== {spelled}\n{error_text(error)}")
        else:
            call = _next_call(answer, query, refs, context)
            notes = "".join(f"; {note}" for note in answer.notes)
            parts.append(f"== {spelled} — {answer.shown}{notes}{f'; next: {call}' if call else ''}\n{answer.body}")
            media.extend(answer.media)
        text = parts[-1]
        left = less(left, tokens=context.counter.count(text), size=len(text.encode("utf-8", "replace")),
                    lines=text.count("\n") + 1)  # fmt: skip
    if len(errors) == len(queries):
        raise errors[0]
    shown = f"answers to {len(queries)} queries"
    text = framed(header("read", refs, shown), "\n".join(parts), footer(refs, shown))
    return ReadReply(printable(text), tuple(media))


def _body_budget(query: Query, refs: str, budget: Budget, context: ReadContext) -> Budget:
    """What is left of `budget` for the body, once header and footer have theirs."""
    shown = "characters 00000000-00000000 of 00000000"
    frame = header(query.kind, refs, shown) + footer(refs, shown, read_call(refs, _spelled(query), _SAMPLE_CURSOR))
    return less(
        budget, tokens=context.counter.count(frame) + _SLACK, size=len(frame.encode("utf-8", "replace")) + 60, lines=2
    )


def _spelled(query: Query) -> str:
    return "" if query.kind in ("page", "raw") else print_query(query)


def _next_call(answer: Answer, query: Query, refs: str, context: ReadContext) -> str:
    if answer.position is None:
        return ""
    query = answer.query or query
    spelled = _spelled(query)
    cursor = make_cursor(context.secret, context.owner, refs, _bound(query), answer.position)
    if len(spelled) > _LONG_QUERY:
        return f"{read_call(refs, '', cursor)} with the same query"
    return read_call(refs, spelled, cursor)


def _bound(query: Query) -> str:
    return _PAGES if query.kind in ("page", "raw") else print_queries((query,))


def _position(query: Query, refs: str, cursor: str, context: ReadContext) -> tuple[int, ...]:
    positions = open_cursor(context.secret, context.owner, refs, _bound(query), cursor)
    if query.kind not in ("page", "raw"):
        return positions
    mode, _, block, _ = unpacked(positions) or (WALK, 0, 0, 0)
    asked_raw = query.kind == "raw"
    asked_block = query.block is not None
    if (asked_raw and mode != RAW) or (asked_block and (mode != BLOCK or block != query.block)):
        raise QueryRejected(
            "the cursor is foreign: it belongs to another query of this result",
            code="cursor_query",
            next_call=read_call(refs, "", cursor),
        )
    return positions


def _query_of(position: tuple[int, ...], query: Query) -> Query:
    """The query that a page's cursor continues, which need not be repeated."""
    mode, _, block, _ = unpacked(position) or (WALK, 0, 0, 0)
    if mode == RAW:
        return Query("raw")
    return Query("page", block=block) if mode == BLOCK else query
