"""From a document to its view: what to show of which block, for how much; never raises, never overruns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from slimguard.document import Block, Document, Table, tables_of
from slimguard.document.united import united_values
from slimguard.frame import fenced, size_text
from slimguard.model import Budget, JsonObject, is_object
from slimguard.ports import TokenCounter
from slimguard.views.cells import one_line
from slimguard.views.encoded import encoded_text
from slimguard.views.fallback import fallback_view
from slimguard.views.layout import fit, trimmed
from slimguard.views.model import Content, Part, Sketch, View
from slimguard.views.registry import kind_of
from slimguard.views.repeats import without_repeats

COLUMNS_NAMED = 8
OTHER_COLUMNS_NAMED = 5
DESCRIBED = 24
"""Links and other blocks without text that are described one by one."""
TABLES_NAMED = 4


def render(document: Document, budget: Budget, counter: TokenCounter, *, extreme: bool = False) -> View:
    """The view of a result within `budget` (tokens, bytes, lines, line length); any document has one."""
    if extreme:
        budget = replace(budget, tokens=budget.tokens * 2 // 3)
    try:
        return render_strictly(document, budget, counter)
    except Exception:  # noqa: BLE001 - a view that fails falls back to the plainest one
        return fallback_view(document, budget, counter)


def render_strictly(document: Document, budget: Budget, counter: TokenCounter) -> View:
    """As `render`, but it raises when a view fails on its content; for tests."""
    tables = tables_of(document)
    shown, repeated = without_repeats([block for block in document.blocks if block.type not in ("image", "audio")])
    if united_values(document):
        sketch = _united(document, shown, tables, budget, counter)
    elif len(shown) == 1:
        sketch = _sketch(document, shown[0], tables, budget, counter)
        if repeated:
            sketch = replace(sketch, parts=[Part(repeated, rank=1), *sketch.parts])
    else:
        sketch = _mixed(document, shown, tables, budget, counter)
    body, count = fit(sketch.parts, budget, counter)
    if fenced(body) != body:
        body = trimmed(fenced(body), budget, counter)
    return View(
        sketch.kind,
        body,
        sketch.shown or f"{count:,}",
        sketch.of,
        sketch.hints,
        tables_line(tables, sketch.columns),
    )


def _sketch(document: Document, block: Block, tables: Sequence[Table], budget: Budget, counter: TokenCounter) -> Sketch:
    if block.text is None:
        return Sketch(block.type, [Part((describe(block.source),), rank=0)], "1 block", "description")
    found = block.json
    own = [table for table in tables if table.block == block.index]
    content = Content(document, block, block.text, found.value if found else None, own, budget, counter)
    sketch = kind_of(content).view(content)
    if found is None or not (found.heading.strip() or found.trailer.strip()):
        return sketch
    around = [one_line(text)[:400] for text in (found.heading, found.trailer) if text.strip()]
    return replace(sketch, parts=[Part(around, rank=0), *sketch.parts])


def _united(
    document: Document, blocks: Sequence[Block], tables: Sequence[Table], budget: Budget, counter: TokenCounter
) -> Sketch:
    """One view of blocks that are each a record of one list, then what else there is."""
    texts = [block.text for block in blocks if block.text is not None]
    content = Content(document, None, "\n".join(texts), united_values(document), tables, budget, counter)
    sketch = kind_of(content).view(content)
    rest = [f"{block.label}: {describe(block.source)}" for block in blocks if block.text is None]
    note = f"{len(texts):,} text blocks, each one record"
    parts = [Part((note,), rank=0), *sketch.parts]
    _flush(rest, parts)
    return replace(sketch, parts=parts)


def _mixed(
    document: Document, blocks: Sequence[Block], tables: Sequence[Table], budget: Budget, counter: TokenCounter
) -> Sketch:
    """One view a block in their order; short blocks whole, long ones share what is left."""
    parts: list[Part] = []
    hints: list[str] = []
    long = [block for block in blocks if block.text is not None and not counter.within(block.text, budget.tokens // 8)]
    share = replace(budget, tokens=max(100, budget.tokens * 3 // 4 // max(1, len(long))))
    kinds: list[str] = []
    plain: list[str] = []
    for block in blocks:
        if block.text is None:
            plain.append(f"{block.label}: {describe(block.source)}")
            continue
        _flush(plain, parts)
        parts.append(Part((f"{block.label}:",), rank=0))
        if block not in long and not encoded_text(block.text):
            parts.append(Part(block.text.split("\n"), rank=1, more="… {n} more lines"))
            continue
        sketch = _sketch(document, block, tables, share, counter)
        kinds.append(sketch.kind)
        parts.append(Part((f"{sketch.kind} of {sketch.of}",), rank=0))
        parts.extend(replace(part, counted=False) for part in sketch.parts)
        hints.extend(f"block:{block.index} {hint}" for hint in sketch.hints if not hint.startswith(("sql:", "select:")))
        hints.extend(hint for hint in sketch.hints if hint.startswith("sql:"))
    _flush(plain, parts)
    size = sum(len(block.text or "") for block in blocks)
    of = f"{len(blocks)} blocks, {size_text(size)}"
    return Sketch(
        f"{len(blocks)} blocks ({', '.join(dict.fromkeys(kinds))})" if kinds else f"{len(blocks)} blocks",
        parts,
        of,
        "a view each",
        tuple(hints),
    )


def _flush(lines: list[str], parts: list[Part]) -> None:
    """Blocks without text side by side, one line each, of many the first and the last ones."""
    if lines:
        parts.append(Part(tuple(lines), rank=1, more="… {n} more blocks", ends=True, most=DESCRIBED))
        lines.clear()


def describe(source: JsonObject) -> str:
    """A block without text in a line: a resource link, an embedded blob."""
    resource = source.get("resource")
    if is_object(resource):
        blob = resource.get("blob")
        size = f", {size_text(len(blob) * 3 // 4)} as base64" if isinstance(blob, str) else ""
        return f"embedded resource {one_line(str(resource.get('uri', '')))} {resource.get('mimeType', '')}{size}"
    names = [
        f"{key}={one_line(value)[:200]}" for key, value in source.items() if isinstance(value, str) and key != "data"
    ]
    return ", ".join(names)


def tables_line(tables: Sequence[Table], columns: Mapping[str, Sequence[str]]) -> str:
    """`rows(order_id, customer_id, …), …`: what `sql:` takes, short; telling columns first where they are known."""
    parts: list[str] = []
    for table in tables[:TABLES_NAMED]:
        names = [name for name in columns.get(table.name, ()) if name in table.columns]
        names = list(dict.fromkeys([*names, *table.columns[: table.own]]))
        names = names[: COLUMNS_NAMED if table.name in columns else OTHER_COLUMNS_NAMED]
        parts.append(f"{table.name}({', '.join(names)}{', …' if len(table.columns) > len(names) else ''})")
    left = len(tables) - TABLES_NAMED
    return ", ".join(parts) + (f", {left} more" if left > 0 else "")
