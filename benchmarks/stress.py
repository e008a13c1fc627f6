"""The stress: 100 tools and a result of 8,000 rows; the normal path, a forced full read, equal hashes, one call."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from benchmarks.counting import Account, tokens
from benchmarks.model import Options, Part, Plot, Table, Verdict
from benchmarks.wire import REF, Answer, Peer, body, compact, guard_command, pages, script, server

HOW = """A catalog of 100 tools; one of them answers with a JSON list of 8,000 records in one text. The normal path is
what a task costs: prompt, `tools/list`, find, call, view. The full read adds every page of the result on top, and is
compared byte for byte (SHA-256) with what the server gives directly."""
PROMPT = "Search the news archive and tell me the marker of the first article."
QUERY = "search news archive"
TOOL = "search_news_archive"
ARGUMENTS = {"words": "harbour", "language": "en", "count": 8_000}
MARKER = "STRESS-MARKER-archive-complete"


@dataclass(frozen=True, slots=True)
class Run:
    """What one mode came to."""

    normal: int
    full: int
    parts: dict[str, int]
    marker: bool
    same: bool
    calls: int
    pages: int


def run(options: Options) -> Part:
    """Direct, compact and extreme."""
    direct, text = _direct()
    part = Part("stress", "Stress: 100 tools, 8,000 rows", HOW)
    columns = ("mode", "tools/list", "find", "call and view", "normal path", "full read", "full ÷ direct", "pages")
    table = Table("Tokens", columns, [["direct", direct.lists, 0, direct.calls, direct.total, direct.total, 1, 0]])
    for mode, bound, against in (("compact", 900, "1,440"), ("extreme", 700, "1,134")):
        one = _guarded(options, mode, text)
        ratio = round(one.full / direct.total, 4)
        cells = [one.parts["lists"], one.parts["finds"], one.parts["calls"], one.normal, one.full, ratio, one.pages]
        table.rows.append([mode, *cells])
        part.verdicts += [
            Verdict(f"stress, {mode}, normal path", one.normal, bound, "tokens", against=against),
            Verdict(f"stress, {mode}, full read", ratio, 1.05, "× direct", against="1.95"),
            Verdict(f"stress, {mode}: marker in the first view", one.marker, 1, exactly=True),
            Verdict(f"stress, {mode}: hashes equal", one.same, 1, exactly=True),
            Verdict(f"stress, {mode}: upstream calls", one.calls, 1, exactly=True),
        ]
    part.tables.append(table)
    bars = [(str(row[0]), float(row[4])) for row in table.rows]
    part.plots.append(Plot("stress", "Stress, normal path", [*bars, ("rival", 1_440.0)], "tokens", log=True))
    return part


def _direct() -> tuple[Account, str]:
    account = Account()
    with Peer(script("bench_stress")) as peer:
        account.prompt(PROMPT)
        account.listed(peer)
        answer = account.call(peer, TOOL, ARGUMENTS)
    return account, answer.text


def _guarded(options: Options, mode: str, text: str) -> Run:
    counter = options.scratch / f"stress-{mode}.jsonl"
    servers = {"news": server("bench_stress", BENCH_COUNTER=str(counter))}
    account = Account()
    with Peer(guard_command(options.scratch / f"stress-{mode}", servers, mode=mode)) as peer:
        account.prompt(PROMPT)
        account.listed(peer)
        found = account.call(peer, "find_tool", {"query": QUERY}, "finds").text
        refs = re.findall(rf"\S*news/{TOOL}#\w+", found)
        answer = account.call(peer, "call_tool", {"tool_ref": refs[0], "arguments": ARGUMENTS})
        normal, marker = account.total, MARKER in compact(answer.result)
        whole, count = _whole(peer, account, answer)
    calls = len(counter.read_text(encoding="utf-8").splitlines())
    same = hashlib.sha256(whole.encode()).digest() == hashlib.sha256(text.encode()).digest()
    return Run(normal, account.total, account.row(), marker, same, calls, count)


def _whole(peer: Peer, account: Account, answer: Answer) -> tuple[str, int]:
    """The whole text by its pages, paid for."""
    found = REF.search(answer.text)
    assert found is not None, answer.text[:300]
    parts = []
    for request, page in pages(peer, found[1], "block:0"):
        account.reads += tokens({"name": "read_result", "arguments": request}) + tokens(page.result)
        parts.append(body(page))
    return "".join(parts), len(parts)
