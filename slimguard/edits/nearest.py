"""What stands in a text that is most like what an edit looked for, and where; a proposal, never a match."""

from __future__ import annotations

import json

from rapidfuzz import fuzz, process

from slimguard import policy

_LEAST = 60.0
_WORD_CHARS = 20


def nearest(wanted: str, text: str) -> str:
    """`nearest, in line 12: "…"`, or an empty text when nothing is alike in the first 2 million characters."""
    size = len(wanted)
    if not text or not wanted.strip() or size > policy.NEAREST_LOOKED_AT // 4:
        return ""
    probe = wanted[:1_000]
    window, looked_at = max(2 * len(probe), 64), text[: policy.NEAREST_LOOKED_AT]
    starts = range(0, max(1, len(looked_at) - window // 2), max(1, window // 2))
    windows = [looked_at[start : start + window] for start in starts]
    best = process.extractOne(probe, windows, scorer=fuzz.partial_ratio, score_cutoff=_LEAST)
    if best is None:
        return ""
    start = starts[best[2]]
    here = fuzz.partial_ratio_alignment(probe, windows[best[2]], score_cutoff=_LEAST)
    if here is None:
        return ""
    low, high = start + here.dest_start, start + here.dest_end
    high = min(len(text), max(high, low + size))
    low, high = _whole_words(text, low, high)
    shown = text[low:high]
    cut = shown if len(shown) <= policy.NEAREST_CHARS else f"{shown[: policy.NEAREST_CHARS]}…"
    line = text.count("\n", 0, low) + 1
    return f"nearest, in line {line}: {json.dumps(cut, ensure_ascii=False)}"


def _whole_words(text: str, low: int, high: int) -> tuple[int, int]:
    """A span that cuts no word, within a few characters."""
    for _ in range(_WORD_CHARS):
        if low > 0 and text[low - 1].isalnum() and text[low].isalnum():
            low -= 1
        if high < len(text) and text[high].isalnum() and text[high - 1].isalnum():
            high += 1
    return low, high
