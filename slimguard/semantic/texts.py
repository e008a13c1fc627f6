"""The two texts that stand for a tool before the model; pure, never the text that is shown to anyone."""

from __future__ import annotations

import re

from slimguard import policy
from slimguard.model import Tool

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_MARKS = re.compile(r"[\s_./\-]+")
_SENTENCE = re.compile(r"(?<=[.!?])\s|(?<=[。！？])")


def texts_of(tool: Tool) -> tuple[str, str]:
    """What the tool is called and where; what it is called, what it does (its first sentence) and where."""
    name, server = _words(tool.name), _words(tool.server)
    about = " ".join(tool.description[: 4 * policy.MEANING_LEAD_CHARS].split())
    lead = _SENTENCE.split(about, maxsplit=1)[0][: policy.MEANING_LEAD_CHARS]
    return f"{name} {server}", f"{name}. {lead or name} {server}"


def _words(name: str) -> str:
    return _MARKS.sub(" ", _CAMEL.sub(" ", name[: policy.MEANING_LEAD_CHARS])).strip()
