"""Pages of exact text: of the result's blocks in order, of one block, or of the whole stored value (`raw:`).

A body is text of the result and nothing else; the bodies of all pages of a block concatenate to the block's text.
"""

from __future__ import annotations

from dataclasses import replace

from slimguard.document import Block, Document
from slimguard.errors import QueryRejected
from slimguard.frame import has_surrogates, read_call, size_text
from slimguard.model import Budget, Json, is_object
from slimguard.ports import TokenCounter
from slimguard.readers.cursor import stale
from slimguard.readers.fitting import printable
from slimguard.readers.model import Answer, Request, Source, Window

WALK, BLOCK, RAW = 0, 1, 2
Place = tuple[int, int, int, int]
"""Mode, source, block and character of a page."""
_LOOK_BACK = 4
"""A page of one-line text may end this part of its length earlier, to end between two records."""


def read_pages(request: Request) -> Answer:
    """The page at the request's position `(mode, source, block, character)`, or the first."""
    query = request.query
    if query.kind == "raw":
        mode, source, block, start = unpacked(request.position) or (RAW, 0, 0, 0)
    elif query.block is not None:
        mode, source, block, start = unpacked(request.position) or (BLOCK, 0, query.block, 0)
    else:
        mode, source, block, start = unpacked(request.position) or _start(request)
    if source >= len(request.sources):
        raise stale("", "")
    here = request.sources[source]
    if mode == RAW:
        return _page(request, (RAW, source, 0, start), here.document.raw_text, "raw")
    if not here.document.blocks and query.block is None:
        return Answer("page", "all of it: the result has no content", "", notes=("raw: has the whole value",))
    chosen = block_of(here, block)
    if chosen.text is None or (not chosen.text and mode == BLOCK):
        return _without_text(chosen)
    return _page(request, (mode, source, block, start), chosen.text, _kind(here.document, chosen))


def packed(place: Place) -> tuple[int, int]:
    """A place as a cursor holds it: mode, source and block share a number, since most are small."""
    mode, source, block, start = place
    return mode + 3 * (source + 16 * block), start


def unpacked(position: tuple[int, ...]) -> Place | None:
    """The place in a cursor's position, None in an empty one."""
    if len(position) != 2:
        return None
    rest, mode = divmod(position[0], 3)
    return mode, rest % 16, rest // 16, position[1]


def block_of(source: Source, index: int) -> Block:
    """The block with `index`; raises `QueryRejected` with what there is."""
    blocks = source.document.blocks
    if index < len(blocks):
        return blocks[index]
    have = ", ".join(block.label for block in blocks[:20]) or "no blocks: it is empty"
    raise QueryRejected(
        f"there is no block {index}; the result has {have}",
        next_call=read_call(source.ref, f"block:{len(blocks) - 1}") if blocks else read_call(source.ref, "raw:"),
    )


def cut_page(text: str, start: int, budget: Budget, counter: TokenCounter) -> int:
    """The end of the page of `text` from `start` within `budget`: at a line's end, else between two records."""
    end = counter.page_end(text, start, budget.tokens, max_bytes=budget.bytes, max_lines=budget.lines)
    if end >= len(text) or text[end - 1] == "\n":
        return end
    low = end - (end - start) // _LOOK_BACK
    for mark in ("},", "],", "}"):
        place = text.rfind(mark, low, end)
        if place >= 0:
            cut = place + len(mark)
            if cut > start and counter.within(text[start:cut], budget.tokens):
                return cut
    return end


def place_text(text: str, start: int, end: int, window: Window | None = None) -> str:
    """What is shown of what: `lines 1-133 of 7,012`, or characters when the text is one line or very long lines.

    `start` and `end` are offsets in `text`, which may be a window of a larger one.
    """
    if window is None:
        window = Window(0, len(text), 0, text.count("\n", 0, max(0, len(text) - 1)) + 1)
    lines, size = window.all_lines, window.all_characters
    if lines > 1 and size // lines < 2_000:
        first = window.lines + text.count("\n", 0, start) + 1
        last = first + text.count("\n", start, max(start, end - 1))
        return f"{span_text('line', first, last)} of {lines}"
    return f"{span_text('character', window.characters + start, window.characters + end - 1)} of {size}"


