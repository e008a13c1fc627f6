"""What read, change and write back costs through the guard, beside what direct MCP would have cost.

    python benchmarks/roundtrips.py [--write docs/explanation/write-back.md]

Each task of tests/roundtrips is run by its scripted agent in compact and in native mode. Counted (o200k_base, compact
JSON): the tool definitions that the host lists, every request and every answer. Direct is counted from what the servers
really received and sent in that same run: their own definitions, each call with its arguments in full, each result in
full; finding a tool is not counted there, since a direct host lists them all.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "roundtrips"))

from rig import Agent, Rig  # noqa: E402
from tasks import TASKS, Task  # noqa: E402
from worlds import WORLDS, compact  # noqa: E402

from slimguard.tokens import Tokens  # noqa: E402

START, END = "<!-- table: benchmarks/roundtrips.py -->", "<!-- end of table -->"
count = Tokens().count


def guarded(task: Task, mode: str) -> tuple[int, int]:
    """Tokens of the task through the guard, and direct."""
    with tempfile.TemporaryDirectory() as place:
        rig = Rig(Path(place), task.worlds, "stdio", mode, **task.section)
        try:
            agent = Agent(rig)
            task.script(agent)
            task.check(rig)
            spent = count(compact({"tools": agent.listed["tools"]}))
            spent += sum(count(compact(request)) + count(compact(result)) for request, result in agent.exchanges)
            return spent, sum(direct(rig, world) for world in task.worlds)
        finally:
            rig.close()


def direct(rig: Rig, world: str) -> int:
    """Tokens that a host without the guard would have seen of one server."""
    with tempfile.TemporaryDirectory() as place:
        tools = [{"name": name, **definition} for name, (definition, _) in WORLDS[world](Path(place)).items()]
    total = count(compact({"tools": tools}))
    for item in rig.executions(world):
        total += count(compact({"name": item["name"], "arguments": item["arguments"]})) + count(compact(item["result"]))
    return total


def measured() -> list[dict[str, Any]]:
    """One row a task."""
    rows: list[dict[str, Any]] = []
    for task in TASKS:
        spent, plain = guarded(task, "compact")
        native, _ = guarded(task, "native")
        rows.append({"task": task.name, "direct": plain, "compact": spent, "native": native})
        print(json.dumps(rows[-1]), flush=True)
    return rows


def table(rows: list[dict[str, Any]]) -> str:
    """The rows and their total as Markdown."""
    total = {"task": "total"} | {key: sum(row[key] for row in rows) for key in ("direct", "compact", "native")}
    lines = ["| task | direct | compact | native | compact of direct |", "|---|---:|---:|---:|---:|"]
    for row in [*rows, total]:
        share = f"{100 * row['compact'] / row['direct']:.2f} %"
        lines.append(f"| {row['task']} | {row['direct']:,} | {row['compact']:,} | {row['native']:,} | {share} |")
    without = [row for row in rows if "5 MB" not in row["task"]]
    part = 100 * sum(row["compact"] for row in without) / sum(row["direct"] for row in without)
    return "\n".join(lines) + f"\n\nWithout the 5 MB log: {part:.1f} %.\n"


def main() -> None:
    text = table(measured())
    print(text)
    if "--write" in sys.argv:
        file = Path(sys.argv[sys.argv.index("--write") + 1])
        before, _, rest = file.read_text().partition(START)
        file.write_text(f"{before}{START}\n{text}{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
