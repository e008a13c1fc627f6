"""Thirty pull requests of about 650 KB: directly, as a view, as a projection, and the same records in other forms."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from benchmarks.counting import tokens
from benchmarks.model import Options, Part, Plot, Table, Verdict
from benchmarks.tasks import recovered
from benchmarks.wire import Peer, compact, guard_command, script, server

HOW = """One result with 30 pull requests as a large code host's API gives them: two copies of a repository of more than
40 fields in each, some 20 links, bodies of prose. The view needs no configuration and must name all 30 (number and
title). The projection is what a user may configure for one tool (`view.select`). The forms are the same whole records,
written in other ways, to show what rewriting alone is worth."""
TOOL = "forge/list_pull_requests"
ARGUMENTS = {"owner": "harbour", "repo": "tidewater"}
SELECT = "[].{number:number,title:title,by:user.login,draft:draft,updated:updated_at}"


def run(options: Options) -> Part:
    """All forms."""
    part = Part("pulls", "Thirty pull requests", HOW)
    with Peer(script("bench_pulls")) as peer:
        answer = peer.call("list_pull_requests", ARGUMENTS)
    direct, whole = tokens(answer.result), compact(answer.result)
    records = json.loads(answer.text)
    table = Table("Tokens of the whole result", ("form", "tokens", "share of direct", "names all 30"), [])
    table.rows.append(["direct", direct, "100 %", "yes"])
    plot: list[tuple[str, float]] = [("direct", float(direct))]
    for label, own in (
        ("view, compact", {}),
        ("view, extreme", {"mode": "extreme"}),
        ("projection", {"tools": {"settings": {TOOL: {"view": {"select": SELECT}}}}}),
    ):
        spent, named, exact = _viewed(options, label, own, records, whole)
        table.rows.append([label, spent, f"{100 * spent / direct:.1f} %", f"{named}"])
        plot.append((label, float(spent)))
        part.verdicts.append(Verdict(f"30 pull requests, {label}: exact recovery", exact, 1, exactly=True))
        if label == "view, compact":
            against = "5,297 by hand"
            part.verdicts.append(Verdict("30 pull requests, view", spent, 2_000, "tokens", against=against))
            part.verdicts.append(Verdict("30 pull requests, view: named", named, 30, exactly=True))
    for label, text in forms(records).items():
        table.rows.append([f"all of it as {label}", tokens(text), f"{100 * tokens(text) / direct:.1f} %", "yes"])
    part.tables.append(table)
    part.plots.append(Plot("pulls", "Thirty pull requests", plot, "tokens", log=True))
    return part


def _viewed(
    options: Options, label: str, own: dict[str, Any], records: list[dict[str, Any]], whole: str
) -> tuple[int, int, bool]:
    folder = options.scratch / f"pulls-{label.replace(', ', '-')}"
    with Peer(guard_command(folder, {"forge": server("bench_pulls")}, **own)) as peer:
        answer = peer.call("call_tool", {"tool_ref": TOOL, "arguments": ARGUMENTS})
        named = sum(str(row["number"]) in answer.text and row["title"] in answer.text for row in records)
        exact, _ = recovered(peer, answer.result, answer.text, whole)
    return tokens(answer.result), named, exact


def forms(records: list[dict[str, Any]]) -> dict[str, str]:
    """The whole records, written in other ways."""
    flat = [_flat(record) for record in records]
    columns = list(dict.fromkeys(key for row in flat for key in row))
    table = io.StringIO()
    writer = csv.writer(table)
    writer.writerow(columns)
    writer.writerows([[row.get(key, "") for key in columns] for row in flat])
    rows = [",".join(_cell(row.get(key)) for key in columns) for row in flat]
    toon = f"[{len(flat)}]{{{','.join(columns)}}}:\n" + "\n".join(f"  {row}" for row in rows)
    return {
        "JSON, indented": json.dumps(records, ensure_ascii=False, indent=2),
        "JSON, compact": compact(records),
        "CSV, flattened": table.getvalue(),
        "TOON-like, flattened": toon,
    }


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    if isinstance(value, dict):
        out: dict[str, Any] = {}
        for key, item in value.items():
            out |= _flat(item, f"{path}.{key}" if path else key)
        return out
    return {path: compact(value) if isinstance(value, list) else value}


def _cell(value: Any) -> str:
    return compact(value) if isinstance(value, str) and set(value) & set(',"\n') else str(value)
