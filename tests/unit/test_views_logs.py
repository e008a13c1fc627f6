"""Logs and the output of commands: traces kept with their errors, like errors together, what has no level found."""

from __future__ import annotations

import json

from slimguard.document import document_of
from slimguard.model import Budget
from slimguard.tokens import Tokens
from slimguard.views.render import render_strictly

COUNTER = Tokens()
BUDGET = Budget(1_740, 6_900, 198, 2_000)


def view_of(text):
    document = document_of(json.dumps({"content": [{"type": "text", "text": text}]}).encode())
    return render_strictly(document, BUDGET, COUNTER)


def spring_lines(count):
    return [
        f"2026-02-26 07:{place // 60 % 60:02d}:{place % 60:02d}.000  INFO 1 --- [exec-{place % 9}] shop.Service : step {place}"
        for place in range(count)
    ]


def test_a_trace_behind_a_blank_line_belongs_to_the_stamped_error_above():
    lines = spring_lines(2_000)
    trace = [
        "2026-02-26 07:16:40.000 ERROR 1 --- [exec-1] dispatcher : service threw an exception",
        "",
        "java.lang.IllegalStateException: ledger is closed",
        "\tat io.acme.Ledger.post(Ledger.java:44)",
        *(f"\tat org.framework.Filter{place}.run(Filter.java:{place})" for place in range(60)),
        "Caused by: java.sql.SQLException: no connection is available",
        "\tat com.pool.Pool.get(Pool.java:213)",
        "\t... 58 more",
    ]
    lines[1_000:1_000] = trace
    body = view_of("\n".join(lines)).body
    assert "java.lang.IllegalStateException: ledger is closed" in body
    assert "\tat io.acme.Ledger.post(Ledger.java:44)" in body
    assert "Caused by: java.sql.SQLException: no connection is available" in body
    assert "Filter30" not in body
    assert "step 1003" not in body


def test_errors_of_a_compiler_that_say_the_same_are_told_once():
    lines = [
        f"src/part{place}/file{place}.ts({place + 1},{place % 40}): error TS2322: Type 'a{place}' is not assignable to type 'b'."
        for place in range(200)
    ]
    lines[120] = "src/ledger/post.ts(88,14): error TS2554: Expected 3 arguments, but got 2."
    body = view_of("\n".join([*lines, "", "Found 200 errors in 91 files."])).body
    assert "L121: src/ledger/post.ts(88,14): error TS2554" in body
    assert "(×199, last L200)" in body


def test_the_source_lines_of_a_rust_error_are_shown():
    warnings = [f"warning: unused variable: `v{place}`" for place in range(40)]
    error = [
        "error[E0502]: cannot borrow `self.queue` as mutable",
        "   --> src/dispatch.rs:214:13",
        "    |",
        "214 |             self.queue.push(x);",
        "    |             ^^^^^^^^^^^^^^^^^^ mutable borrow occurs here",
        "",
        'error: could not compile `shop` (bin "shop") due to 1 previous error',
    ]
    body = view_of("\n".join([*warnings, *error])).body
    assert "214 |             self.queue.push(x);" in body
    assert "mutable borrow occurs here" in body


def test_an_access_log_is_no_search_output():
    lines = [
        f'10.0.{place % 7}.{place % 250} - - [26/Feb/2026:07:{place % 60:02d}:00 +0000] "GET /a/b HTTP/1.1" '
        f'{502 if place == 40 else 200} 512 "-" "Mozilla/5.0" rt=0.{place:03d}'
        for place in range(300)
    ]
    view = view_of("\n".join(lines))
    assert view.kind == "log"
    assert "HTTP status: 200 299, 502 1" in view.body
    assert "L41: " in view.body


def test_a_process_that_the_kernel_killed_is_found_without_a_level():
    lines = [
        f"Feb 26 07:{place // 60:02d}:{place % 60:02d} node-3 systemd[1]: step {place} done" for place in range(1_000)
    ]
    lines[700] = "Feb 26 07:11:40 node-3 kernel: [81233.1] Out of memory: Killed process 40112 (java)"
    assert "L701: Feb 26 07:11:40 node-3 kernel: [81233.1] Out of memory" in view_of("\n".join(lines)).body


def test_what_follows_an_accessibility_snapshot_is_shown():
    tree = [f'{"  " * (place % 4)}- button "Press {place}" [ref=e{place}]' for place in range(300)]
    text = "\n".join(
        ["### Page state", "- Page Title: Shop", "```yaml", *tree, "```", "### Events", "- [ERROR] POST /api/pay 402"]
    )
    view = view_of(text)
    assert view.kind == "accessibility snapshot"
    assert "- [ERROR] POST /api/pay 402" in view.body


def test_a_text_of_one_long_line_shows_its_beginning_and_its_end():
    view = view_of("It begins here. " + "And it goes on and on. " * 5_000 + "The code at its end is 4471.")
    body = view.body
    assert (view.shown, view.of) == ("the ends", "1 line")
    assert "It begins here." in body
    assert "The code at its end is 4471." in body
    assert "characters between" in body


def test_lines_that_are_all_shown_but_cut_are_not_called_whole():
    view = view_of(
        "\n".join(f"The {word} begins. " + "And it goes on. " * 900 for word in ["sun", "moon", "sea", "wind"])
    )
    assert view.shown == "4"
    assert view.of == "4 lines, long ones cut"


def test_the_sections_of_a_configuration_are_its_headings_and_comments_are_not():
    text = "\n".join(
        f"# about part {place}\n[tool.part{place}]\nkey_{place} = {place}\nother_{place} = true\n"
        for place in range(90)
    )
    body = view_of(text).body
    assert "[tool.part0]" in body.split("\n")[0]
    assert "[tool.part89]" in body
