"""How rows are named to a reader: by titles and short identifiers of their own, never by what machines keep."""

from __future__ import annotations

import json

from slimguard.document import document_of, tables_of
from slimguard.views.columns import ranked


def columns_of(value):
    document = document_of(json.dumps({"content": [{"type": "text", "text": json.dumps(value)}]}).encode())
    return ranked(tables_of(document)[0])


def labels_of(value):
    return [column.name for column in columns_of(value).labels]


def hexes(place, size=40):
    return f"{place * 7919 + 3:x}".rjust(12, "a") * 4 if size == 40 else f"{place:032x}"


def test_commits_are_named_by_their_hash_and_message():
    commits = [
        {
            "sha": hexes(place)[:40],
            "node_id": f"C_kw{place:040d}",
            "commit": {
                "author": {"name": f"Author {place}", "email": f"a{place}@example.org"},
                "message": f"Change the part number {place}\n\nBecause it was asked for.",
            },
            "author": {"login": f"a{place}", "id": place * 31 + 5},
        }
        for place in range(40)
    ]
    assert labels_of(commits) == ["sha", "commit.message"]


def test_records_inside_an_envelope_of_ids_are_named_by_their_own_fields():
    records = [
        {
            "id": f"rec{place}Ab3xY9{place * 17}",
            "createdTime": f"2026-03-{place % 27 + 1:02d}T{place % 24:02d}:{place % 60:02d}:00Z",
            "fields": {"Company": f"Company {place}", "Stage": "won" if place % 3 else "lost", "Value": place * 10},
        }
        for place in range(40)
    ]
    assert "fields.Company" in labels_of(records)


def test_the_name_of_a_person_in_a_record_does_not_name_the_record():
    issues = [
        {
            "key": f"PAY-{place}",
            "fields": {
                "summary": f"Something is wrong with part {place}",
                "reporter": {"displayName": f"Reporter {place}"},
            },
        }
        for place in range(30)
    ]
    assert labels_of(issues) == ["key", "fields.summary"]


def test_a_name_is_preferred_to_a_copy_of_it_among_labels():
    items = [
        {
            "metadata": {
                "labels": {"app": f"web-{place}"},
                "name": f"web-{place}",
                "namespace": "a" if place % 2 else "b",
            }
        }
        for place in range(20)
    ]
    assert labels_of(items) == ["metadata.name"]


def test_processes_are_named_by_number_and_name_and_an_e_tag_is_no_column_worth_a_row():
    items = [{"Pid": 7000 - place * 3, "etag": f'"{place}00017{place}"', "Name": f"/box{place}"} for place in range(20)]
    found = columns_of(items)
    assert [column.name for column in found.labels] == ["Pid", "Name"]
    assert found.scores["etag"] < 0.2


def test_mail_headers_name_messages_by_subject():
    mails = [
        {
            "id": f"{place:016x}",
            "payload": {
                "headers": [
                    {"name": "From", "value": f"a{place % 5}@example.org"},
                    {"name": "Subject", "value": f"About the matter of {place}"},
                ]
            },
        }
        for place in range(20)
    ]
    assert "payload.headers[Subject]" in labels_of(mails)


def test_the_first_column_names_rows_of_a_text_table_rather_than_a_date():
    rows = "\n".join(f"Vendor {place},2026-03-{place + 1:02d},{place % 3}" for place in range(28))
    document = document_of(json.dumps({"content": [{"type": "text", "text": f"Vendor,Due,Tier\n{rows}"}]}).encode())
    assert [column.name for column in ranked(tables_of(document)[0]).labels] == ["Vendor"]
