"""How much processor time a view takes, as ratios to parsing and to reading the text, and how large it is."""

from __future__ import annotations

import importlib.util
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.counting import tokens
from benchmarks.model import Options, Part, Plot, Table, Verdict
from slimguard.delivery import deliver
from slimguard.document import document_of
from slimguard.model import StoredCall
from slimguard.policy import VIEW_BUDGET
from slimguard.tokens import Tokens

HOW = (
    "Processor time of `deliver` on results that are parsed already, medians; `json.loads` and splitting the text into "
    "lines are measured in the same run on the same bytes. Results are synthetic, scaled to about 1 and 10 MB."
)
ROOT = Path(__file__).resolve().parents[1]
CALL = StoredCall("r0123456789abcd", "owner", "scope", "server", "tool", "digest", "stored", 0.0, 1.0)
MEGABYTE = 1_000_000
BOUND_1_MB = 0.1
BOUND_10_MB = 1.5
VIEW_TOKENS = 2_000


def run(options: Options) -> Part:
    """Views of synthetic results of 1 and 10 MB, then of the given payloads when there are some."""
    part = Part("views", "Views", HOW)
    counter = Tokens()
    counter.load()
    rounds = 3 if options.quick else 7
    sizes = [MEGABYTE] if options.quick else [MEGABYTE, 10 * MEGABYTE]
    table = Table(
        "Synthetic results", ("shape", "MB", "json.loads ms", "lines ms", "view ms", "view ÷ loads", "tokens"), []
    )
    worst: dict[int, float] = {}
    for name, make in SCALED.items():
        for size in sizes:
            row, seconds = _measured(name, make(size), counter, rounds if size == MEGABYTE else 2)
            table.rows.append(row)
            worst[size] = max(worst.get(size, 0.0), seconds / (float(row[1]) / (size / MEGABYTE)))
    part.tables.append(table)
    part.verdicts.append(Verdict("slowest view of 1 MB", round(worst[MEGABYTE], 3), BOUND_1_MB, "s"))
    if 10 * MEGABYTE in worst:
        part.verdicts.append(Verdict("slowest view of 10 MB", round(worst[10 * MEGABYTE], 3), BOUND_10_MB, "s"))
    part.plots.append(
        Plot("views", "View of 1 MB", [(str(row[0]), float(row[4])) for row in table.rows if row[1] < 3], "ms")
    )
    if options.shared is not None:
        _payloads(options.shared, counter, part)
    part.failed = any(not verdict.holds for verdict in part.verdicts)
    return part


def _measured(name: str, result: dict[str, Any], counter: Tokens, rounds: int) -> tuple[list[Any], float]:
    raw = json.dumps(result, ensure_ascii=False).encode()
    text = raw.decode()
    loads = _median(lambda: json.loads(text), rounds)
    inner = result["content"][0]["text"]
    lines = _median(lambda: inner.split("\n"), rounds)
    documents = [document_of(raw) for _ in range(rounds)]
    taken: list[float] = []
    answer = ""
    for document in documents:
        _ = [block.json for block in document.blocks]
        start = time.process_time()
        reply = deliver(document, CALL, None, VIEW_BUDGET, counter)
        taken.append(time.process_time() - start)
        answer = reply.text or ""
    view = statistics.median(taken)
    size = len(raw) / MEGABYTE
    row = [
        name,
        round(size, 1),
        round(loads * 1e3, 1),
        round(lines * 1e3, 1),
        round(view * 1e3, 1),
        round(view / max(loads, 1e-6), 1),
        tokens(answer),
    ]
    return row, view


def _median(function: Callable[[], object], rounds: int) -> float:
    taken: list[float] = []
    for _ in range(rounds):
        start = time.process_time()
        function()
        taken.append(time.process_time() - start)
    return statistics.median(taken)


def _payloads(shared: Path, counter: Tokens, part: Part) -> None:
    """The given payloads: size, first view, and how many of the questions it answers."""
    folder = shared / "payloads"
    if not (folder / "bench.py").exists():
        return
    bench = _module(folder / "bench.py")
    questions = [
        json.loads(line) for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines() if line
    ]
    table = Table("Given payloads", ("payload", "tokens", "first view", "bytes", "answered", "asked"), [])
    answered = asked = 0
    for name in bench.index():
        raw = json.dumps(bench.load(name), ensure_ascii=False).encode()
        text = deliver(document_of(raw), CALL, None, VIEW_BUDGET, counter).text or ""
        shown = bench.plain(json.dumps({"content": [{"type": "text", "text": text}]}, ensure_ascii=False))
        squashed = bench.squash(shown)
        mine = [item for item in questions if item["payload"] == name]
        good = sum(
            not item.get("query_only")
            and all(
                bench.visible(word, shown, squashed)
                for word in [*item["answer_needles"], *(item.get("view_needles") or [])]
            )
            for item in mine
        )
        answered, asked = answered + good, asked + len(mine)
        table.rows.append([name, counter.estimate(raw.decode()), tokens(text), len(text.encode()), good, len(mine)])
    part.tables.append(table)
    part.verdicts.append(Verdict("largest first view", max(float(row[2]) for row in table.rows), VIEW_TOKENS, "tokens"))
    part.verdicts.append(
        Verdict("median first view", statistics.median(float(row[2]) for row in table.rows), 900, "tokens")
    )
    part.verdicts.append(
        Verdict("questions not answered by the first view", round(1 - answered / max(1, asked), 3), 0.6)
    )


