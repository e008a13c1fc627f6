"""The view of last resort: sizes, the head and the tail of the longest text; uses nothing that can fail on content."""

from __future__ import annotations

from slimguard.document import Document
from slimguard.frame import fenced
from slimguard.model import Budget
from slimguard.ports import TokenCounter
from slimguard.views.layout import clip
from slimguard.views.model import View

HEAD_SHARE = 0.6


def fallback_view(document: Document, budget: Budget, counter: TokenCounter) -> View:
    """Head and tail of the main block, halved until they fit."""
    block = document.main
    text = (block.text or "") if block is not None else ""
    size = min(len(text), budget.bytes // 4, budget.tokens * 3)
    while size > 0:
        body = _ends(text, size, budget)
        if len(body.encode("utf-8", "surrogatepass")) <= budget.bytes and counter.within(body, budget.tokens):
            return View("text", body, "head and tail", f"{len(text):,} characters", ("lines:1-100",))
        size //= 2
    return View("text", "", "0", f"{len(text):,} characters", ("lines:1-100",))


def _ends(text: str, size: int, budget: Budget) -> str:
    if size >= len(text):
        lines = text.split("\n")
    else:
        head = text[: int(size * HEAD_SHARE)].split("\n")
        tail = text[len(text) - int(size * (1 - HEAD_SHARE)) :].split("\n")
        lines = [*head, f"… {len(text) - size:,} characters between", *tail]
    if budget.lines is not None and len(lines) > budget.lines:
        keep = max(1, budget.lines // 2)
        lines = [*lines[:keep], *lines[-(budget.lines - keep) :]] if budget.lines > 1 else lines[:1]
    return fenced("\n".join(clip(line, budget.line_chars) for line in lines))
