"""One table as it is found, before it has a name, and how records become rows; never reads more than it is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from slimguard.document.paths import Path, format_path
from slimguard.document.shapes import sample
from slimguard.model import Json, is_array, is_object

TableKind = Literal[
    "records",
    "lines",
    "matrix",
    "values",
    "keyed",
    "map",
    "parallel",
    "nested",
    "tree",
    "csv",
    "tsv",
    "markdown",
    "fixed",
    "stanzas",
    "xml",
]
Rows = list[list[Json]]

COLUMNS_AT_MOST = 400
DOTTED_AT_MOST = 200
DOTTED_SAMPLE = 200
"""Records that are looked at for nested keys: a rare one is often what is looked for."""


@dataclass(frozen=True, slots=True)
class Found:
    """A table without its name: where it stands, what its columns are, and how its rows are made."""

    path: Path
    kind: TableKind
    columns: tuple[str, ...]
    count: int
    expression: str
    make: Callable[[], Rows]
    own: int
    names: tuple[str, ...]
    """Candidates for the name, shortest first."""
    weight: float
    make_columns: Callable[[], Sequence[Sequence[Json]]] | None = None
    """The same cells column by column, as they are written, where that is cheaper than by rows."""


def record_columns(records: Sequence[Json]) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """The keys of all records in the order seen, and the paths of scalars nested in their objects."""
    own: dict[str, None] = {}
    for item in records:
        if is_object(item) and not (item.keys() <= own.keys()):
            own.update(dict.fromkeys(item))
    if not own:
        own["value"] = None
    dotted: dict[tuple[str, ...], None] = {}
    for item in sample(records, DOTTED_SAMPLE):
        if is_object(item):
            _dotted(item, (), dotted)
    taken = set(own)
    return (
        tuple(own)[:COLUMNS_AT_MOST],
        tuple(name for name in dotted if ".".join(name) not in taken)[:DOTTED_AT_MOST],
    )


def _dotted(item: dict[str, Json], above: tuple[str, ...], into: dict[tuple[str, ...], None]) -> None:
    for key, value in item.items():
        if is_object(value):
            if len(above) < 3 and len(value) <= 60 and not _is_map(value):
                _dotted(value, (*above, key), into)
        elif above and not is_array(value):
            into[(*above, key)] = None


class _Cells(Sequence[Sequence[Json]]):
    """The columns of records, each made when it is asked for; a view looks at the first ones of many."""

    def __init__(
        self, records: Sequence[dict[str, Json]], columns: Sequence[str], dotted: Sequence[tuple[str, ...]]
    ) -> None:
        self._records = records
        self._columns = columns
        self._dotted = dotted
        self._inner: dict[tuple[str, ...], Sequence[Json]] = {(): records}

    def __len__(self) -> int:
        return len(self._columns) + len(self._dotted)

    def __getitem__(self, place: int) -> Sequence[Json]:  # type: ignore[override]
        if place < 0:
            place += len(self)
        if not 0 <= place < len(self):
            raise IndexError(place)
        if place < len(self._columns):
            key = self._columns[place]
            return [record.get(key) for record in self._records]
        name = self._dotted[place - len(self._columns)]
        last = name[-1]
        values = [item.get(last) if item.__class__ is dict else None for item in self._objects(name[:-1])]
        return [None if value.__class__ is dict or value.__class__ is list else value for value in values]

    def _objects(self, above: tuple[str, ...]) -> Sequence[Any]:
        """What stands at a key path in each record; found once."""
        found = self._inner.get(above)
        if found is None:
            key = above[-1]
            found = [item.get(key) if item.__class__ is dict else None for item in self._objects(above[:-1])]
            self._inner[above] = found
        return found


def record_cells(
    records: Sequence[Json], columns: Sequence[str], dotted: Sequence[tuple[str, ...]]
) -> Sequence[Sequence[Json]]:
    """What `record_row` gives for all records, column by column."""
    if all(record.__class__ is dict for record in records):
        return _Cells(cast("Sequence[dict[str, Json]]", records), columns, dotted)
    rows = [record_row(record, columns, dotted) for record in records]
    return [[row[place] for row in rows] for place in range(len(columns) + len(dotted))]


def _is_map(value: dict[str, Json]) -> bool:
    """Whether an object holds nothing but objects: entries by key (or links), which are no columns."""
    return len(value) > 1 and all(is_object(item) for item in value.values())


def record_row(item: Json, columns: Sequence[str], dotted: Sequence[tuple[str, ...]]) -> list[Json]:
    """One row; what is missing is None. An element that is no object stands in the first column."""
    if not is_object(item):
        return [item, *[None] * (len(columns) + len(dotted) - 1)]
    row: list[Json] = [item.get(key) for key in columns]
    for name in dotted:
        value: Json = item
        for key in name:
            value = value.get(key) if is_object(value) else None
        row.append(None if isinstance(value, dict | list) else value)
    return row


def column_names(columns: Sequence[str], dotted: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The names of own and dotted columns, in the order of a row's cells."""
    return (*columns, *(".".join(name) for name in dotted))


def spelled(path: Path, tail: str) -> str:
    """The JMESPath of `tail` (`[]`, `*`, `*[]` or nothing) at `path`."""
    base = format_path(path)
    if not path:
        return tail or "@"
    return base + (tail if tail.startswith("[") or not tail else f".{tail}")


def names_of(path: Path) -> tuple[str, ...]:
    """Candidates for a table's name: the last key of its path, then with the key above, and so on."""
    keys = [step for step in path if isinstance(step, str)]
    if not keys:
        return ("result",)
    return tuple("_".join(keys[-count:]) for count in range(1, len(keys) + 1))
