"""Source code: its definitions with line numbers, then the head."""

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


def looks_like_code(lines: Sequence[str]) -> bool:
    """Whether most lines read as source code and some of them define something."""
    some = [line[:LINE_READ] for line in lines[:2_000] if line.strip()]
    if len(some) < 8:
        return False
    code = sum(1 for line in some if _CODE_LINE.search(line))
    defined = sum(1 for line in some if _DEFINITION.match(line))
    return code * 10 >= len(some) * 4 and defined >= 2


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
