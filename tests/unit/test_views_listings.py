"""What commands print: processes, folders, drawn trees, plans."""

from __future__ import annotations

import json

from slimguard.document import document_of, tables_of
from slimguard.model import Budget
from slimguard.tokens import Tokens
from slimguard.views.render import render_strictly

COUNTER = Tokens()
BUDGET = Budget(1_740, 6_900, 198, 2_000)


def document_with(text):
    return document_of(json.dumps({"content": [{"type": "text", "text": text}]}).encode())


def view_of(text):
    return render_strictly(document_with(text), BUDGET, COUNTER)


def test_processes_are_a_table_whose_last_column_takes_the_rest():
    rows = "\n".join(
        f"{'root' if place % 3 else 'app':9}{place * 7:6d} {398.2 if place == 25 else 1.5:5.1f} {9_000 + place:8d} /bin/run --part {place}"
        for place in range(60)
    )
    text = f"USER        PID  %CPU      RSS COMMAND\n{rows}\n"
    (table,) = tables_of(document_with(text))
    assert (table.kind, table.columns, table.count) == ("fixed", ("USER", "PID", "%CPU", "RSS", "COMMAND"), 60)
    assert table.rows[25] == ["root", 175, 398.2, 9025, "/bin/run --part 25"]
    assert "398.2 (175" in view_of(text).body


def test_a_long_listing_is_a_table_with_its_folders():
    folders = "\n\n".join(
        f"/srv/part{folder}:\ntotal 48\n"
        + "\n".join(
            f"-rw-r--r-- 1 root root {place * 100 + folder:8d} Nov 30 19:52 file {place}.py" for place in range(10)
        )
        for folder in range(8)
    )
    (table,) = tables_of(document_with(folders))
    assert table.columns == ("folder", "name", "size", "modified", "mode", "owner", "group")
    assert table.count == 80
    assert table.rows[0] == ["/srv/part0", "file 0.py", 0, "Nov 30 19:52", "-rw-r--r--", "root", "root"]


def test_text_in_capitals_is_no_table_of_processes():
    text = "THIS IS A LOUD HEADING\n" + "\n".join(
        f"and a line of prose that goes on number {place}" for place in range(40)
    )
    assert tables_of(document_with(text)) == ()


def test_a_drawn_tree_is_counted_by_folder():
    lines = ["."]
    for folder in range(30):
        lines.append(f"├── part{folder}")
        lines.extend(f"│   ├── file{place}.py" for place in range(9))
        lines.append("│   └── readme.md")
    lines += ["└── setup.cfg", "", "30 directories, 301 files"]
    view = view_of("\n".join(lines))
    assert view.kind == "drawn tree"
    assert "331 nodes, 30 with nodes below, depth 1" in view.body
    assert "part0 [10]" in view.body
    assert "files end in: .py 270, .md 30" in view.body
    assert "30 directories, 301 files" in view.body


def test_a_plan_tells_what_goes_and_why_first():
    lines = ["Terraform used the selected providers to generate the following execution plan.", ""]
    for place in range(60):
        lines += [
            f"  # aws_instance.web{place} will be created",
            f'  + resource "aws_instance" "web{place}" {{',
            "      + ami = 1",
            "    }",
            "",
        ]
    lines += [
        "  # aws_db_instance.ledger must be replaced",
        '-/+ resource "aws_db_instance" "ledger" {',
        '      ~ engine_version = "14.9" -> "16.3" # forces replacement',
        "        # (31 unchanged attributes hidden)",
        "    }",
        "",
        "Plan: 61 to add, 0 to change, 1 to destroy.",
    ]
    view = view_of("\n".join(lines))
    assert view.kind == "plan"
    assert "actions: created 60, replaced 1" in view.body
    assert "aws_db_instance.ledger: replaced" in view.body
    assert '~ engine_version = "14.9" -> "16.3" # forces replacement' in view.body
    assert "Plan: 61 to add, 0 to change, 1 to destroy." in view.body
