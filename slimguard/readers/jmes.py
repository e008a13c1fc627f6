"""JMESPath with bounds: length, depth, expansion, time and size; and the repairs of what is usually meant.

Never gives an expression more than the value: no environment, no files, no loops without an end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from jmespath import exceptions, functions, lexer, parser, visitor

from slimguard.errors import QueryRejected
from slimguard.model import Json, is_array, is_object
from slimguard.policy import QUERY_SECONDS, SELECT_CHARS, SELECT_EXPANSION, SELECT_ITEMS
from slimguard.readers.values import bounded_dump

_TEXT_CHARS = 4_000_000
_COMPARED_CHARS = 1_000_000
_COMPARATORS = ("eq", "ne", "lt", "lte", "gt", "gte")
_WORD = re.compile(r"\b(?:and|or|not)\b", re.IGNORECASE)
_WORDS = {"and": "&&", "or": "||", "not": "!"}


class _Stopped(Exception):
    """A bound was reached; the message says which."""


class _Functions(functions.Functions):
    """The functions of JMESPath, with bounded texts."""

    @functions.signature({"types": []})
    def _func_to_string(self, arg: Json) -> str:
        if isinstance(arg, str):
            return arg
        text = bounded_dump(arg, _TEXT_CHARS)
        if text is None:
            raise _Stopped("a text made by to_string is too long")
        return text

    @functions.signature({"types": ["string"]}, {"types": ["array-string"]})
    def _func_join(self, separator: str, parts: list[str]) -> str:
        if sum(map(len, parts)) + len(separator) * len(parts) > _TEXT_CHARS:
            raise _Stopped("a text made by join is too long")
        return separator.join(parts)


class _Interpreter(visitor.TreeInterpreter):
    """Evaluates an expression within a deadline."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        super().__init__(visitor.Options(custom_functions=_Functions()))
        self._monotonic = monotonic
        self._deadline = monotonic() + QUERY_SECONDS
        self._steps = 0
        self._methods: dict[str, Any] = {}

    def visit(self, node: Any, *args: Any, **kwargs: Any) -> Any:
        self._steps += 1
        if self._steps & 1023 == 0 and self._monotonic() > self._deadline:
            raise _Stopped(f"it took longer than {QUERY_SECONDS:g} s")
        kind = node["type"]
        method = self._methods.get(kind)
        if method is None:
            method = self._methods[kind] = getattr(self, f"visit_{kind}", self.default_visit)
        return method(node, *args, **kwargs)

    def visit_flatten(self, node: Any, value: Any) -> Any:
        base = self.visit(node["children"][0], value)
        if not is_array(base):
            return None
        merged: list[Any] = []
        for element in base:
            if is_array(element):
                merged.extend(element)
            else:
                merged.append(element)
            if len(merged) > SELECT_ITEMS:
                raise _Stopped(f"a list grew beyond {SELECT_ITEMS:,} elements")
        return merged

    def visit_comparator(self, node: Any, value: Any) -> Any:
        left: Any = self.visit(node["children"][0], value)
        right: Any = self.visit(node["children"][1], value)
        operator = node["value"]
        if operator not in ("eq", "ne"):
            ordered = _order(left) is not None and _order(left) is _order(right)
            return self.COMPARATOR_FUNC[operator](left, right) if ordered else None
        if (is_array(left) or is_object(left)) and (is_array(right) or is_object(right)):
            return self._same(left, right) == (operator == "eq")
        return self.COMPARATOR_FUNC[operator](left, right)

    def _same(self, left: Any, right: Any) -> bool:
        first, second = bounded_dump(left, _COMPARED_CHARS), bounded_dump(right, _COMPARED_CHARS)
        if first is None or second is None:
            raise _Stopped("values that are compared are too large")
        return json.loads(first) == json.loads(second)


def evaluate(expression: str, value: Json, monotonic: Callable[[], float]) -> Json:
    """The value of `expression` on `value`; raises `QueryRejected` with what is wrong or too large."""
    tree = parsed(expression)
    try:
        return _Interpreter(monotonic).visit(tree, value)
    except _Stopped as error:
        raise QueryRejected(
            f"the expression was stopped: {error}", next_call="select less, or aggregate with sql:", code="select_bound"
        ) from error
    except exceptions.JMESPathError as error:
        raise QueryRejected(f"select: {_first_line(error)}", next_call=_function_hint(error), code="select") from error
    except (RecursionError, MemoryError, OverflowError, ValueError, TypeError) as error:
        raise QueryRejected("the expression cannot be evaluated on this result", code="select") from error


def parsed(expression: str) -> Any:
    """The syntax tree; raises `QueryRejected` for what is no JMESPath or expands too much."""
    if len(expression) > SELECT_CHARS:
        raise QueryRejected(f"the expression is longer than {SELECT_CHARS:,} characters", code="select")
    try:
        tree = parser.Parser().parse(expression).parsed
        width = _width(tree)
    except exceptions.JMESPathError as error:
        raise QueryRejected(
            f"select: not JMESPath: {_first_line(error)}", next_call=syntax_hint(expression), code="select_syntax"
        ) from error
    except RecursionError as error:
        raise QueryRejected("the expression is nested too deeply", code="select") from error
    if width > SELECT_EXPANSION:
        raise QueryRejected(
            "the expression repeats its value too often", next_call="select fewer fields at once", code="select_bound"
        )
    return tree


