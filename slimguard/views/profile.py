"""What a column holds: type, distinct values, range, whether it is noise; one pass a column, values unchanged."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import re2  # pyright: ignore[reportMissingTypeStubs]

from slimguard.document.shapes import sample
from slimguard.model import Json, is_array, is_object

FEW_LINKS = 4
LINKED_ROWS = 20
RARE_LINK = 2
"""Of so few different links in so many rows, one that is so rare tells something."""

ColumnKind = Literal["number", "text", "flag", "time", "object", "array", "series", "mixed", "empty"]

_ISO = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?\Z"
    r"|\d{8}T\d{6}Z?\Z"
)
_URL = re.compile(r"(?:https?|ftp|s3|gs|file|git|ssh|wss?)://|^mailto:|^data:|\{[/?&][a-z_]+\}", re.IGNORECASE)
_HEX = re.compile(r"(?:[0-9a-f]{16,}|[0-9A-F]{16,}|[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12})\Z")
_TOKENISH = re.compile(r"(?=\S*[A-Z])(?=\S*[a-z])(?=\S*\d)[A-Za-z0-9+/_=.:-]{20,}\Z")
_DIGEST = re.compile(r"(?:sha\d+|md5|sha512)[-:=]", re.IGNORECASE)
_EPOCH_NAME = re.compile(r"(?i)(?:time|stamp|_at$|(?:^|_)ts$|date|created|updated|modified|expires|epoch|^when$)")
_NUMERIC = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\Z")
_PLAIN_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,17})?\Z")
_engine: Any = re2
_PLAIN_LINES = _engine.compile(rb"(?:(?:-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,17})?)?\n)*")
"""Lines that are empty or plain numbers, however many, in one linear pass."""
_OPAQUE = re.compile(
    r"(?=.*\d)(?=.*[A-Za-z])(?:[0-9A-Fa-f]{8,}|[A-Za-z]{1,4}[-_][0-9A-Fa-f]{6,})(?:[-_:][0-9A-Fa-f]+)*\Z"
    r"|(?=.*\d)[A-Z0-9]{8,}\Z|(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\Z"
)


@dataclass(frozen=True, slots=True)
class Column:
    """One profiled column; `values` are the cells of all rows."""

    name: str
    values: Sequence[Json] = field(repr=False)
    kind: ColumnKind
    filled: int
    counts: Counter[Json] | None = field(repr=False)
    """How often each value occurs; None for columns of containers."""
    width: float
    """Mean characters of a filled cell."""
    noise: bool = False
    """Links, hashes and other machine text that nobody reads."""
    low: int | None = None
    """Row of the smallest number or time."""
    high: int | None = None
    """Row of the largest."""
    whole: bool = True
    """Whether all numbers are integers."""
    total: float | int | None = None
    """The sum of a column of numbers, of numbers written as text too."""
    opaque: bool = False
    """Short machine identifiers: nearly unique, no words."""

    @property
    def distinct(self) -> int:
        """Number of distinct filled values; for containers, unknown, as many as there are."""
        return len(self.counts) if self.counts is not None else self.filled

    @property
    def constant(self) -> bool:
        """Whether all rows hold the same scalar."""
        return self.counts is not None and len(self.counts) == 1 and self.filled == len(self.values)


def profile(name: str, values: Sequence[Json]) -> Column:
    """Profile one column; unhashable values make it a column of containers."""
    filled_values = [value for value in values if value is not None]
    filled = len(filled_values)
    if not filled:
        return Column(name, values, "empty", 0, None, 0.0)
    some = sample(filled_values)
    containers = sum(1 for value in some if isinstance(value, dict | list))
    if containers:
        return Column(name, values, _container_kind(some, containers), filled, None, 40.0)
    try:
        counts = Counter[Json](filled_values)
    except TypeError:
        return Column(name, values, "mixed", filled, None, 40.0)
    types = {type(value).__name__ for value in some}
    width = sum(len(str(value)) for value in some) / len(some)
    if types == {"bool"}:
        return Column(name, values, "flag", filled, counts, width)
    if types <= {"int", "float"}:
        return _numbers(name, values, filled, counts, width)
    if types == {"str"}:
        return _texts(name, values, filled_values, counts, width)
    return Column(name, values, "mixed", filled, counts, width)


def _container_kind(some: Sequence[Json], containers: int) -> ColumnKind:
    arrays = [value for value in some if is_array(value)]
    if len(arrays) == containers:
        longest = max(arrays, key=len)
        return "series" if len(longest) >= 8 and points_of(longest) is not None else "array"
    return "object" if all(is_object(value) for value in some) else "mixed"


def points_of(values: Sequence[Json]) -> list[float] | None:
    """The numbers of a series: of plain numbers, or of rows that end with one (numeric text counts); else None."""
    points: list[float] = []
    for item in values:
        last: Json = item[-1] if is_array(item) and 1 < len(item) <= 3 else item
        if isinstance(last, str) and _NUMERIC.match(last):
            last = float(last)
        if isinstance(last, bool) or not isinstance(last, int | float):
            return None
        points.append(float(last))
    return points


def _numbers(name: str, values: Sequence[Json], filled: int, counts: Counter[Json], width: float) -> Column:
    if any(value.__class__ is bool or value.__class__ is str for value in counts):
        return Column(name, values, "mixed", filled, counts, width)
    return _measured(name, values, values, filled=filled, counts=counts, width=width)


def _measured(
    name: str, values: Sequence[Json], numbers: Sequence[Json], *, filled: int, counts: Counter[Json], width: float
) -> Column:
    """A column of numbers; `numbers` are the values as numbers, None where there is none."""
    present = numbers if filled == len(numbers) else [value for value in numbers if value is not None]
    total = sum(present)
    if total.__class__ is float and not math.isfinite(total):
        return Column(name, values, "mixed", filled, counts, width)
    whole = total.__class__ is int
    low, high = numbers.index(min(present)), numbers.index(max(present))
    epoch = bool(_EPOCH_NAME.search(name.rsplit(".", 1)[-1])) and numbers[low] > 100_000_000
    kind: ColumnKind = "time" if epoch else "number"
    exact = total if whole else math.fsum(present)
    return Column(name, values, kind, filled, counts, width, low=low, high=high, whole=whole, total=exact)


def _texts(name: str, values: Sequence[Json], filled: list[Json], counts: Counter[Json], width: float) -> Column:
    some = [value for value in sample(filled) if isinstance(value, str)]
    if some and all(not value or _PLAIN_NUMBER.match(value) for value in some) and any(some):
        numbers = numbers_in(values, counts)
        if numbers is not None:
            some_filled = len(filled) - counts.get("", 0)
            return _measured(name, values, numbers, filled=some_filled, counts=counts, width=width)
    if some and all(_ISO.match(value) for value in some) and len({len(value) for value in some}) <= 2:
        places = [place for place, value in enumerate(values) if isinstance(value, str)]
        low = min(places, key=lambda place: values[place])
        high = max(places, key=lambda place: values[place])
        return Column(name, values, "time", len(filled), counts, width, low=low, high=high)
    telling = 2 <= len(counts) <= FEW_LINKS and len(filled) >= LINKED_ROWS and min(counts.values()) <= RARE_LINK
    noise = not telling and _is_noise(some, len(counts))
    opaque = len(counts) > 3 and sum(1 for value in some if _OPAQUE.match(value)) * 5 >= len(some) * 4
    return Column(name, values, "text", len(filled), counts, width, noise, opaque=opaque)


def numbers_in(values: Sequence[Json], counts: Mapping[Json, int]) -> list[Json] | None:
    """The numbers that texts spell plainly, None for empty ones; None altogether when one of them spells none."""
    try:
        joined = "\n".join((*counts, ""))
    except TypeError:
        return None
    if joined.count("\n") != len(counts) or not _PLAIN_LINES.fullmatch(joined.encode("utf-8", "surrogatepass")):
        return None
    if "." not in joined and "" not in counts and None not in values:
        return list(map(int, values))
    return [(float(value) if "." in value else int(value)) if value else None for value in values]


def _is_noise(some: Sequence[str], distinct: int) -> bool:
    texts = [value for value in some if value]
    if not texts:
        return True
    links = sum(1 for value in texts if _URL.search(value))
    if links * 2 > len(texts):
        return True
    if distinct < 2 and len(texts[0]) < 20:
        return False
    hashes = sum(1 for value in texts if _HEX.match(value) or _DIGEST.match(value) or _TOKENISH.match(value))
    return hashes * 2 > len(texts)
