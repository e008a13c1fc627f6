"""What a part of the benchmarks reports: tables, verdicts against bounds, and the figures of its plot."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Options:
    """How to run: `quick` takes fewer samples, `shared` is a folder with given payloads, `scratch` is ours."""

    scratch: Path
    quick: bool = False
    shared: Path | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the report."""

    title: str
    columns: tuple[str, ...]
    rows: list[list[Any]]


@dataclass(frozen=True, slots=True)
class Verdict:
    """One measure against its bound: it holds when `value` is at most `bound`, or equal when `exactly`."""

    measure: str
    value: float
    bound: float
    unit: str = ""
    exactly: bool = False
    against: str = ""
    """What others need, in words."""

    @property
    def holds(self) -> bool:
        """Whether the bound is kept."""
        return self.value == self.bound if self.exactly else self.value <= self.bound


@dataclass(frozen=True, slots=True)
class Plot:
    """A bar chart: labels and values; `log` for values of very different size."""

    name: str
    title: str
    bars: list[tuple[str, float]]
    unit: str
    log: bool = False


@dataclass(slots=True)
class Part:
    """What one part found."""

    name: str
    title: str
    how: str
    tables: list[Table] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)
    skipped: str = ""
    """Why it did not run, if so."""
    failed: bool = False
