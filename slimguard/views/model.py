"""What views take and give: content to show, the parts of a view before they are fitted, the finished view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from slimguard.document import Block, Document, Table
from slimguard.model import Budget, Json
from slimguard.ports import TokenCounter
from slimguard.views.lines import shown_lines


@dataclass(frozen=True, slots=True)
class View:
    """A finished view: fits its budget, and is made of nothing but the content, its counts and its aggregates."""

    kind: str
    body: str
    shown: str
    """How much of the content the body shows, such as `8` or `outline`."""
    of: str
    """Of what: `10,000 items`."""
    hints: tuple[str, ...] = ()
    """Queries that go on, the best first, spelled as `read_result` takes them."""
    tables: str = ""
    """The tables that `sql:` takes: `rows(order_id, customer_id, …), …`."""


@dataclass(frozen=True, slots=True)
class Part:
    """Lines that belong together. Parts stand in reading order and get room by `rank`, the lowest first.

    `tokens` is the most that this part may take while others want room; `more` is a line with `{n}` that says how
    many lines were left out. With `ends` a part that is cut keeps its first and its last lines. `counted` lines are
    what `View.shown` counts.
    """

    lines: Sequence[str]
    rank: int = 1
    tokens: int | None = None
    more: str = "… {n} more lines"
    ends: bool = False
    counted: bool = False
    most: int | None = None
    """How many lines are kept at most, however cheap they are."""


@dataclass(frozen=True, slots=True)
class Sketch:
    """A view before it is fitted into its budget."""

    kind: str
    parts: Sequence[Part]
    of: str
    shown: str = ""
    """Fixed words for `View.shown`; empty when the counted lines are counted."""
    hints: tuple[str, ...] = ()
    columns: Mapping[str, Sequence[str]] = field(default_factory=lambda: {})
    """The telling columns of tables by the table's name, for the header."""


@dataclass(frozen=True)
class Content:
    """One thing to show: a block's text, or JSON, or both, with what of the budget it may take."""

    document: Document = field(repr=False)
    block: Block | None
    text: str = field(repr=False)
    value: Json = field(repr=False)
    """The JSON value, or None when the content is text."""
    tables: Sequence[Table]
    budget: Budget
    counter: TokenCounter = field(repr=False)

    @cached_property
    def lines(self) -> Sequence[str]:
        """The lines of the text as a terminal shows them; made once, for all kinds that look at them."""
        return shown_lines(self.text)

    def tokens(self, text: str) -> int:
        """Tokens of a text of ours."""
        return self.counter.count(text)

    def share(self, tokens: int) -> int:
        """`tokens` of a full-size view, scaled to this budget."""
        return max(20, tokens * self.budget.tokens // 2_000)
