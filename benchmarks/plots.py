"""Bar charts as SVG, written by hand: no library, the same bytes for the same figures, legible on light and dark."""

from __future__ import annotations

import math
from html import escape
from typing import Any

WIDTH, LABEL, ROW, TOP = 760, 230, 30, 46
OURS, OTHERS = "#2f7ed8", "#9aa5b1"


def bars(plot: dict[str, Any]) -> str:
    """The chart of one plot: horizontal bars with their values, on a logarithmic scale when the plot says so."""
    rows = [(str(label), float(value)) for label, value in plot["bars"]]
    height = TOP + ROW * len(rows) + 14
    largest = max((value for _, value in rows), default=1.0)
    scale = " (logarithmic scale)" if plot["log"] else ""
    title = f"{escape(plot['title'])}, {escape(plot['unit'])}{scale}"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"',
        f' font-family="system-ui, sans-serif" font-size="13" role="img" aria-label="{escape(plot["title"])}">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="12" y="24" font-size="16" font-weight="600" fill="#222222">{title}</text>',
    ]
    for place, (label, value) in enumerate(rows):
        lines += _bar(TOP + ROW * place, label, value, _length(value, largest, log=plot["log"]))
    return "\n".join([*lines, "</svg>", ""])


def _length(value: float, largest: float, *, log: bool) -> float:
    room = WIDTH - LABEL - 110
    if largest <= 0:
        return 1.0
    if log:
        return max(2.0, room * math.log10(max(1.0, value) + 1) / math.log10(largest + 1))
    return max(2.0, room * value / largest)


def _bar(top: int, label: str, value: float, length: float) -> list[str]:
    ours = any(word in label for word in ("slimguard", "compact", "extreme", "view"))
    shown = f"{value:,.0f}" if value >= 100 else f"{value:,.1f}"
    return [
        f'<text x="{LABEL - 8}" y="{top + 15}" text-anchor="end" fill="#222222">{escape(label)}</text>',
        f'<rect x="{LABEL}" y="{top}" width="{length:.1f}" height="20" rx="3" fill="{OURS if ours else OTHERS}"/>',
        f'<text x="{LABEL + length + 6:.1f}" y="{top + 15}" fill="#222222">{shown}</text>',
    ]
