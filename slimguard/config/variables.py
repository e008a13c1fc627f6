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
    value = _value(name[0], environment) if name else None
    if name and not rest:
        if value is None:
            raise VariableProblem(f"the variable {name[0]} is not set; set it, or write ${{{name[0]}:-default}}")
        return value
    if name and rest.startswith(":-"):
        default = rest[2:]
        if "${" in default:
            raise VariableProblem(f"the default of {name[0]} holds another variable; only plain text is allowed there")
        return value or default
    if foreign := _FOREIGN.fullmatch(inner):
        raise VariableProblem(f"${{{inner}}} is another program's form; write ${{{_upper(foreign[1])}}}")
    raise VariableProblem('a "${…}" is neither ${VAR} nor ${VAR:-default}; write $${ for a literal ${')


def _value(name: str, environment: Mapping[str, str]) -> str | None:
    """The variable's value; a host's own placeholder that it passed on unreplaced counts as not set."""
    value = environment.get(name)
    return None if value in (f"${{{name}}}", f"${{env:{name}}}", f"{{env:{name}}}", f"${name}") else value


def names_in(text: str) -> list[str]:
    """The names of the variables that `expand` would look up, in their order."""
    plain = text.replace("$${", "")
    return re.findall(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?=\}|:-)", plain)


def _upper(name: str) -> str:
    return name if re.fullmatch(r"[A-Z0-9_]+", name) else re.sub(r"[^A-Za-z0-9]+", "_", name)
