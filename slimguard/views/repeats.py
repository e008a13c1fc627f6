"""Blocks that say again what another block says: structured content that wraps a text, or is a part of it."""

from __future__ import annotations

from collections.abc import Sequence

from slimguard.document import Block
from slimguard.document.blocks import same_value
from slimguard.model import Json, is_array, is_object
from slimguard.views.leaves import leaf_lines

KEYS_AT_MOST = 40


def without_repeats(blocks: Sequence[Block]) -> tuple[list[Block], list[str]]:
    """The blocks worth a view, and a line for each that was left out, with what it says besides."""
    structured = next((block for block in blocks if block.type == "structured" and is_object(block.given)), None)
    if structured is None:
        return list(blocks), []
    kept = list(blocks)
    notes: list[str] = []
    for block in blocks:
        if block is structured or block.type != "text":
            continue
        key = _key_of_text(structured.given, block.text)
        if key is not None and len(structured.given) == 1:
            kept.remove(structured)
            return kept, [f"structuredContent.{key} is the same text"]
        note = _repeated_json(structured.given, block)
        if note or key is not None:
            kept.remove(block)
            notes.append(f"{block.label}: {note or f'the same text as structuredContent.{key}'}")
    return kept, notes


def _key_of_text(value: dict[str, Json], text: str | None) -> str | None:
    """The key under which a structured value holds exactly this text."""
    if not text:
        return None
    return next(
        (key for key, item in list(value.items())[:KEYS_AT_MOST] if isinstance(item, str) and item == text), None
    )


def _repeated_json(value: dict[str, Json], block: Block) -> str:
    """Why a block of JSON need not be shown next to `value`; empty when it must."""
    if block.json is None:
        return ""
    other = block.json.value
    for key, item in list(value.items())[:KEYS_AT_MOST]:
        if same_size(item, other) and same_value(item, other):
            return f"the same value as structuredContent.{key}"
    if not is_object(other):
        return ""
    for key, item in list(other.items())[:KEYS_AT_MOST]:
        if (
            is_object(item)
            and (item.keys() <= value.keys())
            and all(same_value(item[name], value[name]) for name in item)
        ):
            rest = [leaf.line for leaf in leaf_lines(other, [(key,)])][:3]
            return f"the same as structuredContent under {key}; besides: {'; '.join(rest)}"
    return ""


def same_size(left: Json, right: Json) -> bool:
    """Whether two containers could be equal at all; cheap."""
    if is_object(left) and is_object(right):
        return len(left) == len(right)
    return is_array(left) and is_array(right) and len(left) == len(right)
