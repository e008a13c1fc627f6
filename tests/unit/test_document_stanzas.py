"""Records written as blocks of lines are tables: sections, calendar entries, commits, mails, stanzas; prose is not."""

from __future__ import annotations

import json

import pytest

from slimguard.document import document_of, tables_of
from slimguard.model import Budget
from slimguard.tokens import Tokens
from slimguard.views.render import render_strictly

COUNTER = Tokens()
BUDGET = Budget(1_740, 6_900, 198, 2_000)


def document_with(text):
    return document_of(json.dumps({"content": [{"type": "text", "text": text}]}).encode())


def table_of(text):
    (table,) = tables_of(document_with(text))
    return table


def view_of(text):
    return render_strictly(document_with(text), BUDGET, COUNTER)


def sections(count):
    return "\n".join(
        f"[service.{place}]\n; what it does\nenabled = {'false' if place == 61 else 'true'}\nport = {8000 + place}\n"
        for place in range(count)
    )


def calendar(count):
    entries = "".join(
        f"BEGIN:VEVENT\r\nUID:{place}\r\nDTSTART;TZID=Europe/Berlin:202603{place % 28 + 1:02d}T090000\r\n"
        f"SUMMARY:{'Key ceremony' if place == 9 else f'Meeting {place}'}\r\nDESCRIPTION:A long text that is\r\n"
        f"  folded\r\nSTATUS:{'CANCELLED' if place == 12 else 'CONFIRMED'}\r\nEND:VEVENT\r\n"
        for place in range(count)
    )
    return f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\n{entries}END:VCALENDAR\r\n"


def commits(count):
    return "\n".join(
        f"commit {place:040x}\nAuthor: Author {place % 3} <a@example.org>\nDate:   Thu Feb 26 07:00:00 2026\n\n"
        f"    Change part {place}\n\n    Because it was asked for.\n\n 2 files changed, {place} insertions(+)\n"
        for place in range(count)
    )


def test_sections_of_a_configuration_are_rows():
    table = table_of(sections(100))
    assert (table.kind, table.columns, table.count) == ("stanzas", ("section", "enabled", "port"), 100)
    assert table.rows[61] == ["service.61", "false", 8061]
    body = view_of(sections(100)).body
    assert "enabled: true 99, false 1 (service.61)" in body


def test_packages_of_a_lock_file_are_rows_with_their_rare_source():
    text = "version = 4\n\n" + "\n".join(
        f'[[package]]\nname = "part-{place}"\nversion = "1.{place}.0"\n'
        f'source = "{"git+https://example.org/fork" if place == 7 else "registry+https://example.org/index"}"\n'
        f'dependencies = [\n "part-{place + 1}",\n]\n'
        for place in range(40)
    )
    table = table_of(text)
    assert table.columns == ("section", "name", "version", "source", "dependencies")
    assert table.rows[7][1:4] == ["part-7", "1.7.0", "git+https://example.org/fork"]
    assert "git+https://example.org/fork 1 (part-7)" in view_of(text).body


def test_entries_of_a_calendar_are_rows_and_folded_lines_are_joined():
    table = table_of(calendar(30))
    assert table.count == 30
    assert table.columns[:3] == ("UID", "DTSTART", "SUMMARY")
    assert table.rows[9][table.columns.index("DESCRIPTION")] == "A long text that is folded"
    assert "STATUS: CONFIRMED 29, CANCELLED 1 (Meeting 12)" in view_of(calendar(30)).body


def test_commits_are_rows_with_their_subject_and_statistics():
    table = table_of(commits(40))
    assert table.columns == ("commit", "Author", "Date", "subject", "changed")
    assert table.rows[3][3:] == ["Change part 3", "2 files changed, 3 insertions(+)"]


def test_mails_of_a_mailbox_are_rows_with_their_text():
    text = "".join(
        f"From a{place}@example.org Thu Feb 26 07:00:00 2026\nFrom: A {place} <a@example.org>\nSubject: About {place}\n\n"
        f"Dear all,\nNote: this is no header.\n\n"
        for place in range(20)
    )
    table = table_of(text)
    assert table.columns == ("From", "Subject", "text")
    assert table.rows[4] == ["A 4 <a@example.org>", "About 4", "Dear all, Note: this is no header."]


def test_stanzas_with_nested_pairs_are_rows_with_dotted_columns():
    text = "\n\n".join(
        f"Name:   pod-{place}\nNode:   node-1\nStatus: Running\nContainers:\n  app:\n    Image:   web:{place}\n"
        f"    State:   {'Waiting' if place == 5 else 'Running'}\n    Reason:  {'CrashLoopBackOff' if place == 5 else 'Fine'}"
        for place in range(12)
    )
    table = table_of(text)
    assert table.columns == (
        "Name",
        "Node",
        "Status",
        "Containers",
        "Containers.Image",
        "Containers.State",
        "Containers.Reason",
    )
    assert "Containers.Reason: Fine 11, CrashLoopBackOff 1 (pod-5)" in view_of(text).body


@pytest.mark.parametrize(
    "text",
    [
        "\n\n".join(f"Alice: how are you, {place}?\n\nBob: fine, thank you" for place in range(20)),
        "\n\n".join(f"Note: this is paragraph {place} of a text that goes on for some time." for place in range(20)),
        "[tool.one]\na = 1\n[tool.two]\nb = 2\n[tool.three]\nc = 3\n[tool.four]\nd = 4\n[tool.five]\ne = 5\n",
        "\n".join(f"[INFO] step {place} = done" for place in range(60)),
        "BEGIN:VCALENDAR\nVERSION:2.0\nEND:VCALENDAR\n",
    ],
)
def test_other_texts_are_no_blocks(text):
    assert all(table.kind != "stanzas" for table in tables_of(document_with(text)))
