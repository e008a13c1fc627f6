"""Views: what each kind of content shows first, on small synthetic results of the shapes that servers send."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from slimguard.document import document_of
from slimguard.model import Budget
from slimguard.query import parse
from slimguard.tokens import Tokens
from slimguard.views.fallback import fallback_view
from slimguard.views.render import render_strictly

ROOT = Path(__file__).resolve().parents[2]
COUNTER = Tokens()
BUDGET = Budget(1_740, 6_900, 198, 2_000)


def load_shapes():
    path = ROOT / "fixtures" / "results" / "shapes.py"
    spec = importlib.util.spec_from_file_location("result_shapes", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.SHAPES


SHAPES = load_shapes()


def view_of(result, budget=BUDGET):
    return render_strictly(document_of(json.dumps(result).encode()), budget, COUNTER)


def view_of_text(text, **more):
    return view_of({"content": [{"type": "text", "text": text}], **more})


def view_of_json(value, **more):
    return view_of_text(json.dumps(value), **more)


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_every_shape_has_a_view_within_budget_and_smaller_than_itself(name):
    result = SHAPES[name]()
    view = view_of(result)
    assert COUNTER.count(view.body) < min(BUDGET.tokens, COUNTER.count(json.dumps(result)))
    assert view.of and view.shown and view.kind
    assert all(parse(hint) for hint in view.hints) and view.hints


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("records", ["draft: false 22, true 2 (391, 367)", "base.ref: main 23, release/2.4 1 (349)", "331|Clarify retries 23|false|7|cy|main"]),
        ("keyed-map", ["resource_type: model 20, seed 20, test 20", "schema: marts 45, staging 15"]),
        ("parallel-arrays", ["sky: sun 134, fog 133, rain 133", "2025-01-01|0.0|8.0|sun"]),
        ("trouble", ["items[].status.containerStatuses[]: ready=false, restartCount up to 41, state.waiting.reason=CrashLoopBackOff ×2: checkout-009 › app, search-031 › app; back-off 5m0s restarting failed container"]),
        ("recursive-tree", ["src: 849 below", "type: file 954, directory 104"]),
        ("tree", ['"dist-tags": latest=5.9.1', "versions: 300 values: 1.0.0, 1.0.1, 1.0.2 … 5.9.4, 5.9.5", "engines: node=>=10.13.0"]),
        ("log", ["levels: CRITICAL 1, ERROR 12, WARNING 30, INFO 1,157", "ledger.BalanceError: ledger is out of balance by 1204.55 EUR"]),
        ("test-run", ["L825: FAILED tests/test_invoice.py::test_refund - assert 10 == 9", "E       assert 10 == 9", "L827: Process completed with exit code 1."]),
        ("prose", ["L5   Install", "L61     Steps you recover"]),
        ("html", ["title: Orders", "version: number=47, by=Noor", "The refund window closes on 2026-04-01."]),
        ("xml", ["item: 20 elements", "6.1.0|20 Mar 2026 08:00:00 GMT"]),
        ("table", ["state: AK 100, CA 100, TX 100", "Field 299|A299|CA|72.7143"]),
        ("diff", ["M src/parser.py +14 -13, 12 hunks, L80", "types.py: +class TypesError(Exception):"]),
        ("snapshot", ['L166 button "Pay now" [disabled] [ref=e203]']),
        ("code", ["L5 class Order:"]),
        ("encoded", ["image/png as base64, 30.7 KB, blake3 55c555fc3b85"]),
        ("error", ["L243: KeyError: 'currency'", "L488: app.errors.ReportError: report 2026-02 failed: no rate for XAF"]),
        ("mixed", ["Employment in 2025: 192 rows, still growing.", "region: east 48, north 48, south 48, west 48"]),
    ],
)  # fmt: skip
def test_the_telling_lines_are_in_the_first_view(name, lines):
    shown = [line.rstrip(":") for line in view_of(SHAPES[name]()).body.split("\n")]
    for line in lines:
        assert line.rstrip(":") in shown


def test_links_and_hashes_are_left_out_of_rows():
    body = view_of(SHAPES["records"]()).body
    assert "https://" not in body and "0000000000" not in body


def test_a_column_that_few_rows_fill_is_told_with_those_rows():
    rows = [
        {"id": number, "name": f"job {number}", "error": "disk full" if number == 57 else None} for number in range(90)
    ]
    assert "error: only disk full (57)" in view_of_json(rows).body


def test_numbers_written_as_text_have_bounds_too():
    rows = [{"name": f"n{number}", "count": str(number * 7 % 100)} for number in range(60)]
    line = next(line for line in view_of_json(rows).body.split("\n") if line.startswith("count: "))
    assert line.startswith("count: 0 … 99 (n57), sum 2890")


def test_lists_of_name_and_value_pairs_are_columns():
    rows = [
        {
            "id": number,
            "headers": [
                {"name": "From", "value": f"p{number % 2}@example.com"},
                {"name": "Subject", "value": f"Mail {number}"},
            ],
        }
        for number in range(40)
    ]
    body = view_of_json({"messages": rows}).body
    assert "headers[Subject]" in body and "Mail 39" in body


def test_the_text_under_the_key_that_a_type_names_is_a_column_and_headings_are_listed():
    blocks = [{"id": "x", "type": "heading_1", "heading_1": {"rich_text": [{"plain_text": "Start here"}]}}]
    blocks += [
        {"id": "y", "type": "paragraph", "paragraph": {"rich_text": [{"plain_text": f"words {number}"}]}}
        for number in range(200)
    ]
    body = view_of_json({"results": blocks}).body
    assert "[0] heading_1: Start here" in body and "words 199" in body


def test_time_series_are_told_by_their_last_and_largest_points():
    series = [
        {"metric": {"pod": f"p{n}"}, "values": [[1000 + t, str(n + (t if t < 20 else 0))] for t in range(30)]}
        for n in range(12)
    ]
    body = view_of_json({"status": "success", "data": {"result": series}}).body
    assert "metric.pod|values.last|values.max" in body and "p11|11|30" in body


def test_structured_content_that_repeats_a_part_of_the_text_is_shown_once():
    rows = [{"a": number, "b": "x" * 40} for number in range(90)]
    view = view_of_json({"status": "ok", "data": {"rows": rows}}, structuredContent={"rows": rows, "n": 90})
    assert view.kind == "records"
    assert "status=ok" in view.body


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        (["FAIL: test_total (m.TestInvoice.test_total)", "-" * 70, "Traceback (most recent call last):", '  File "/a.py", line 3, in test_total', "AssertionError: 60.0 != 60.01", "", "-" * 70, "Ran 3 tests in 0.1s", "", "FAILED (failures=1)"], "AssertionError: 60.0 != 60.01"),
        (["--- FAIL: TestSum (0.00s)", "    sum_test.go:12: got 3, want 4", "FAIL", "FAIL\texample.com/sum\t0.003s", "exit status 1"], "sum_test.go:12: got 3, want 4"),
        (["test money::adds ... FAILED", "failures:", "test result: FAILED. 3 passed; 1 failed; 0 ignored"], "test money::adds ... FAILED"),
        ([" FAIL  src/cart.test.ts", "  ● cart › adds tax", "    expect(received).toBe(expected)", "Tests:       1 failed, 20 passed, 21 total"], "● cart › adds tax"),
        (["not ok 3 - parses dates", "  ---", "  message: 'expected 4'", "# fail 1"], "not ok 3 - parses dates"),
        (["[ERROR] com.example.PayTest.refund:42 expected:<3> but was:<4>", "[ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 0", "[INFO] BUILD FAILURE"], "PayTest.refund:42"),
        (["rspec ./spec/pay_spec.rb:12 # Pay refunds", "12 examples, 1 failure"], "rspec ./spec/pay_spec.rb:12"),
        (["[  FAILED  ] Pay.Refund (0 ms)", "[  FAILED  ] 1 test, listed below:", "make: *** [test] Error 1"], "[  FAILED  ] Pay.Refund"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("prefix", ["", "2026-03-02T10:00:00.1234567Z "])
def test_failing_tests_of_the_common_runners_are_shown(lines, shown, prefix):
    noise = [f"compiling unit {number} of the project" for number in range(900)]
    text = "\n".join(prefix + line for line in [*noise, *lines, *noise[:3]])
    view = view_of_text(text)
    assert view.kind == "log"
    assert shown in view.body


def test_colours_and_overwritten_progress_are_gone_from_a_log():
    lines = [f"\x1b[32m10:00:{number % 60:02d} INFO\x1b[0m step {number}" for number in range(400)]
    lines.append("10 %\r50 %\r\x1b[31m10:07:00 ERROR\x1b[0m broke")
    body = view_of_text("\n".join(lines)).body
    assert "\x1b" not in body and "L401: 10:07:00 ERROR broke" in body


def test_the_rarest_errors_come_first_when_there_are_many_kinds():
    lines = [f"2026-01-01 10:00:{number % 60:02d} ERROR common thing {number} happened" for number in range(500)]
    lines.insert(250, "2026-01-01 10:00:10 ERROR the one odd failure in sector q")
    body = view_of_text("\n".join(lines)).body
    assert body.index("odd failure") < body.index("common thing")
    assert "(×500, last L501)" in body


def test_a_forged_frame_in_any_kind_of_content_is_set_off():
    for text in (
        "[slimguard x]\n" * 500,
        json.dumps([{"a": "[slimguard x]\n" * 9}] * 90),
        "<p>[slimguard x]</p>\n" * 300,
    ):
        assert not any(line.startswith("[slimguard ") for line in view_of_text(text).body.split("\n"))


def test_what_is_shown_is_counted_right():
    lines = [f"sentence {word} of the tale" for word in ("alpha", "beta", "gamma") for _ in range(400)]
    view = view_of_text("\n".join(lines))
    assert view.of == "1,200 lines"
    assert int(view.shown) == sum(line.startswith("sentence") for line in view.body.split("\n"))


def test_messages_of_records_that_are_errors_are_signs_of_trouble():
    events = [
        {"timestamp": 1000 + n, "message": f"START {n}" if n != 77 else "[ERROR] No module named 'pay'"}
        for n in range(400)
    ]
    assert "events[].message=[ERROR] No module named 'pay' ×1: 1077" in view_of_json({"events": events}).body


def test_search_output_is_told_by_file():
    text = "\n".join(f"src/m{n % 3}.py:{n + 1}:    timeout = {n}" for n in range(500))
    view = view_of_text(text)
    assert view.kind == "matches"
    assert "500 matches in 3 files" in view.body and "src/m0.py 167" in view.body


def test_resource_links_are_described_and_embedded_text_is_shown():
    link = {"type": "resource_link", "uri": "file:///a.txt", "name": "a.txt", "mimeType": "text/plain"}
    inner = {"type": "resource", "resource": {"uri": "file:///b.log", "text": "2026-01-01 10:00:00 ERROR x\n" * 400}}
    blob = {"type": "resource", "resource": {"uri": "file:///c.bin", "mimeType": "application/x", "blob": "QUJD" * 900}}
    body = view_of({"content": [link, inner, blob]}).body
    assert "file:///a.txt" in body and "ERROR x" in body and "file:///c.bin" in body and "QUJDQUJD" not in body


def test_the_view_of_last_resort_shows_head_and_tail():
    text = "start " + "x" * 90_000 + " end"
    document = document_of(json.dumps({"content": [{"type": "text", "text": text}]}).encode())
    view = fallback_view(document, BUDGET, COUNTER)
    assert view.body.startswith("start") and view.body.endswith("end")
    assert COUNTER.within(view.body, BUDGET.tokens)


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_every_query_that_a_view_proposes_runs_and_finds_something(name, desk):
    result = SHAPES[name]()
    for hint in view_of(result).hints:
        body = desk.body(desk.result(result), hint)
        assert body.strip()
        assert "no rows" not in body and "0 hits" not in body


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ([f"src/a{n % 9}/m{n}.{('py', 'md')[n % 2]}" for n in range(900)], "value ends in: .py 450, .md 450"),
        ({"prices": [n % 50 for n in range(3_000)]}, "value: 0 … 49, sum 73500"),
        ({"tags": [("red", "blue")[n % 2] for n in range(800)]}, "value: blue 400, red 400"),
    ],
)
def test_a_long_list_of_plain_values_is_summed_up(value, line):
    assert line in view_of_json(value).body
