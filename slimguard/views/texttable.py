"""Tables written as text (CSV, TSV, markdown, aligned): columns with ranges and top values, first and last rows."""

from __future__ import annotations

from slimguard.document import Table
from slimguard.views.cells import short
from slimguard.views.columns import ranked
from slimguard.views.grid import table_parts
from slimguard.views.hints import table_hints
from slimguard.views.model import Content, Part, Sketch

AROUND_TOKENS = 120


def texttable_view(content: Content) -> Sketch:
    """The view of a text whose substance is one or more tables."""
    main = content.tables[0]
    columns = ranked(main)
    names = {main.name: [column.name for column in (*columns.labels, *columns.columns)]}
    parts = [Part((f"{main.name}: {main.count:,} rows of {len(main.columns)} columns ({main.kind})",), rank=0)]
    before = content.text.lstrip("\ufeff")[:300].split("\n", 1)[0]
    if main.kind in ("markdown", "fixed") and before and MARK not in before and not _is_head(before, main):
        parts.insert(0, Part((short(before, 200),), rank=1))
    parts.extend(table_parts(main, columns, content))
    for table in content.tables[1:4]:
        listed = ", ".join(table.columns[:12])
        parts.append(
            Part((f"{table.name}: {table.count:,} rows ({listed})",), rank=5, tokens=content.share(AROUND_TOKENS))
        )
    return Sketch("table", parts, f"{main.count:,} rows", hints=tuple(table_hints(main, columns)), columns=names)


def _is_head(line: str, table: Table) -> bool:
    """Whether a line is the heading of the table's columns."""
    return all(name in line for name in table.columns)


MARK = "|"
