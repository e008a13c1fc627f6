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
    listed = _listed_blocks(structured.given, blocks)
    kept = [block for block in blocks if block.type != "text"] if listed else list(blocks)
    notes: list[str] = [listed] if listed else []
    for block in kept.copy():
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


def _listed_blocks(value: dict[str, Json], blocks: Sequence[Block]) -> str:
    """Says so when the text blocks are just the elements of an array in `value`, in its order; else empty."""
    texts = [block for block in blocks if block.type == "text"]
    for key, items in list(value.items())[:KEYS_AT_MOST]:
        if (
            len(texts) > 1
            and is_array(items)
            and len(items) == len(texts)
            and all(_says(block, item) for block, item in zip(texts, items, strict=True))
        ):
            return f"{len(texts):,} text blocks: the elements of structuredContent.{key}, one each"
    return ""


def _says(block: Block, item: Json) -> bool:
    """Whether a block is the text of `item`, or its JSON."""
    if block.text == item:
        return True
    return block.json is not None and block.json.form == "whole" and same_value(block.json.value, item)


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
