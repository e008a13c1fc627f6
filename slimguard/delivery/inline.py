"""What may be delivered inline: whether a result fits a budget, and which media pass; pure."""

from __future__ import annotations

from slimguard import frame
from slimguard.canonical import dump
from slimguard.document import Document
from slimguard.model import Budget, Json, JsonObject, is_array, is_object
from slimguard.policy import MEDIA_BYTES
from slimguard.ports import TokenCounter


def fits(result: JsonObject, budget: Budget, counter: TokenCounter) -> bool:
    """Whether an exact result stays within an inline budget; media count up to a cap of their own."""
    plain, media = without_media(result)
    if media > MEDIA_BYTES:
        return False
    text = dump(plain)
    if len(text) > budget.bytes or len(text.encode("utf-8", "surrogatepass")) > budget.bytes:
        return False
    for block in _texts(plain):
        lines = block.split("\n")
        if budget.lines is not None and len(lines) > budget.lines:
            return False
        if budget.line_chars is not None and any(len(line) > budget.line_chars for line in lines):
            return False
    return counter.within(text, budget.tokens)


def passed_media(document: Document) -> tuple[tuple[JsonObject, ...], list[str]]:
    """Images and audio that follow the text, and notes on those that are too large for that."""
    passed: list[JsonObject] = []
    notes: list[str] = []
    used = 0
    for block in document.blocks:
        if block.type not in ("image", "audio"):
            continue
        data = block.source.get("data")
        size = len(data) if isinstance(data, str) else 0
        if used + size <= MEDIA_BYTES:
            used += size
            passed.append(block.source)
            continue
        notes.append(f"{block.label}, {frame.size_text(size)}, not shown: query block:{block.index}")
    return tuple(passed), notes


def without_media(result: JsonObject) -> tuple[JsonObject, int]:
    """The result with the data of its images and audio left out, and the size of that data."""
    content = result.get("content")
    if not is_array(content):
        return result, 0
    size = 0
    kept: list[Json] = []
    for block in content:
        data = block.get("data") if is_object(block) and block.get("type") in ("image", "audio") else None
        if isinstance(data, str):
            size += len(data)
            kept.append({key: item for key, item in block.items() if key != "data"})
            continue
        kept.append(block)
    return ({**result, "content": kept} if size else result), size


def _texts(result: JsonObject) -> list[str]:
    content = result.get("content")
    if not is_array(content):
        return []
    return [block["text"] for block in content if is_object(block) and isinstance(block.get("text"), str)]


def smaller_budget(left: Budget, right: Budget) -> Budget:
    """The smaller number of each part of two budgets."""

    def least(one: int | None, other: int | None) -> int | None:
        return other if one is None else one if other is None else min(one, other)

    return Budget(
        min(left.tokens, right.tokens),
        min(left.bytes, right.bytes),
        least(left.lines, right.lines),
        least(left.line_chars, right.line_chars),
    )