def _module(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("given_bench", path)
    if spec is None or spec.loader is None:
        raise ImportError(str(path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _text(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}


def _records(size: int) -> dict[str, Any]:
    rows = [
        {"id": number, "customer": f"C{number * 7 % 2400:05d}", "at": f"2026-03-{number % 28 + 1:02d}T07:02:00Z",
         "status": ("open", "paid", "refunded")[number % 3], "price": round(number * 0.37 % 400, 2),
         "note": None, "tags": ["a", "b"]}
        for number in range(size // 125)
    ]  # fmt: skip
    return _text(json.dumps({"rows": rows, "row_count": len(rows)}))


def _nested(size: int) -> dict[str, Any]:
    pods = [
        {"metadata": {"name": f"pod-{number}", "uid": f"{number:032x}", "labels": {"app": f"a{number % 9}"}},
         "spec": {"containers": [{"name": "c", "image": "x:1", "env": [{"name": "LEVEL", "value": "info"}]}]},
         "status": {"phase": "Running", "containerStatuses": [{"name": "c", "ready": number != 77, "restartCount": 0}]}}
        for number in range(size // 330)
    ]  # fmt: skip
    return _text(json.dumps({"items": pods}))


def _tree(size: int) -> dict[str, Any]:
    def folder(name: str, depth: int, width: int) -> dict[str, Any]:
        if depth == 0:
            return {"name": f"{name}.py", "type": "file"}
        return {
            "name": name,
            "type": "directory",
            "children": [folder(f"{name}{n}", depth - 1, width) for n in range(width)],
        }

    return _text(json.dumps([folder("src", 4, max(2, round((size / 50) ** 0.25)))]))


def _level(number: int) -> str:
    return "ERROR" if number % 900 == 5 else "INFO"


def _log(size: int) -> dict[str, Any]:
    lines = [
        f"2026-03-14 00:{number // 60 % 60:02d}:{number % 60:02d},276 {_level(number)} [worker-{number % 9}] http "
        f"req={number:08x} GET /api/orders 200 {number % 400}ms"
        for number in range(size // 88)
    ]
    return _text("\n".join(lines))


def _build(size: int) -> dict[str, Any]:
    return _text(
        "\n".join(
            f"test_case_{number} (tests.test_orders.TestOrders.test_case_{number}) ... ok"
            for number in range(size // 78)
        )
    )


def _prose(size: int) -> dict[str, Any]:
    return _text(
        "".join(
            f"## Chapter {number}\n\n{'Some words that say what to do. ' * 20}\n\n" for number in range(size // 660)
        )
    )


def _csv(size: int) -> dict[str, Any]:
    return _text(
        "id,name,state,latitude\n"
        + "".join(f"{n},Field {n},{('AK', 'TX')[n % 2]},{30 + n / 7:.4f}\n" for n in range(size // 28))
    )


def _xml(size: int) -> dict[str, Any]:
    cases = "".join(
        f'<testcase classname="tests.a{n % 9}" name="test_{n}" time="0.0{n % 9}"/>' for n in range(size // 66)
    )
    return _text(f"<testsuite name='x'>{cases}</testsuite>")


def _html(size: int) -> dict[str, Any]:
    parts = "".join(
        f"<h2 id='s{n}'>Section {n}</h2><p>Some <b>visible</b> words &amp; a <a href='/x'>link</a>.</p>"
        for n in range(size // 92)
    )
    return _text(f"<html><body><h1>T</h1>{parts}</body></html>")


def _diff(size: int) -> dict[str, Any]:
    hunk = "@@ -1,4 +1,4 @@\n context\n-old = 1\n+new = 2\n+def added(value):\n context\n"
    return _text(
        "".join(
            f"diff --git a/f{n}.py b/f{n}.py\n--- a/f{n}.py\n+++ b/f{n}.py\n{hunk * 12}" for n in range(size // 900)
        )
    )


SCALED: dict[str, Callable[[int], dict[str, Any]]] = {
    "records": _records,
    "nested records": _nested,
    "tree": _tree,
    "log": _log,
    "build output": _build,
    "prose": _prose,
    "csv": _csv,
    "xml": _xml,
    "html": _html,
    "diff": _diff,
}
"""Shapes and what makes one of about a size in bytes."""
