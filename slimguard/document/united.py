"""Results that give each record as a block of its own: the blocks' JSON as one list; blocks that differ stay apart."""

from __future__ import annotations

from slimguard.document.blocks import Document
from slimguard.document.shapes import are_alike, sample
from slimguard.model import Json, is_object

UNITED = -1
"""The block of a table whose rows stand in blocks of their own."""
LEAST = 3


def united_values(document: Document) -> list[Json]:
    """The values of the text blocks when each is one object and all are alike; else empty. Found once a document."""
    kept: list[Json] | None = vars(document).get("_united")
    if kept is None:
        kept = _united(document)
        vars(document)["_united"] = kept  # as cached_property does; the document itself is frozen
    return kept


def _united(document: Document) -> list[Json]:
    texts = [block for block in document.blocks if block.type == "text"]
    if len(texts) < LEAST or any(block.text is not None and block.type != "text" for block in document.blocks):
        return []
    found = [block.json for block in texts]
    values: list[Json] = [item.value for item in found if item is not None and item.form == "whole"]
    objects = [value for value in values if is_object(value) and value]
    if len(objects) < len(texts) or not are_alike([item for item in sample(objects) if is_object(item)]):
        return []
    return values
