"""The 24 tasks: what 12 English and 12 Chinese requests cost directly and through the guard, counted to the token."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from benchmarks.counting import Account, tokens
from benchmarks.model import Options, Part, Plot, Table, Verdict
from benchmarks.wire import REF, Peer, body, compact, guard_command, pages, script, server

HOW = """Twelve tools, 24 tasks, one `find_tool` and one `call_tool` a task on a 2025-11-25 connection. Counted for each
task: the prompt, `{"method":"tools/list"}` and its whole result (paid again for every task), each `tools/call` request
`{"name","arguments"}` and its whole result, as compact JSON. Two results have 700 lines with the marker in the last.
The published figures of others were counted in the same way, on their authors' own 12 tools and 24 tasks."""
SERVER = "freight"


@dataclass(frozen=True, slots=True)
class Task:
    """One request of a user: what is asked, what a model would search for, what it calls, what it must see."""

    prompt: str
    intent: str
    tool: str
    arguments: dict[str, Any]
    marker: str


TASKS = (
    Task(
        'Find shipments of "copper wire" and give me three.',
        "search shipments",
        "search_shipments",
        {"query": "copper wire", "locale": "en", "limit": 3},
        "SHIPMENTS:copper wire:en",
    ),
    Task(
        "搜索“铜线”的货运，给我三条。",
        "搜索货运",
        "search_shipments",
        {"query": "铜线", "locale": "zh", "limit": 3},
        "SHIPMENTS:铜线:zh",
    ),
    Task(
        "Write the full inspection report of vessel 9321483 and tell me its last line.",
        "write vessel inspection report",
        "inspect_vessel",
        {"imo_number": "9321483", "locale": "en", "detail": "full"},
        "INSPECTION:9321483:en:END",
    ),
    Task(
        "生成船舶 9703291 的完整检验报告，告诉我最后一行。",
        "生成船舶检验报告",
        "inspect_vessel",
        {"imo_number": "9703291", "locale": "zh", "detail": "full"},
        "INSPECTION:9703291:zh:END",
    ),
    Task(
        "Show container MSKU1234567 with its temperatures.",
        "get container temperature",
        "get_container",
        {"container_number": "MSKU1234567", "include_temperature": True},
        "MSKU1234567",
    ),
    Task("查看集装箱 CSNU7654321。", "获取集装箱", "get_container", {"container_number": "CSNU7654321"}, "CSNU7654321"),
    Task(
        "Where was vessel 9321483 in the last 12 hours?",
        "track vessel position",
        "track_vessel",
        {"imo_number": "9321483", "hours": 12},
        "9321483",
    ),
    Task("船舶 9703291 现在在哪里？", "跟踪船舶位置", "track_vessel", {"imo_number": "9703291"}, "9703291"),
    Task(
        "List the open bookings of customer C-204.",
        "list customer bookings",
        "list_bookings",
        {"customer_id": "C-204", "status": "open"},
        "C-204",
    ),
    Task(
        "列出客户 C-318 已确认的订舱。",
        "列出客户订舱",
        "list_bookings",
        {"customer_id": "C-318", "status": "confirmed"},
        "C-318",
    ),
    Task(
        "Get invoice INV-7781 with its payments.",
        "get invoice payments",
        "get_invoice",
        {"invoice_id": "INV-7781", "include_payments": True},
        "INV-7781",
    ),
    Task("获取发票 INV-9902。", "获取发票", "get_invoice", {"invoice_id": "INV-9902"}, "INV-9902"),
    Task(
        "Which critical delays does route SGSIN-NLRTM have?",
        "list route delays",
        "list_delays",
        {"route": "SGSIN-NLRTM", "severity": "critical"},
        "SGSIN-NLRTM",
    ),
    Task(
        "航线 CNSHA-DEHAM 有哪些严重延误？",
        "列出航线延误",
        "list_delays",
        {"route": "CNSHA-DEHAM", "severity": "major"},
        "CNSHA-DEHAM",
    ),
    Task(
        "Open an urgent claim: shipment SH-88 arrived wet.",
        "open damage claim",
        "open_claim",
        {"shipment_id": "SH-88", "summary": "The cargo arrived wet.", "urgency": "high"},
        "SH-88",
    ),
    Task(
        "为货运 SH-93 提交索赔：包装破损。",
        "提交货损索赔",
        "open_claim",
        {"shipment_id": "SH-93", "summary": "包装破损。", "urgency": "normal"},
        "SH-93",
    ),
    Task(
        "Read notice N-12 of the port of Rotterdam.",
        "read port notice",
        "read_notice",
        {"port": "NLRTM", "notice_id": "N-12"},
        "N-12",
    ),
    Task(
        "阅读上海港通告 N-30 的前 500 个字符。",
        "阅读港口通告",
        "read_notice",
        {"port": "CNSHA", "notice_id": "N-30", "max_chars": 500},
        "N-30",
    ),
    Task(
        "Convert 1200 US dollars to yuan.",
        "convert currency amount",
        "convert_currency",
        {"amount": 1200, "source": "USD", "target": "CNY"},
        "8700",
    ),
    Task(
        "把 400 欧元换算成人民币。",
        "换算货币",
        "convert_currency",
        {"amount": 400, "source": "EUR", "target": "CNY"},
        "2900",
    ),
    Task(
        "Quote two containers of coffee at 950 from Santos to Hamburg.",
        "quote freight between ports",
        "quote_freight",
        {"origin": "BRSSZ", "destination": "DEHAM", "items": [{"label": "coffee", "containers": 2, "rate": 950}]},
        "1900",
    ),
    Task(
        "计算三箱茶叶（每箱 800）从宁波到汉堡的运费。",
        "计算运费报价",
        "quote_freight",
        {"origin": "CNNGB", "destination": "DEHAM", "items": [{"label": "茶叶", "containers": 3, "rate": 800}]},
        "2400",
    ),
    Task(
        "Which berths of terminal T4 are free on 3 March?",
        "list free berths",
        "list_berths",
        {"terminal": "T4", "start": "2026-03-03", "end": "2026-03-04"},
        "T4",
    ),
    Task(
        "三月五日 T7 码头有哪些空闲泊位？",
        "列出空闲泊位",
        "list_berths",
        {
            "terminal": "T7",
            "start": "2026-03-05",
            "end": "2026-03-06",
            "timezone": "Asia/Shanghai",
        },
        "T7",
    ),
)


