"""A stored result as a list of blocks; built from the exact bytes, never edited, its costly parts made on demand."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property

from slimguard.canonical import dump
from slimguard.document.jsontext import JsonText, json_in, let_others_run, too_deep
from slimguard.document.lines import LineIndex
from slimguard.document.xmltree import Element, looks_like_xml, xml_tree
from slimguard.model import AnswerKind, Json, JsonObject, is_array, is_object
from slimguard.policy import PARSE_LIMIT_BYTES

TEXT_TYPES = ("text", "resource", "structured", "raw")


@dataclass(frozen=True)
class Block:
    """One block of a result.

    `type` is MCP's content type (`text`, `image`, `audio`, `resource`, `resource_link`, or whatever the upstream
    wrote), or `structured` for `structuredContent`, or `raw` for a result that is not parsed. `text` is the exact text
    that pages of this block concatenate to; for `structured` it is compact JSON of ours, for images None.
    """

    index: int
    type: str
    text: str | None = field(repr=False)
    source: JsonObject = field(repr=False)
    given: Json = field(default=None, repr=False)
    """The value of a `structured` block."""

    @cached_property
    def json(self) -> JsonText | None:
        """The JSON in this block, or None."""
        if self.type == "structured":
            return JsonText("whole", self.given, 0, len(self.text or ""))
        if self.text is None or self.type == "raw":
            return None
        return json_in(self.text)

    @cached_property
    def xml(self) -> Element | None:
        """The tree of a text that is XML, or None."""
        if self.text is None or self.type == "raw" or not looks_like_xml(self.text):
            return None
        return xml_tree(self.text)

    @cached_property
    def lines(self) -> LineIndex:
        """The physical lines of the text."""
        return LineIndex.of(self.text or "")

    @property
    def label(self) -> str:
        """How answers name this block: `block 2 (text)`."""
        return f"block {self.index} ({self.type})"


class RawBlock(Block):
    """A whole value that is not parsed; its text is decoded when somebody reads it, since that may be large."""

    def __init__(self, raw: bytes) -> None:
        kept: dict[str, object] = {"index": 0, "type": "raw", "source": {}, "given": None, "_raw": raw}
        vars(self).update(kept)  # as cached_property does; blocks are frozen

    @cached_property
    def text(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The text of the value; bytes that are no UTF-8 become U+FFFD."""
        raw: bytes = vars(self)["_raw"]
        return raw.decode("utf-8", "replace")


@dataclass(frozen=True)
class Document:
    """A whole stored result.

    `result` is the parsed value or None when it is not parsed (too large, too deep, or no JSON). `blocks` are the
    content blocks in order, then `structuredContent` unless it is a mirror of a text block.
    """

    raw: bytes = field(repr=False)
    kind: AnswerKind
    result: JsonObject | None = field(repr=False)
    blocks: tuple[Block, ...] = field(repr=False)
    is_error: bool = False
    mirrored: bool = False
    """Whether `structuredContent` was left out because a text block is the same JSON value (DESIGN §4)."""
    notes: tuple[str, ...] = ()
    """What a reader must know of how the document was made, such as `not parsed: …`."""

    @cached_property
    def raw_text(self) -> str:
        """The text of the whole stored value, as `raw:` pages it; bytes that are no UTF-8 become U+FFFD."""
        whole = self.blocks[0] if self.blocks else None
        if isinstance(whole, RawBlock):
            return whole.text
        return self.raw.decode("utf-8", "replace")

    @property
    def too_large(self) -> bool:
        """Whether it is not parsed because of its size; its text should then be read in parts."""
        return self.result is None and len(self.raw) > PARSE_LIMIT_BYTES

    @cached_property
    def main(self) -> Block | None:
        """The block that queries address when they name none.

        `structuredContent` when the texts only summarise it (it is longer than them all), else the longest block
        with text; the earlier one among equals.
        """
        texts = [block for block in self.blocks if block.text is not None]
        return max(texts, key=lambda block: (len(block.text or ""), -block.index), default=None)

    @cached_property
    def values(self) -> tuple[Block, ...]:
        """Blocks that hold JSON, structured content first, then by order."""
        return tuple(
            sorted((b for b in self.blocks if b.json is not None), key=lambda b: (b.type != "structured", b.index))
        )

    @property
    def media(self) -> tuple[JsonObject, ...]:
        """Image and audio blocks as the upstream sent them."""
        return tuple(block.source for block in self.blocks if block.type in ("image", "audio"))


