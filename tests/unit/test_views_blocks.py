"""Results in several blocks: lists that are given one element a block, with and without structured content."""

from __future__ import annotations

import json

from slimguard.document import document_of, tables_of
from slimguard.document.tables import main_array
from slimguard.model import Budget
from slimguard.tokens import Tokens
from slimguard.views.render import render_strictly

COUNTER = Tokens()
BUDGET = Budget(1_740, 6_900, 198, 2_000)


def notes(count):
    return [{"id": place, "title": f"Note {place}", "pinned": place == 77} for place in range(count)]


def result_of(values, **more):
    return document_of(
        json.dumps({"content": [{"type": "text", "text": json.dumps(value)} for value in values], **more}).encode()
    )


def view_of(document):
    return render_strictly(document, BUDGET, COUNTER)


def test_blocks_that_are_the_elements_of_the_structured_list_are_said_once():
    values = notes(300)
    view = view_of(result_of(values, structuredContent={"result": values}))
    assert "300 text blocks: the elements of structuredContent.result, one each" in view.body
    assert "pinned: false 299, true 1 (77 Note 77)" in view.body
    assert "block 3" not in view.body
    assert COUNTER.count(view.body) < 400


def test_texts_that_are_the_elements_of_a_structured_list_are_said_once():
    names = [f"branch-{place}" for place in range(60)]
    document = document_of(
        json.dumps(
            {
                "content": [{"type": "text", "text": name} for name in names],
                "structuredContent": {"result": names},
            }
        ).encode()
    )
    view = view_of(document)
    assert "60 text blocks: the elements of structuredContent.result, one each" in view.body
    assert "branch-59" in view.body


def test_blocks_that_differ_from_the_structured_list_are_kept():
    values = notes(4)
    view = view_of(
        result_of([*values[:3], {"id": 9, "title": "Another", "pinned": False}], structuredContent={"result": values})
    )
    assert "Another" in view.body


def test_blocks_of_one_record_each_are_one_table():
    document = result_of(notes(120))
    view = view_of(document)
    assert view.kind == "records"
    assert "120 text blocks, each one record" in view.body
    assert "pinned: false 119, true 1 (77 Note 77)" in view.body
    (table,) = tables_of(document)
    assert (table.name, table.count, table.columns) == ("result", 120, ("id", "title", "pinned"))
    assert main_array(document) == ((), notes(120))


def test_blocks_of_different_things_stay_apart():
    document = result_of([{"id": 1, "title": "x"}, {"total": 3}, {"next": None, "cursor": "abc"}])
    assert tables_of(document) == ()
    assert "block 1 (text):" in view_of(document).body
