"""Source code and indented text (YAML, trees): its definitions or upper levels with line numbers, then the head."""

from __future__ import annotations

import re
from collections.abc import Sequence

from slimguard.views.headings import Heading
from slimguard.views.model import Content, Sketch
from slimguard.views.prose import outlined

LINE_READ = 300
"""Characters of a line that are looked at to tell what it is."""
_DEFINITION = re.compile(
    r"(\s*)(?:@\w+\s+)?(?:(?:export|default|public|private|protected|internal|static|async|abstract|final|sealed|open|"
    r"override|virtual|inline|extern|unsafe|const|pub(?:\([a-z]+\))?|declare|suspend)\s+)*"
    r"(?:(?:class|def|func|fn|function\*?|interface|struct|enum|trait|impl|module|namespace|object|record|protocol|"
    r"extension|macro_rules!|mod|sub|procedure|message|service|resource|CREATE (?:OR REPLACE )?(?:TABLE|VIEW|FUNCTION|"
    r"INDEX|TRIGGER))\b[^=;]{1,140}|(?:const|let|var)\s+\w+\s*=\s*(?:async\s*)?(?:function|\([^)]*\)\s*=>).{0,60})"
)
_CODE_LINE = re.compile(
    r"[{};]\s*$|\)\s*:?\s*$|^\s*(?:import|from|#include|package|use|using|return|if|elif|else|for|while|try|except|const|let|var|"
    r"def|class|end|raise|throw|self\.)\b|^\s*(?://|/\*|\* )|^\s*[\w.\[\]'\"]+ [-+*/|&]?= |^\s*@\w+|^\s*[\w.]+\("
)
_YAML_KEY = re.compile(r"(\s*)(?:- )?(['\"]?[\w./$@{}*<>+~ -]+['\"]?):(?:\s|$)")


def looks_like_code(lines: Sequence[str]) -> bool:
    """Whether most lines read as source code and some of them define something."""
    some = [line[:LINE_READ] for line in lines[:2_000] if line.strip()]
    if len(some) < 8:
        return False
    code = sum(1 for line in some if _CODE_LINE.search(line))
    defined = sum(1 for line in some if _DEFINITION.match(line))
    return code * 10 >= len(some) * 4 and defined >= 2


def looks_like_yaml(lines: Sequence[str]) -> bool:
    """Whether most lines are `key:` or `key: value`, indented in levels."""
    some = [line[:LINE_READ] for line in lines[:1_000] if line.strip() and not line.lstrip().startswith("#")]
    if len(some) < 8:
        return False
    keys = sum(1 for line in some if _YAML_KEY.match(line) or line.lstrip().startswith("- "))
    indented = sum(1 for line in some if line.startswith("  "))
    return keys * 10 >= len(some) * 7 and indented * 4 >= len(some)


def code_view(content: Content) -> Sketch:
    """The view of source code."""
    lines = content.lines
    found: list[Heading] = []
    for place, line in enumerate(lines):
        match = _DEFINITION.match(line) if len(line) < 400 else None
        if match:
            indent = len(match.group(1).expandtabs(4))
            found.append(
                (place, 1 + indent // 4 if indent >= 4 else 1 + indent // 2, line.strip().rstrip("{:").rstrip())
            )
    return outlined("code", lines, found, content)


def yaml_view(content: Content) -> Sketch:
    """The view of YAML and the like: keys of the upper levels."""
    lines = content.lines
    return outlined("YAML", lines, yaml_headings(lines), content)


def yaml_headings(lines: Sequence[str]) -> list[Heading]:
    """Keys that hold further lines, by level; those that hold the same as their like are still each named."""
    found: list[Heading] = []
    indents: list[int] = []
    known: dict[str, int] = {}
    bare = [line.lstrip() for line in lines]
    for place, line in enumerate(lines):
        colon = line.find(":", 0, LINE_READ)
        if colon < 0 or not (colon + 1 == len(line) or line[colon + 1].isspace()):
            continue
        head = line[: colon + 1]
        indent = known.get(head)
        if indent is None:
            indent = known[head] = _key_indent(head)
        if indent < 0:
            continue
        while indents and indents[-1] >= indent:
            indents.pop()
        level = len(indents) + 1
        indents.append(indent)
        if _holds(lines, bare, place, indent) or (level <= 2 and line[colon + 1 :].strip()):
            found.append((place, level, line.strip()[:120]))
    return found


def _key_indent(head: str) -> int:
    """How far the key of a line is indented, its dash included; -1 when a line up to its colon is no key."""
    match = _YAML_KEY.match(head)
    if match is None:
        return -1
    return match.end(1) + (2 if head.lstrip().startswith("- ") else 0)


def _holds(lines: Sequence[str], bare: Sequence[str], place: int, indent: int) -> bool:
    """Whether the next line that is not blank stands below the key at `place`."""
    for below in range(place + 1, min(place + 4, len(lines))):
        if bare[below]:
            return len(lines[below]) - len(bare[below]) > indent or bare[below].startswith("- ")
    return False