@dataclass(slots=True)
class Run:
    """One mode's account, and what came of its promises."""

    mode: str
    account: Account
    markers: int = 0
    upstream: int = 0
    recovered: int = 0
    recovery_tokens: int = 0
    tool_tokens: int = 0
    first_hits: int = 0
    """Tasks whose tool is the first or only one of the answer of `find_tool`."""


def run(options: Options) -> Part:
    """Direct, compact and extreme."""
    direct, truth = _direct(options)
    runs = [direct, *(_guarded(options, mode, truth) for mode in ("compact", "extreme"))]
    part = Part("tasks", "24 tasks", HOW)
    columns = ("mode", "prompts", "tools/list", "find_tool", "calls", "total", "share of direct")
    rows = [_row(one, direct.account.total) for one in runs]
    rows.append(["rival, published compact / shortest", 324, 6_840, 6_216, 3_291, "16,671 / 16,478", "23 %"])
    part.tables.append(Table("Tokens of all 24 tasks", columns, rows))
    columns = (
        "mode",
        "markers seen",
        "upstream calls",
        "exactly recovered",
        "right tool first",
        "tokens of tools/list",
    )
    rows = [[r.mode, r.markers, r.upstream, r.recovered, r.first_hits or "–", r.tool_tokens] for r in runs]
    part.tables.append(Table("What came of the promises", columns, rows))
    for one, bound in zip(runs[1:], (12_500, 12_000), strict=True):
        against = "16,671" if one.mode == "compact" else "16,478"
        part.verdicts.append(Verdict(f"24 tasks, {one.mode}", one.account.total, bound, "tokens", against=against))
        for name, value in (("markers", one.markers), ("calls", one.upstream), ("recovered", one.recovered)):
            part.verdicts.append(Verdict(f"24 tasks, {one.mode}: {name}", value, len(TASKS), exactly=True))
    part.verdicts.append(Verdict("tools/list", runs[1].tool_tokens, 270, "tokens", against="279"))
    bars = [(one.mode, float(one.account.total)) for one in runs]
    part.plots.append(Plot("tasks", "24 tasks, all that the host pays", [*bars, ("rival", 16_671.0)], "tokens"))
    return part


