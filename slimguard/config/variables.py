"""`${VAR}` and `${VAR:-default}` in a configured text; never lets a literal `${VAR}` through, never quotes a value."""

from __future__ import annotations

import re
from collections.abc import Mapping

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FOREIGN = re.compile(r"(?:env|input|config|file|secret):([A-Za-z_][A-Za-z0-9_.-]*)")


class VariableProblem(ValueError):
    """A variable that is not set, or a form that is not ours; the message says which, and what to do."""


def expand(text: str, environment: Mapping[str, str]) -> str:
    """`text` with its variables replaced; `$${` stands for a literal `${`. Raises `VariableProblem`.

    As in a shell, `:-` gives the default when the variable is unset or empty.
    """
    parts: list[str] = []
    at = 0
    while (start := text.find("${", at)) >= 0:
        if start > at and text[start - 1] == "$":
            parts += [text[at : start - 1], "${"]
            at = start + 2
            continue
        end = text.find("}", start)
        if end < 0:
            raise VariableProblem('"${" is never closed; write $${ for a literal ${')
        parts += [text[at:start], _replaced(text[start + 2 : end], environment)]
        at = end + 1
    return "".join([*parts, text[at:]])


def _replaced(inner: str, environment: Mapping[str, str]) -> str:
    name = _NAME.match(inner)
    rest = inner[name.end() :] if name else ""
    if name and not rest:
        if name[0] not in environment:
            raise VariableProblem(f"the variable {name[0]} is not set; set it, or write ${{{name[0]}:-default}}")
        return environment[name[0]]
    if name and rest.startswith(":-"):
        default = rest[2:]
        if "${" in default:
            raise VariableProblem(f"the default of {name[0]} holds another variable; only plain text is allowed there")
        return environment.get(name[0]) or default
    if foreign := _FOREIGN.fullmatch(inner):
        raise VariableProblem(f"${{{inner}}} is another program's form; write ${{{_upper(foreign[1])}}}")
    raise VariableProblem('a "${…}" is neither ${VAR} nor ${VAR:-default}; write $${ for a literal ${')


def _upper(name: str) -> str:
    return name if re.fullmatch(r"[A-Z0-9_]+", name) else re.sub(r"[^A-Za-z0-9]+", "_", name)
