"""Columns that are made of others: typed members, pairs, maps by column, envelopes of records, sparse columns."""

from __future__ import annotations

import json

from slimguard.document import document_of, tables_of
from slimguard.model import Budget
from slimguard.tokens import Tokens
from slimguard.views.render import render_strictly

COUNTER = Tokens()
BUDGET = Budget(1_740, 6_900, 198, 2_000)


def document_with(value):
    return document_of(json.dumps({"content": [{"type": "text", "text": json.dumps(value)}]}).encode())


def body_of(value):
    return render_strictly(document_with(value), BUDGET, COUNTER).body


def test_typed_properties_are_columns_by_their_name():
    pages = [
        {
            "object": "page",
            "id": f"{place:032x}",
            "properties": {
                "Status": {
                    "id": "a",
                    "type": "status",
                    "status": {"id": "1", "name": "Blocked" if place == 7 else "Live"},
                },
                "Effort": {"id": "b", "type": "number", "number": place % 5},
                "Name": {
                    "id": "title",
                    "type": "title",
                    "title": [{"type": "text", "plain_text": f"Page about {place}"}],
                },
            },
        }
        for place in range(40)
    ]
    body = body_of({"object": "list", "results": pages})
    assert "properties.Status: Live 39, Blocked 1 (Page about 7)" in body
    assert "properties.Effort: 0 8" in body


def test_pairs_of_a_time_and_a_value_are_told_by_their_value():
    body = body_of(
        {
            "result": [
                {"metric": {"instance": f"10.0.0.{place}:9100"}, "value": [1772000000.5, "0" if place == 3 else "1"]}
                for place in range(60)
            ]
        }
    )
    assert "value[1]: 1 59, 0 1 (10.0.0.3:9100)" in body
    assert "value[0]=1772000000.5" in body


def test_lists_of_two_likes_stay_lists():
    body = body_of([{"name": f"n{place}", "labels": ["bug", "infra" if place % 2 else "web"]} for place in range(30)])
    assert "labels[0]" not in body


def test_maps_by_column_are_one_table():
    frame = {
        "city": {str(place): f"Town {place}" for place in range(200)},
        "temp": {str(place): 48.5 if place == 71 else place % 30 for place in range(200)},
    }
    (table,) = tables_of(document_with(frame))
    assert (table.columns, table.count) == (("_key", "city", "temp"), 200)
    assert table.rows[71] == ["71", "Town 71", 48.5]
    assert "48.5" in body_of(frame)


def test_like_records_by_key_stay_a_keyed_map():
    keyed = {f"pod-{place}": {"phase": "Running", "restarts": 0, "node": "n1", "age": place} for place in range(30)}
    (table,) = tables_of(document_with(keyed))
    assert table.columns == ("_key", "phase", "restarts", "node", "age")


def test_records_in_bare_envelopes_are_shown_themselves():
    reservations = [
        {
            "ReservationId": f"r-{place:017x}",
            "OwnerId": "123456789012",
            "Instances": [
                {
                    "InstanceId": f"i-{place * 977:015x}",
                    "InstanceType": "m6i.large" if place % 2 else "t3.micro",
                    "State": {"Name": "stopped" if place == 5 else "running"},
                    "Tags": [{"Key": "Name", "Value": f"web-{place}"}, {"Key": "Env", "Value": "prod"}],
                }
            ],
        }
        for place in range(40)
    ]
    body = body_of({"Reservations": reservations})
    assert "Reservations[].Instances[]: 40 rows" in body
    assert f"State.Name: running 39, stopped 1 (i-{5 * 977:015x})" in body


def test_many_sparse_columns_do_not_push_out_what_is_counted():
    rows = [{"id": place, f"extra_{place}": place, "state": "open" if place % 2 else "shut"} for place in range(60)]
    body = body_of(rows)
    assert "state: open 30, shut 30" in body
    assert "more columns that few rows fill" in body


def test_a_matrix_tells_its_smallest_and_largest_cell():
    matrix = [[0.5 + ((row * 37 + column * 101) ** 2 % 997) / 9000 for column in range(30)] for row in range(30)]
    matrix[17][22] = -0.9
    assert "all 30 columns of numbers: -0.9 (row 17, c22)" in body_of({"matrix": matrix})


def test_log_lines_beside_their_times_show_their_errors():
    lines = [[str(1772000000 + place), "level=info msg=done"] for place in range(100)]
    lines[40][1] = 'level=error msg="signing key not found"'
    body = body_of({"data": {"result": [{"stream": {"app": "auth"}, "values": lines}]}})
    assert 'level=error msg="signing key not found"' in body


def test_a_loud_message_keeps_its_end():
    message = (
        "[ERROR] request failed\nTraceback (most recent call last):\n" + "  frame\n" * 60 + "TimeoutError: carrier"
    )
    rows = [{"time": place, "message": message if place == 9 else "fine, nothing to see"} for place in range(50)]
    assert "TimeoutError: carrier ×1" in body_of({"events": rows})


def test_comments_in_a_tree_are_named_by_their_text():
    def comment(place, depth):
        below = [comment(place * 3 + child, depth + 1) for child in range(2)] if depth < 4 else []
        return {"id": place, "by": f"user{place}", "text": f"Comment number {place} on this", "kids": below}

    body = body_of({"id": 1, "title": "A story", "kids": [comment(place + 5, 0) for place in range(4)]})
    assert "user5" in body or "Comment number 5 on this" in body