def span_text(unit: str, first: int, last: int) -> str:
    """`lines 3-7`, or `line 3`."""
    return f"{unit} {first}" if last <= first else f"{unit}s {first}-{last}"


def _start(request: Request) -> Place:
    if request.context.continue_at is not None and len(request.sources) == 1:
        block, start = request.context.continue_at
        return WALK, 0, block, start
    for place, source in enumerate(request.sources):
        first = _next_block(source.document, 0)
        if first is not None:
            return WALK, place, first, 0
    return WALK, 0, 0, 0


def _next_block(document: Document, index: int) -> int | None:
    return next((block.index for block in document.blocks[index:] if block.text), None)


def _kind(document: Document, block: Block) -> str:
    return "page" if len(document.blocks) == 1 else f"page of block {block.index} ({block.type})"


def _page(request: Request, place: Place, text: str, kind: str) -> Answer:
    mode, source, block, start = place
    window = request.context.window
    low, size = (window.characters, window.all_characters) if window else (0, len(text))
    if start > size or (start and start == size):
        raise stale(request.sources[source].ref, "")
    budget = replace(request.budget, lines=None, line_chars=None) if mode == RAW else request.budget
    end = low + cut_page(text, start - low, budget, request.context.counter) if text else 0
    part = text[start - low : end - low]
    body = printable(part)
    onward = (mode, source, block, end) if end < size else _onward(request, mode, source, block)
    position = packed(onward) if onward else None
    notes: list[str] = []
    if len(request.sources) > 1:
        notes.append(f"of {request.sources[source].ref}, result {source + 1} of {len(request.sources)}")
    if body is not part and has_surrogates(part):
        notes.append("lone surrogates are shown as U+FFFD")
    if position is None and mode == WALK:
        notes.extend(_unread(request.sources[source]))
    shown = place_text(text, start - low, end - low, window) if text else "all of 0 characters"
    return Answer(kind, shown, body, position, tuple(notes), exact=True)


def _onward(request: Request, mode: int, source: int, block: int) -> Place | None:
    """Where the pages go on after a text ended: the next block, then the next result."""
    if mode == BLOCK:
        return None
    if mode == WALK:
        following = _next_block(request.sources[source].document, block + 1)
        if following is not None:
            return WALK, source, following, 0
    for place in range(source + 1, len(request.sources)):
        document = request.sources[place].document
        first = 0 if mode == RAW else _next_block(document, 0)
        if first is not None:
            return mode, place, first, 0
    return None


def _unread(source: Source) -> list[str]:
    """Blocks that have no text, by the query that shows them."""
    names = [f"{block.type} in block:{block.index}" for block in source.document.blocks if block.text is None]
    return [f"also {', '.join(names[:10])}"] if names else []


def _without_text(block: Block) -> Answer:
    """A block that has no text: images and audio are returned, others described."""
    source = block.source
    if block.type in ("image", "audio"):
        data = source.get("data")
        size = len(data) * 3 // 4 if isinstance(data, str) else 0
        what = f"{source.get('mimeType', block.type)}, {size_text(size)}"
        return Answer(f"block {block.index}", f"all of {block.label}", what, media=(source,))
    if block.text is not None:
        return Answer(f"block {block.index}", f"all of {block.label}", "", notes=("the block is empty",))
    lines = [f"{key}: {_described(value)}" for key, value in source.items() if key != "type"]
    return Answer(f"block {block.index}", f"all of {block.label}", printable("\n".join(lines)))


def _described(value: Json) -> str:
    if is_object(value):
        return ", ".join(f"{key}={_described(item)}" for key, item in value.items())
    text = str(value)
    return text if len(text) <= 400 else f"{text[:60]}… ({len(text)} characters; raw: has them)"