def document_of(raw: bytes, kind: AnswerKind = "result", *, parse_limit: int = PARSE_LIMIT_BYTES) -> Document:
    """The document of a stored value; total: any bytes make one, at worst one block of text."""
    if kind == "illegal":
        return _unparsed(raw, kind, "not parsed: the answer is no legal JSON-RPC message")
    if len(raw) > parse_limit:
        return _unparsed(raw, kind, f"not parsed: larger than {parse_limit // (1024 * 1024)} MiB")
    try:
        value = json.loads(raw.decode("utf-8"), object_hook=let_others_run)
    except (ValueError, RecursionError):
        return _unparsed(raw, kind, "not parsed: no JSON that can be read safely")
    if not is_object(value) or too_deep(value):
        return _unparsed(raw, kind, "not parsed: nested too deeply, or no object")
    if kind == "error":
        message = value.get("message")
        text = message if isinstance(message, str) else dump(value)
        blocks = [Block(0, "text", text, value)]
        if value.get("data") is not None:
            blocks.append(_structured(1, value["data"], value))
        return Document(raw, kind, value, tuple(blocks), is_error=True)
    blocks = _content_blocks(value)
    structured = value.get("structuredContent")
    mirrored = structured is not None and is_mirror(structured, blocks)
    if structured is not None and not mirrored and not wraps_text(structured, blocks):
        blocks.append(_structured(len(blocks), structured, value))
    if not blocks and any(key not in ("content", "isError", "_meta", "structuredContent") for key in value):
        blocks.append(_structured(0, value, value))
    return Document(raw, kind, value, tuple(blocks), value.get("isError") is True, mirrored)


def window_of(text: str, kind: AnswerKind) -> Document:
    """A part of a value that is too large to be parsed, for a page that needs no more of it."""
    return Document(b"", kind, None, (RawBlock(text.encode("utf-8")),), is_error=kind != "result")


def wraps_text(structured: Json, blocks: list[Block]) -> bool:
    """Whether `structured` is an object of one member, and that is the text of a block: it has nothing more to read.

    Servers that must declare an `outputSchema` wrap their text so (`{"content": …}`, `{"result": …}`). It is delivered
    and is in `raw:`, but is no block of its own.
    """
    if not is_object(structured) or len(structured) != 1:
        return False
    (value,) = structured.values()
    return isinstance(value, str) and any(block.type == "text" and block.text == value for block in blocks)


def is_mirror(structured: Json, blocks: list[Block]) -> bool:
    """Whether one text block is the same JSON value as `structured`: type-strict, so `1` is not `true` nor `1.0`."""
    if is_object(structured) or is_array(structured):
        return any(block.type == "text" and _is_whole(block, structured) for block in blocks)
    for block in blocks:
        if block.type != "text" or block.text is None or (block.text[:1].isspace() and not block.text.strip()):
            continue
        try:
            value = json.loads(block.text)
        except (ValueError, RecursionError):
            continue
        if same_value(value, structured):
            return True
    return False


def _is_whole(block: Block, structured: Json) -> bool:
    """Whether the whole text of a block is the JSON of `structured`; the block keeps what was parsed for it."""
    found = block.json
    if found is None or found.form != "whole" or "\ufeff" in (block.text or "")[: found.start]:
        return False
    return same_value(found.value, structured)


def same_value(left: Json, right: Json) -> bool:
    """Type-strict equality of JSON values; key order does not matter. Without recursion."""
    pairs = [(left, right)]
    while pairs:
        a, b = pairs.pop()
        if type(a) is not type(b):
            return False
        if is_object(a):
            if a.keys() != b.keys():
                return False
            pairs.extend((a[key], b[key]) for key in a)
        elif is_array(a):
            if len(a) != len(b):
                return False
            pairs.extend(zip(a, b, strict=True))
        elif a != b or (isinstance(a, float) and str(a) != str(b)):
            return False
    return True


def _content_blocks(result: JsonObject) -> list[Block]:
    content = result.get("content")
    if not is_array(content):
        return []
    return [_block(index, item) for index, item in enumerate(content)]


def _block(index: int, item: Json) -> Block:
    if not is_object(item):
        return Block(index, "unknown", dump(item), {})
    kind = item.get("type")
    name = kind if isinstance(kind, str) else "unknown"
    text = item.get("text")
    if name == "text" and isinstance(text, str):
        return Block(index, name, text, item)
    if name in ("image", "audio"):
        return Block(index, name, None, item)
    resource = item.get("resource")
    if name == "resource" and is_object(resource):
        inner = resource.get("text")
        return Block(index, name, inner if isinstance(inner, str) else None, item)
    if name == "resource_link":
        return Block(index, name, None, item)
    return Block(index, name, dump(item), item)


def _structured(index: int, value: Json, source: JsonObject) -> Block:
    return Block(index, "structured", dump(value), source, value)


def _unparsed(raw: bytes, kind: AnswerKind, note: str) -> Document:
    return Document(raw, kind, None, (RawBlock(raw),), is_error=kind != "result", notes=(note,))