def _row(one: Run, direct: int) -> list[Any]:
    account = one.account
    share = f"{100 * account.total / direct:.1f} %"
    return [one.mode, account.prompts, account.lists, account.finds, account.calls, account.total, share]


def _direct(options: Options) -> tuple[Run, list[str]]:
    counter = options.scratch / "tasks-direct.jsonl"
    one, truth = Run("direct", Account()), []
    with Peer(script("bench_tasks"), env={"BENCH_COUNTER": str(counter)}) as peer:
        for task in TASKS:
            one.account.prompt(task.prompt)
            one.tool_tokens = tokens({"tools": one.account.listed(peer)})
            answer = one.account.call(peer, task.tool, task.arguments)
            one.markers += task.marker in compact(answer.result)
            one.recovered += 1
            truth.append(compact(answer.result))
    one.upstream = len(counter.read_text(encoding="utf-8").splitlines())
    return one, truth


def _guarded(options: Options, mode: str, truth: list[str]) -> Run:
    folder = options.scratch / f"tasks-{mode}"
    counter = options.scratch / f"tasks-{mode}.jsonl"
    command = guard_command(folder, {SERVER: server("bench_tasks", BENCH_COUNTER=str(counter))}, mode=mode)
    one = Run(mode, Account())
    with Peer(command) as peer:
        for task, whole in zip(TASKS, truth, strict=True):
            one.account.prompt(task.prompt)
            one.tool_tokens = tokens({"tools": one.account.listed(peer)})
            found = one.account.call(peer, "find_tool", {"query": task.intent}, "finds").text
            refs = re.findall(rf"\S*{SERVER}/\w+#\w+", found)
            ref = next((ref for ref in refs if f"/{task.tool}#" in ref), task.tool)
            one.first_hits += bool(refs) and refs[0] == ref
            answer = one.account.call(peer, "call_tool", {"tool_ref": ref, "arguments": task.arguments})
            one.markers += task.marker in compact(answer.result)
            exact, cost = recovered(peer, answer.result, answer.text, whole)
            one.recovered += exact
            one.recovery_tokens += cost
    one.upstream = _calls_as_asked(counter)
    return one


def _calls_as_asked(counter: Any) -> int:
    """Tasks whose call, and only whose, reached the upstream, in order and with these arguments."""
    lines = [json.loads(line) for line in counter.read_text(encoding="utf-8").splitlines()]
    expected = [{"name": task.tool, "arguments": task.arguments} for task in TASKS]
    return len(lines) if lines == expected else -len(lines)


def recovered(peer: Peer, result: dict[str, Any], text: str, whole: str) -> tuple[bool, int]:
    """Whether the exact result is what was delivered or can be read back byte for byte, and what reading cost."""
    found = REF.search(text.partition("\n")[0])
    if found is None:
        return compact(result) == whole, 0
    cost, parts = 0, []
    for request, answer in pages(peer, found[1], "raw:"):
        cost += tokens({"name": "read_result", "arguments": request}) + tokens(answer.result)
        parts.append(body(answer))
    return "".join(parts) == whole, cost