def repaired(expression: str) -> str:
    """What is usually meant by an expression that does not parse: `=`, `and`, bare numbers, dashes in keys, `$.`."""
    text = re.sub(r"^\s*\$\.?|^\s*\.(?=\w)", "", expression)
    text = re.sub(r"\[\s*(?:'([^'\"\\\]]+)'|\"([^'\"\\\]]+)\")\s*\]", lambda match: f'."{match[1] or match[2]}"', text)
    text = text.removeprefix(".")
    text = outside_quotes(text, lambda part: re.sub(r"(?<![=!<>])=(?!=)", "==", part))
    text = outside_quotes(text, lambda part: re.sub(r"([A-Za-z_]\w*(?:-\w+)+)", r'"\1"', part))
    text = outside_quotes(
        text,
        lambda part: re.sub(
            r"\b(and|or|not)\b", lambda match: _WORDS[match.group(1).lower()], part, flags=re.IGNORECASE
        ),
    )
    text = outside_quotes(text, lambda part: re.sub(r"([=<>]\s*)(-?\d+(?:\.\d+)?)(?![\w`])", r"\1`\2`", part))
    return outside_quotes(text, lambda part: re.sub(r"([=<>]\s*)(true|false|null)\b", r"\1`\2`", part)).strip()


def with_literals(expression: str) -> str:
    """The expression with double-quoted keys beside comparators and in function arguments read as texts."""
    try:
        tokens = list(lexer.Lexer().tokenize(expression))
    except exceptions.JMESPathError:
        return expression
    out = expression
    for place in range(len(tokens) - 1, -1, -1):
        token = tokens[place]
        before = tokens[place - 1]["type"] if place else ""
        after = tokens[place + 1]["type"] if place + 1 < len(tokens) else ""
        beside = before in _COMPARATORS or (
            after in _COMPARATORS and before in ("filter", "and", "or", "lparen", "not")
        )
        argument = before == "comma" and after == "rparen"
        bare = token["type"] == "unquoted_identifier" and token["value"] in ("true", "false", "null")
        if not (beside or argument) or not (token["type"] == "quoted_identifier" or bare):
            continue
        start = token["start"]
        end = start + len(token["value"]) if bare else _quote_end(expression, start)
        plain = "'" not in token["value"] and "\\" not in token["value"]
        literal = f"'{token['value']}'" if plain else f"`{json.dumps(token['value'])}`"
        literal = f"`{token['value']}`" if bare else literal
        out = f"{out[:start]}{literal}{out[end:]}"
    return out


def _quote_end(text: str, start: int) -> int:
    """Where the quoted part that starts at `start` ends."""
    match = re.compile(r'"(?:[^"\\]|\\.)*"').match(text, start)
    return match.end() if match else len(text)


def leading_keys(expression: str) -> tuple[int, list[str]]:
    """The keys that the expression (or the first argument of its function) begins with, and where they start."""
    try:
        tokens = list(lexer.Lexer().tokenize(expression))
    except exceptions.JMESPathError:
        return 0, []
    start = 0
    while start + 1 < len(tokens) and tokens[start + 1]["type"] == "lparen":
        start += 2
    keys: list[str] = []
    for token in tokens[start:]:
        if token["type"].endswith("identifier"):
            keys.append(str(token["value"]))
        elif token["type"] != "dot":
            break
    return tokens[start]["start"], keys


def syntax_hint(expression: str) -> str:
    """What to write instead of an expression that does not parse."""
    if re.search(r"[A-Za-z_]\w*-\w+", expression):
        return 'a key that is no plain name takes double quotes: "dist-tags".latest'
    return "texts take single quotes, numbers backticks: items[?state=='open' && size>`5`].{id: id, name: name}"


def outside_quotes(text: str, change: Callable[[str], str]) -> str:
    """`text` with `change` made to its parts outside quotes and backticks."""
    parts = re.split(r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`)""", text)
    return "".join(part if place % 2 else change(part) for place, part in enumerate(parts))


def _width(node: Any) -> int:
    """How often an expression can repeat its value at most."""
    children: list[Any] = node.get("children", [])
    widths = [_width(child) for child in children if isinstance(child, dict)]
    if node["type"] in ("multi_select_list", "multi_select_dict"):
        return sum(widths) or 1
    if node["type"] in ("pipe", "subexpression", "index_expression", "projection", "filter_projection", "flatten",
                        "value_projection"):  # fmt: skip
        product = 1
        for width in widths:
            product = min(product * width, 1 << 40)
        return product
    return max(widths, default=1)


def _order(value: Json) -> type | None:
    """What a value is ordered among: numbers or texts; None for what has no order."""
    if isinstance(value, str):
        return str
    return float if isinstance(value, int | float) and not isinstance(value, bool) else None


def _first_line(error: Exception) -> str:
    if isinstance(error, exceptions.JMESPathTypeError):
        expected = " or ".join(str(name) for name in error.expected_types)
        return f"{error.function_name}() takes {expected}, not {error.actual_type}"
    lines = [line for line in str(error).split("\n") if line.strip()]
    return lines[0][:200] if lines else type(error).__name__


def _function_hint(error: Exception) -> str:
    if isinstance(error, exceptions.UnknownFunctionError):
        return (
            "functions: length, sum, avg, min, max, min_by, max_by, sort, sort_by, keys, values, contains, join, map, "
            "starts_with, ends_with, to_number, to_string, type, not_null, reverse, merge; other aggregates: sql:"
        )
    return "check the types: sum and avg take numbers, to_number(x) makes them"


def is_empty(value: Json) -> bool:
    """Whether a selection found nothing: null, an empty list or object, zero."""
    return value is None or ((is_array(value) or is_object(value)) and not value) or is_zero(value)


def is_zero(value: Json) -> bool:
    """Whether a value is the number zero, which a count over nothing gives."""
    return isinstance(value, int | float) and not isinstance(value, bool) and not value
