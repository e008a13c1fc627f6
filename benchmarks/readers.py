"""Readers: processor time of searches, pages, SELECTs and full reads on generated results of 10 MB, and their tokens.

`python -m benchmarks.readers` prints the table; `--shared FOLDER` (or SLIMGUARD_SHARED) also runs the oracles of the
given payloads' questions and says how many of them the readers answer.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.model import Options, Part, Table, Verdict
from slimguard import policy, readers
from slimguard.canonical import make_ref
from slimguard.document import document_of
from slimguard.errors import QueryRejected
from slimguard.model import Budget, StoredCall
from slimguard.store.tables import SqliteTables
from slimguard.tokens import Tokens

HOW = """Processor time of this process, best of three for what is repeated; results are made in the run, seeded. Tokens
are o200k_base of the compact JSON of request and answer. The bounds of time are meant for a quiet machine."""
TOKENS = Tokens()
REF = make_ref(b"bench-01")
SIZE = 10_000_000
NEEDLE = "2026-01-01 11:00:00,000 FATAL [w-1] ledger out of balance\n"


def run(options: Options) -> Part:
    """All measures; oracles only with the shared folder."""
    part = Part("readers", "Reading back", HOW)
    TOKENS.load()
    times = Table("Milliseconds of processor time", ("what", "first", "again"), [])
    size = SIZE // 10 if options.quick else SIZE
    for name, source, queries in _cases(size):
        for query, first_bound, again_bound in queries:
            context = _context()
            first, again = _timed(source, query, context), min(_timed(source, query, context) for _ in range(3))
            times.rows.append([f"{name}: {query[:60] or 'first page'}", round(first, 1), round(again, 1)])
            part.verdicts.append(
                Verdict(f"{name}, {query[:30] or 'first page'}, first", round(first), first_bound, "ms")
            )
            part.verdicts.append(
                Verdict(f"{name}, {query[:30] or 'first page'}, again", round(again), again_bound, "ms")
            )
    part.tables.append(times)
    part.tables.append(_full_reads(part, size // 20))
    part.tables.append(_hits(part))
    if options.shared is not None and (options.shared / "payloads" / "questions.jsonl").exists():
        part.tables.append(_oracles(part, options.shared / "payloads"))
    return part


def _cases(size: int) -> Iterator[tuple[str, readers.Source, list[tuple[str, float, float]]]]:
    text = log(size * 3 // 4) + NEEDLE + log(size // 4)
    queries = [
        ("", 100, 100),
        ("out of balance", 150, 150),
        ("nothing like this", 300, 300),
        ("/FATAL.*balance/", 700, 700),
    ]
    yield "log", _text(text), queries
    yield "Chinese", _text(chinese(size)), [("", 100, 100), ("脚本出错", 700, 150)]
    rows = [[f"c{number}" for number in range(10)]]
    table = [
        {name: (row * 7 if place % 2 else f"v{row % 97}") for place, name in enumerate(rows[0])}
        for row in range(size // 100)
    ]
    select = "sql:SELECT c0, count(*), sum(c1) FROM rows GROUP BY c0 ORDER BY 2 DESC LIMIT 5"
    last = str((len(table) - 1) * 7)
    words = [("v33", 150.0, 150.0), (last, 150.0, 150.0), ("nothing here", 200.0, 200.0), ("/v33/", 200.0, 200.0)]
    yield "rows", _json(table), [(select, 2_500, 200), ("select:length([?c1>`5000`])", 700, 700), *words]
    seen = ("outline", 2_500.0, 700.0)
    yield "rows, pretty-printed", _text(json.dumps(table[: size // 200], indent=2)), [seen, words[0]]
    yield "JSON lines", _text("\n".join(map(json.dumps, table[: size // 140]))), [seen, words[0]]
    nested = [{"id": n, "in": {"a": [{"id": k, "b": f"w{n * k % 89}"} for k in range(4)]}} for n in range(size // 130)]
    yield "nested records", _json(nested), [seen, ("w33", 250, 150), (f'"id":{len(nested) - 1}', 250, 150)]
    keyed = {f"user-{n}": {"id": n, "name": f"n{n % 97}", "mail": f"u{n}@example.org"} for n in range(size // 70)}
    yield "keyed map", _json(keyed), [seen, ("n33", 150, 150), (f"u{len(keyed) - 1}@", 150, 150)]
    yield "a log in one string", _json({"log": log(size), "n": 1}), [("out of balance", 300, 300), ("w-3", 150, 150)]


def _full_reads(part: Part, size: int) -> Table:
    """Tokens of all pages, requests included, over the tokens of the text in a message."""
    table = Table("A full read in pages ÷ tokens of the text", ("text", "default pages", "strict pages"), [])
    texts = {
        "log": log(size),
        "prose": prose(size),
        "JSON": json.dumps([{"id": n, "name": f"row {n}", "score": n / 7} for n in range(size // 40)]),
        "Chinese": chinese(size),
        "base64": random.Random(1).randbytes(size * 3 // 4).hex(),
        "emoji": "🎉👩‍👩‍👧‍👦🇬🇷 ok " * (size // 60),
    }
    for name, text in texts.items():
        whole = TOKENS.count(json.dumps(text, ensure_ascii=False))
        row: list[Any] = [name]
        for budget, bound in ((policy.PAGE_BUDGET, 1.05), (policy.STRICT_PAGE_BUDGET, 1.12)):
            body, spent = _read_all(_text(text), budget)
            ratio = round(spent / whole, 3)
            row.append(ratio)
            part.verdicts.append(Verdict(f"full read, {name}, {budget.bytes} bytes", ratio, bound, "×"))
            part.verdicts.append(Verdict(f"full read, {name}, exact", float(body == text), 1, exactly=True))
        table.rows.append(row)
    return table


def _hits(part: Part) -> Table:
    """Tokens of one search with its answer, where one line or value is the hit."""
    rows = [{"id": n, "name": f"row {n}", "note": "nothing to see here, " * 4} for n in range(4_000)]
    rows[3210]["note"] = "the ledger is out of balance"
    table = Table("Tokens of a hit, request and answer", ("in", "tokens"), [])
    for name, source in (
        ("log of 1 MB", _text(log(600_000) + NEEDLE + log(400_000))),
        ("one-line JSON of 500 KB", _json({"data": {"rows": rows}})),
        ("prose of 200 KB", _text(prose(120_000) + "\nThe ledger is out of balance.\n\n" + prose(80_000))),
    ):
        cost = _cost("out of balance", "", readers.read([source], "out of balance", "", _context()).text)
        table.rows.append([name, cost])
        part.verdicts.append(Verdict(f"hit in {name}", cost, 200, "tokens"))
    return table


def _oracles(part: Part, folder: Path) -> Table:
    """The select, sql and items oracles of the questions, run on the payloads: each must show the answer."""
    sys.path.insert(0, str(folder))
    from bench import all_visible, questions  # pyright: ignore[reportMissingImports]

    shown: dict[str, list[int]] = {}
    missing: list[str] = []
    for question in questions():
        raw = gzip.decompress((folder / "payloads" / f"{question['payload']}.json.gz").read_bytes())
        source = readers.Source(REF, document_of(raw), _row())
        for key in question["oracle"]["order"]:
            kind = key.rstrip("2")
            query = _oracle_query(kind, question["oracle"][key], question["oracle"].get("table", ""))
            if query is None or question["oracle_yields"].get(key) is not True:
                continue
            try:
                text = readers.read([source], query, "", _context()).text
            except QueryRejected as error:
                text = error.message
            good = bool(all_visible(question["answer_needles"], text))
            count = shown.setdefault(kind, [0, 0])
            count[0] += good
            count[1] += 1
            if not good:
                missing.append(f"{question['id']} {key}")
    part.verdicts.extend(
        Verdict(f"oracles shown, {kind}", good, count, exactly=True)
        for kind, (good, count) in shown.items()
        if kind in ("select", "sql", "items")
    )
    rows: list[list[Any]] = [[kind, good, count] for kind, (good, count) in shown.items()]
    rows.append(["not shown", ", ".join(missing), len(missing)])
    return Table("Oracles of the given questions", ("query", "shown", "of"), rows)


def _oracle_query(kind: str, text: str, table: str) -> str | None:
    path = table.strip("|")
    name = {"$": "result", "$csv": "csv", "$md": "table"}.get(path, path.split(".")[-1])
    queries = {
        "search": text,
        "regex": f"/{text}/",
        "select": f"select:{text}",
        "sql": "sql:" + text.replace("{T}", f'"{name}"'),
        "items": f"items:{text}",
        "lines": f"lines:{text}",
    }
    return queries.get(kind)


def log(size: int) -> str:
    """A log of about `size` characters."""
    chance = random.Random(5)
    lines: list[str] = []
    for n in range(size // 80):
        time_text = f"2026-01-01 10:{n // 60 % 60:02d}:{n % 60:02d},{n % 1000:03d}"
        lines.append(f"{time_text} INFO [w-{n % 7}] http req={chance.randrange(1 << 32):08x} GET /api/{n % 50}\n")
    return "".join(lines)


def prose(size: int) -> str:
    """English sentences in lines, about `size` characters."""
    words = ("the", "a", "report", "shows", "every", "result", "that", "was", "read", "before", "noon", "and", "kept")
    chance = random.Random(7)
    lines = [" ".join(chance.choice(words) for _ in range(14)).capitalize() + ".\n" for _ in range(size // 70)]
    return "".join(lines)


def chinese(size: int) -> str:
    """Chinese sentences in lines; `size` is in bytes."""
    parts = ["设置了这个变量时", "脚本会继续执行", "否则返回三", "请查看日志", "结果保存在表中", "单位是毫秒"]
    chance = random.Random(9)
    return "".join("，".join(chance.choice(parts) for _ in range(5)) + "。\n" for _ in range(size // 110))


def _timed(source: readers.Source, query: str, context: readers.ReadContext) -> float:
    started = time.process_time()
    readers.read([source], query, "", context)
    return (time.process_time() - started) * 1000


def _read_all(source: readers.Source, budget: Budget) -> tuple[str, int]:
    context = _context(budget)
    bodies: list[str] = []
    cursor, spent = "", 0
    while True:
        text = readers.read([source], "", cursor, context).text
        spent += _cost("", cursor, text)
        bodies.append(text.partition("\n")[2].rpartition("\n")[0])
        _, more, rest = text.rpartition("\n")[2].partition('cursor="')
        if not more:
            return "".join(bodies), spent
        cursor = rest.partition('"')[0]


def _cost(query: str, cursor: str, text: str) -> int:
    given = {"result_ref": REF, "query": query, "cursor": cursor}
    request = {"name": "read_result", "arguments": {key: value for key, value in given.items() if value}}
    answer = {"content": [{"type": "text", "text": text}]}
    return sum(
        TOKENS.count(json.dumps(value, ensure_ascii=False, separators=(",", ":"))) for value in (request, answer)
    )


def _text(text: str) -> readers.Source:
    raw = json.dumps({"content": [{"type": "text", "text": text}]}, ensure_ascii=False).encode()
    return readers.Source(REF, document_of(raw), _row())


def _json(value: Any) -> readers.Source:
    return _text(json.dumps(value, separators=(",", ":")))


def _row() -> StoredCall:
    return StoredCall(REF, "owner", "scope", "server", "tool", "digest", "stored", 0.0, 1e12)


def _context(page: Budget = policy.PAGE_BUDGET) -> readers.ReadContext:
    return readers.ReadContext(policy.VIEW_BUDGET, page, TOKENS, SqliteTables(), b"k" * 32, "owner", time.monotonic)


def main() -> int:
    """Print the tables and verdicts; 1 when a bound does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--shared", default=os.environ.get("SLIMGUARD_SHARED", ""))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        shared = Path(given.shared) if given.shared else None
        part = run(Options(Path(scratch), quick=given.quick, shared=shared))
    for table in part.tables:
        print(f"\n{table.title}\n" + " | ".join(table.columns))
        for row in table.rows:
            print(" | ".join(map(str, row)))
    failed = [verdict for verdict in part.verdicts if not verdict.holds]
    for verdict in failed:
        print(f"NOT HELD: {verdict.measure}: {verdict.value} {verdict.unit}, bound {verdict.bound}")
    print(f"\n{len(part.verdicts) - len(failed)} of {len(part.verdicts)} bounds hold")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
