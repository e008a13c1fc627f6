"""The one header line and one footer line around every shortened or paged answer (DESIGN §4b); never the body."""

from __future__ import annotations

import json
import re
import unicodedata

from slimguard.errors import SlimguardError
from slimguard.policy import ERROR_BUDGET, VIEW_BUDGET

MARK = "[slimguard "
"""How both lines begin. The position (first and last line) and the unguessable ref tell them from upstream text."""

_LEAST_CUT = 80
"""Bytes of a line that are worth showing when it does not fit whole."""

_LONGEST_LINE = VIEW_BUDGET.line_chars or ERROR_BUDGET.bytes

_SURROGATES = re.compile("[\ud800-\udfff]")


def header(kind: str, ref: str, shown: str, *notes: str) -> str:
    """The first line: what this is, of which result, what is shown of what, and notes in the order given."""
    return f"{MARK}{kind} result_ref={ref} shown: {shown}{''.join(f'; {one_line(note)}' for note in notes if note)}]"


def footer(ref: str, shown: str, next_call: str = "") -> str:
    """The last line: what is shown of what again, since a host may cut the middle, and the literal next call."""
    return f"{MARK}result_ref={ref} shown: {shown}{f'; next: {next_call}' if next_call else '; end'}]"


def framed(first: str, body: str, last: str) -> str:
    """Header, body and footer as one text; the body ends with its own line end or gets one that is not part of it."""
    return f"{first}\n{body}\n{last}"


def fenced(text: str) -> str:
    """Upstream text for a view, never for a page: a line that looks like one of ours is set off with a backslash."""
    if MARK not in text:
        return text
    return "\n".join(f"\\{line}" if line.lstrip().startswith(MARK) else line for line in text.split("\n"))


def read_call(ref: str, query: str = "", cursor: str = "") -> str:
    """The literal `read_result` call that an answer prints; runs as printed (P11)."""
    parts = [f'result_ref="{ref}"']
    if query:
        parts.append(f"query={json.dumps(query, ensure_ascii=False)}")
    if cursor:
        parts.append(f'cursor="{cursor}"')
    return f"read_result({', '.join(parts)})"


def error_text(error: SlimguardError) -> str:
    """An error as the host's model reads it: what happened, `tool ran: …`, details, the next call.

    Details are cut to `policy.ERROR_BUDGET`, in bytes and lines; the first line and the next call are what matters.
    """
    first = f"{one_line(error.message)[: ERROR_BUDGET.line_chars]} (tool ran: {error.ran})"
    last = f"next: {error.next_call}" if error.next_call else ""
    room = ERROR_BUDGET.bytes - len(f"{first}{last}".encode("utf-8", "replace"))
    return "\n".join([first, *_within(error.detail, room), *([last] if last else [])])


def _within(detail: str, room: int) -> list[str]:
    """The lines of `detail` that have room, and how many have not; a line that is cut ends with `…`."""
    lines = detail.split("\n") if detail else []
    kept: list[str] = []
    for whole in lines[: ERROR_BUDGET.lines]:
        line = whole if len(whole) <= _LONGEST_LINE else f"{whole[: _LONGEST_LINE - 1]}…"
        data = line.encode("utf-8", "replace")
        if len(data) > room:
            kept += [data[:room].decode("utf-8", "ignore") + "…"] if room > _LEAST_CUT else []
            break
        room -= len(data) + 1
        kept.append(line)
    left = len(lines) - len(kept)
    return [*kept, f"… {left} more lines"] if left else kept


def size_text(size: int) -> str:
    """Bytes for people: `812 B`, `64.0 KB`, `2.2 MB` (decimal)."""
    if size < 1_000:
        return f"{size} B"
    if size < 1_000_000:
        return f"{size / 1_000:.1f} KB"
    return f"{size / 1_000_000:.1f} MB"


def token_text(tokens: int) -> str:
    """An estimate of tokens: `~812 tokens`, `~449k tokens`."""
    if tokens < 1_000:
        return f"~{tokens} tokens"
    if tokens < 1_000_000:
        return f"~{tokens / 1_000:.0f}k tokens"
    return f"~{tokens / 1_000_000:.1f}M tokens"


def one_line(text: str) -> str:
    """`text` with line ends and other control characters as spaces."""
    return "".join(char if char.isprintable() else " " for char in text)


def printable(text: str) -> str:
    """`text` with lone surrogates as U+FFFD, since no message can carry them."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def has_surrogates(text: str) -> bool:
    """Whether `text` has lone surrogates."""
    return not text.isascii() and _SURROGATES.search(text) is not None


def safe_text(text: str) -> str:
    """Upstream prose (descriptions, instructions) without control, bidirectional and zero-width characters."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char
        for char in text
        if char in "\n\t\u200c\u200d"
        or not (unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") or char == "\u3164")
    )
