"""The results of a run as JSON, Markdown and plots; docs/benchmarks.md is this and nothing else."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import time
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.counting import COUNTER
from benchmarks.model import Part
from benchmarks.plots import bars
from benchmarks.wire import ROOT

PAGE = ROOT / "docs" / "benchmarks.md"
PLOTS = ROOT / "docs" / "benchmarks"
Document = dict[str, Any]


def document(parts: list[Part], *, quick: bool) -> Document:
    """Everything that was found, and where."""
    verdicts = [verdict for part in parts for verdict in part.verdicts]
    return {
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "commit": _git("rev-parse", "--short=12", "HEAD"),
        "changed": bool(_git("status", "--porcelain", "--untracked-files=no")),
        "quick": quick,
        "machine": machine(),
        "token_counter": COUNTER,
        "bounds": len(verdicts),
        "bounds_held": sum(verdict.holds for verdict in verdicts),
        "parts": [_part(part) for part in parts],
    }


def merged(found: Document, before: Document) -> Document:
    """A run of some parts in an earlier one of all: their sections are renewed, the others say when they were made."""
    when = f"{before['date']}, commit `{before['commit']}`"
    new = {part["name"]: part for part in found["parts"]}
    old = [{"measured": when, **part} for part in before["parts"]]
    parts = [new.pop(part["name"], part) for part in old] + list(new.values())
    verdicts = [verdict for part in parts for verdict in part["verdicts"]]
    held = sum(verdict["holds"] for verdict in verdicts)
    return {**found, "parts": parts, "bounds": len(verdicts), "bounds_held": held}


def machine() -> dict[str, Any]:
    """What it ran on."""
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "mcp": version("mcp"),
    }


def _part(part: Part) -> Document:
    value = asdict(part)
    value["verdicts"] = [{**asdict(verdict), "holds": verdict.holds} for verdict in part.verdicts]
    return value


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def write(found: Document, folder: Path) -> None:
    """JSON, Markdown and plots into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    (folder / "results.md").write_text(markdown(found, "."), encoding="utf-8")
    _write_plots(found, folder)


def publish(found: Document, *, some: bool = False) -> None:
    """The page of the documentation, with its plots and the JSON that it was made of; `some` renews a part of it."""
    PLOTS.mkdir(parents=True, exist_ok=True)
    if some and (PLOTS / "results.json").exists():
        found = merged(found, json.loads((PLOTS / "results.json").read_text(encoding="utf-8")))
    PAGE.write_text(markdown(found, "benchmarks"), encoding="utf-8")
    (PLOTS / "results.json").write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    _write_plots(found, PLOTS)


def _write_plots(found: Document, folder: Path) -> None:
    for part in found["parts"]:
        for plot in part["plots"]:
            (folder / f"{plot['name']}.svg").write_text(bars(plot), encoding="utf-8")


def markdown(found: Document, folder: str) -> str:
    """The page."""
    where = found["machine"]
    lines = [
        "# Benchmarks",
        "",
        "Made by `python -m benchmarks --write`, not by hand; `make bench` measures without renewing this page.",
        "Everything runs over real stdio pipes, against the same calls made directly, in the same run. Absolute times",
        "depend on the machine and on what else it does; ratios much less.",
        "",
        f"- date: {found['date']}, commit `{found['commit']}`{' with local changes' if found['changed'] else ''}"
        + (", quick (few samples)" if found["quick"] else ""),
        f"- machine: {where['system']}, {where['cores']} cores, load {where['load']}",
        f"- Python {where['python']}, mcp {where['mcp']}",
        f"- tokens: {found['token_counter']}, compact JSON",
        f"- bounds: {found['bounds_held']} of {found['bounds']} hold",
        "",
    ]
    for part in found["parts"]:
        lines += _section(part, folder)
    return "\n".join(lines)


def _section(part: Document, folder: str) -> list[str]:
    lines = [f"## {part['title']}", ""]
    if part["skipped"]:
        return [*lines, f"Not run: {part['skipped']}", ""]
    if part.get("measured"):
        lines += [f"Measured {part['measured']}.", ""]
    lines += [part["how"], ""]
    for table in part["tables"]:
        lines += [f"**{table['title']}**", "", *_table(table["columns"], table["rows"]), ""]
    if part["verdicts"]:
        rows = [
            [v["measure"], f"{number(v['value'])} {v['unit']}".strip(), _bound(v), v["against"], _yes(v)]
            for v in part["verdicts"]
        ]
        lines += [*_table(("measure", "value", "bound", "others", "holds"), rows), ""]
    for plot in part["plots"]:
        lines += [f"![{plot['title']}]({folder}/{plot['name']}.svg)", ""]
    return lines


def _bound(verdict: Document) -> str:
    bound = bool(verdict["bound"]) if isinstance(verdict["value"], bool) else verdict["bound"]
    return f"{'=' if verdict['exactly'] else '≤'} {number(bound)} {verdict['unit']}".strip()


def _yes(verdict: Document) -> str:
    return "yes" if verdict["holds"] else "**no**"


def _table(columns: Any, rows: list[list[Any]]) -> list[str]:
    lines = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    return [*lines, *(f"| {' | '.join(number(cell) for cell in row)} |" for row in rows)]


def number(value: Any) -> str:
    """A figure as people read it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.2f}" if abs(value) < 100 else f"{value:,.0f}"


def text(part: Part) -> str:
    """One part for the terminal."""
    if part.skipped:
        return f"{part.title}: not run: {part.skipped}"
    lines = [f"== {part.title}"]
    for table in part.tables:
        lines.append(f"{table.title}: {' | '.join(table.columns)}")
        lines += [f"   {' | '.join(number(cell) for cell in row)}" for row in table.rows]
    for verdict in part.verdicts:
        sign = "=" if verdict.exactly else "≤"
        word = "holds" if verdict.holds else "DOES NOT HOLD"
        figures = f"{number(verdict.value)} {sign} {number(verdict.bound)} {verdict.unit}"
        lines.append(f"   {word}: {verdict.measure}: {figures}")
    return "\n".join(lines)
