"""Names in a SELECT: which tables it mentions, and what is meant by names that do not exist; never runs SQL."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rapidfuzz import fuzz, process

_TOKEN = re.compile(
    r"""(?P<text>'(?:[^']|'')*')|(?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))|(?P<quoted>"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\])|"""
    r"(?P<number>\d[\w.]*)|(?P<name>[^\W\d][\w$]*)|(?P<space>\s+)|(?P<other>.)",
    re.DOTALL,
)
_NO_TABLE = re.compile(r"no such table: (.+)\Z", re.DOTALL)
_NO_COLUMN = re.compile(r"no such column: (.+?)(?: - should this be .*)?\Z", re.DOTALL)
_MAIN_NAMES = frozenset(("rows", "data", "result", "results", "items", "records", "table", "t", "main", "csv", "root"))
_LISTING_CHARS = 900
"""Characters of a listing: an error has to fit its budget."""
_NEAR = 75
"""From here on a name is a table's name written wrongly, of 100."""
_PLAIN = re.compile(r"[A-Za-z_]\w*\Z")


class Token(NamedTuple):
    """One piece of SQL: its kind, its text, the name it stands for, and where it is."""

    kind: str
    text: str
    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Names:
    """The tables and their columns; the first table is the main one."""

    columns: Mapping[str, Sequence[str]]

    @property
    def main(self) -> str:
        """The main table, empty when there is none."""
        return next(iter(self.columns), "")

    def table(self, name: str) -> str | None:
        """The table meant by `name`: itself, the only one, the same word written otherwise, or the main one.

        None when it is near the name of a table: then it is a mistake in writing that an error tells better.
        """
        exact = next((known for known in self.columns if known.lower() == name.lower()), None)
        if exact is not None or not self.columns:
            return exact
        last = re.split(r"[.\[\]]+", name.strip("[].*"))[-1]
        by_last = next((known for known in self.columns if known.lower() == last.lower()), None)
        if by_last is not None:
            return by_last
        if name.lower() in _MAIN_NAMES or len(self.columns) == 1:
            return self.main
        plain = [known for known in self.columns if _bare(known) == _bare(name)]
        if len(plain) == 1:
            return plain[0]
        close = process.extractOne(last, list(self.columns), scorer=fuzz.WRatio, score_cutoff=_NEAR)
        return None if close is not None else self.main

    def column(self, name: str, tables: Sequence[str]) -> str | None:
        """The column of `tables` meant by `name`: by case, by its last part, or written with other marks, if unique."""
        known = list(dict.fromkeys(column for table in tables for column in self.columns[table]))
        for matches in (
            [column for column in known if column.lower() == name.lower()],
            [column for column in known if column.rpartition(".")[2].lower() == name.lower()],
            [column for column in known if _bare(column) == _bare(name)],
            [column for column in known if ":" in column and column.rpartition(":")[2].lower() == name.lower()],
            [column for column in known if _bare(column.rpartition(".")[2]) == _bare(name.rpartition(".")[2])],
        ):
            if len(matches) == 1:
                return matches[0]
        return None

    def mentioned(self, sql: str) -> list[str]:
        """The tables that a SELECT names, so that only those are filled."""
        names = {token.name.lower() for token in tokens(sql) if token.name}
        return [table for table in self.columns if table.lower() in names]

    def listing(self) -> str:
        """`tables: NAME(columns), …`."""
        shown: list[str] = []
        room = _LISTING_CHARS
        for name, columns in self.columns.items():
            text = f"{name}({_columns(columns, max(room, 40))})"
            if shown and len(text) > room:
                break
            shown.append(text)
            room -= len(text)
        more = f", … {len(self.columns)} tables" if len(self.columns) > len(shown) else ""
        return f"tables: {', '.join(shown) or 'none'}{more}"

    def example(self) -> str:
        """A SELECT that runs."""
        if not self.columns:
            return "this result has no tables: search it, or select:"
        return f"sql:SELECT * FROM {quoted_if_needed(self.main)} LIMIT 5"  # noqa: S608  # a hint, never run here

    def nearest(self, message: str) -> str:
        """The names that are nearest to the one an error complains of."""
        missing = _NO_TABLE.search(message) or _NO_COLUMN.search(message)
        if missing is None:
            return ""
        known = list(self.columns) if message.startswith("no such table") else [
            column for columns in self.columns.values() for column in columns
        ]  # fmt: skip
        name = missing.group(1).rpartition(".")[2]
        close = process.extract(name, list(dict.fromkeys(known)), scorer=fuzz.WRatio, limit=3, score_cutoff=60)
        return f"; nearest: {', '.join(str(match[0]) for match in close)}" if close else ""


