"""What looks wrong with a tool's own texts, in words for its owner; never the texts themselves."""

from __future__ import annotations

import re
from collections import Counter

from slimguard import policy
from slimguard.model import Tool
from slimguard.ranking import text

_TO_MODEL = re.compile(
    r"\b(?:ignore|disregard|forget)\b.{0,30}\b(?:previous|prior|above|earlier|all)\b.{0,30}\b(?:instruction|tool|rule)"
    r"|\b(?:always|must|only)\b.{0,20}\b(?:use|call|choose|select|prefer|pick)\b.{0,12}\bthis tool\b"
    r"|\b(?:do not|don't|never)\b.{0,20}\b(?:tell|mention|inform|reveal)\b.{0,20}\b(?:user|human|anyone)\b"
    r"|<\s*(?:system|important|instructions?|secret)\s*>|\bsystem prompt\b",
    re.IGNORECASE,
)


def suspicious(tool: Tool) -> tuple[str, ...]:
    """Findings on name, title and description, each a short sentence; empty for an honest tool."""
    raw = "\n".join((tool.name, tool.title, tool.description[: policy.ANALYSED_DESCRIPTION_CHARS * 4]))
    found: list[str] = []
    if text.has_hidden(raw):
        found.append("hidden characters (zero-width or direction marks) in its text")
    if text.has_control(raw):
        found.append("control characters in its text")
    if _TO_MODEL.search(text.clean(raw)):
        found.append("text that gives orders to the model")
    words = text.split_words(text.clean(raw))
    if len(words) >= 40:
        counts = Counter(word for word in words if len(word) > 3)
        if counts and counts.most_common(1)[0][1] > max(8, len(words) // 6):
            found.append("one word repeated very often")
    return tuple(found)