def tokens(sql: str) -> Iterator[Token]:
    """The tokens of `sql` that are neither space nor comment."""
    for match in _TOKEN.finditer(sql):
        kind, text = str(match.lastgroup), match.group()
        if kind in ("space", "comment"):
            continue
        name = text if kind == "name" else text[1:-1].replace('""', '"') if kind == "quoted" else ""
        yield Token(kind, text, name, match.start(), match.end())


class Reading(NamedTuple):
    """A SELECT as it was understood, and what was read for what, in words; empty when it goes without saying."""

    sql: str
    note: str = ""


def repaired(sql: str, message: str, names: Names) -> Reading | None:
    """The SELECT with the name that `message` complains of replaced by what is meant; None when nothing fits."""
    table = _NO_TABLE.search(message)
    if table is not None:
        written = table.group(1)
        meant = names.table(written)
        changed = None if meant is None else _renamed(sql, written, meant)
        usual = written.lower() in _MAIN_NAMES
        return None if changed is None else Reading(changed, "" if usual else f"{written} read as {meant}")
    column = _NO_COLUMN.search(message)
    if column is None:
        changed = _reserved(sql, message, names)
        return None if changed is None else Reading(changed)
    tables = names.mentioned(sql) or [names.main]
    written = column.group(1)
    prefix, _, rest = written.partition(".")
    meant, new = names.column(written, tables), ""
    if meant is not None:
        new = quoted(meant)
    elif rest and any(token.name.lower() == prefix.lower() for token in tokens(sql)):
        meant = names.column(rest, tables)
        new = f"{prefix}.{quoted(meant)}" if meant is not None else ""
    changed = _replaced(sql, written, new) if meant is not None and new else None
    if changed is None:
        return None
    plain = (written.lower(), rest.lower())
    return Reading(changed, "" if meant is None or meant.lower() in plain else f"{written} read as {meant}")


def quoted(name: str) -> str:
    """`name` as an identifier in quotes."""
    return '"' + name.replace('"', '""') + '"'


def quoted_if_needed(name: str) -> str:
    """`name` as an identifier, quoted when it is no plain word."""
    return name if _PLAIN.match(name) else quoted(name)


def _renamed(sql: str, written: str, meant: str) -> str | None:
    """A table's name replaced where it stands behind FROM, JOIN or a comma, and where it qualifies a column."""
    changed = _replaced(sql, written, quoted(meant))
    if changed is None and "." in written:
        changed = _replaced(sql, written.rpartition(".")[2], quoted(meant))
    return changed


def _replaced(sql: str, written: str, new: str) -> str | None:
    """`sql` with each identifier, or chain of identifiers with dots, that spells `written` replaced by `new`."""
    found = list(tokens(sql))
    parts: list[str] = []
    position = place = 0
    changed = False
    while place < len(found):
        end = _chain(found, place, written)
        if end is None:
            place += 1
            continue
        parts.append(sql[position : found[place].start])
        parts.append(new)
        position = found[end].end
        place = end + 1
        changed = True
    parts.append(sql[position:])
    return "".join(parts) if changed else None


def _chain(found: Sequence[Token], place: int, written: str) -> int | None:
    """The last token of the chain from `place` that spells `written`, or None."""
    spelled = ""
    for end in range(place, min(len(found), place + 16)):
        token = found[end]
        if not (token.name or (token.text == "." and end > place)):
            return None
        if token.name and place > 0 and end == place and found[place - 1].text.lower() == "as":
            return None
        spelled += token.name or token.text
        if spelled.lower() == written.lower():
            return end
        if not written.lower().startswith(spelled.lower()):
            return None
    return None


def _reserved(sql: str, message: str, names: Names) -> str | None:
    """A table or column whose name is a word of SQL (`order`, `group`, `table`), quoted."""
    near = re.search(r'near "(\w+)": syntax error', message)
    if near is None:
        return None
    word = near.group(1)
    known = [*names.columns, *(column for columns in names.columns.values() for column in columns)]
    meant = next((name for name in known if name.lower() == word.lower()), None)
    if meant is None and word.lower() in _MAIN_NAMES:
        meant = names.main
    for token in tokens(sql):
        if meant and token.kind == "name" and token.text.lower() == word.lower():
            return f"{sql[: token.start]}{quoted(meant)}{sql[token.end :]}"
    return None


def _columns(columns: Sequence[str], room: int) -> str:
    """The column names that fit in about `room` characters."""
    text = ", ".join(columns)
    if len(text) <= room:
        return text
    return f"{text[:room].rpartition(', ')[0]}, … {len(columns)} columns"


def _bare(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).lower()
