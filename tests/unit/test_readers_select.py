"""select: — JMESPath that understands what was meant, says what is missing, and never writes more than its budget."""

import json
from typing import Any

import pytest

ISSUES = {
    "issues": [
        {"id": n, "status": "Backlog" if n % 2 else "Done", "size": n, "owner": {"name": f"p{n % 3}"}}
        for n in range(20)
    ],
    "hasNextPage": True,
}


def test_a_value_is_compact(desk: Any):
    assert desk.body(desk.json(ISSUES), "select:issues[0].owner") == '{"name":"p0"}'


def test_a_text_is_given_as_it_is(desk: Any):
    assert desk.body(desk.json({"a": 'two\n"lines"'}), "select:a") == 'two\n"lines"'


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('length(issues[?status=="Backlog"])', "10"),
        ("length(issues[?status='Backlog' and size>10])", "5"),
        ("$.issues[0].id", "0"),
        ("length([?status=='Done'])", "10"),
        ("length(issues[?size>`15`])", "4"),
        ('issues[?contains(status, "Back")] | length(@)', "10"),
    ],
)
def test_what_is_usually_meant_is_understood_and_said(desk: Any, expression: str, expected: str):
    answer = desk.ask(desk.json(ISSUES), f"select:{expression}")
    assert answer.split("\n")[1] == expected


def test_another_root_is_found_and_said(desk: Any):
    answer = desk.ask(desk.json({"data": ISSUES}), "select:length(issues)")
    assert answer.split("\n")[1] == "20"
    assert "read as length(data.issues)" in answer


@pytest.mark.parametrize("expression", ["rows[3].id", "data[3].id", "items[3].id"])
def test_the_usual_names_of_the_main_array_are_understood(desk: Any, expression: str):
    assert desk.body(desk.json(ISSUES), f"select:{expression}") == "3"
    assert desk.body(desk.json(ISSUES["issues"]), f"select:{expression}") == "3"


def test_a_missing_path_names_the_keys_that_exist(desk: Any):
    body = desk.body(desk.json(ISSUES), "select:isues")
    assert "no key isues in the root" in body
    assert "nearest: issues" in body
    assert "hasNextPage" in body


def test_a_key_of_an_array_says_how_it_is_written(desk: Any):
    assert "issues[].id" in desk.body(desk.json(ISSUES), "select:issues.id")


def test_a_key_with_a_dash_is_quoted(desk: Any):
    assert desk.body(desk.json({"dist-tags": {"latest": "1.2"}}), "select:dist-tags.latest") == "1.2"


def test_a_syntax_error_says_how_it_is_done(desk: Any):
    error = desk.error(desk.json(ISSUES), "select:issues[")
    assert "not JMESPath" in error.message
    assert error.next_call


def test_an_unknown_function_lists_those_there_are(desk: Any):
    assert "sort_by" in desk.error(desk.json(ISSUES), "select:foo(issues)").next_call


def test_elements_go_one_a_line_and_every_one_is_reached(desk: Any):
    source = desk.json([{"id": n, "text": "x" * 60} for n in range(500)])
    small = desk.with_budget(400)
    lines = "\n".join(small.pages(source, "select:[]")).split("\n")
    assert [json.loads(line)["id"] for line in lines] == list(range(500))


def test_one_fat_element_is_viewed_not_refused(desk: Any):
    source = desk.json([{"id": n, "body": "y" * 50_000} for n in range(3)])
    answer = desk.ask(source, "select:[]")
    assert '"id":2' in answer
    assert "long parts are cut" in answer


def test_a_long_text_is_paged_exactly(desk: Any):
    text = "".join(f"line {n}\n" for n in range(5000))
    assert "".join(desk.pages(desk.json({"a": text}), "select:a")) == text


def test_an_aggregate_over_one_page_of_a_list_says_that_it_is_incomplete(desk: Any):
    assert "incomplete" in desk.ask(desk.json(ISSUES), "select:length(issues)")
    assert "incomplete" not in desk.ask(desk.json({**ISSUES, "hasNextPage": False}), "select:length(issues)")
    assert "incomplete" not in desk.ask(desk.json(ISSUES), "select:issues[0].id")


def test_text_and_structure_that_differ_are_both_given_with_their_labels(desk: Any):
    source = desk.result(
        {"content": [{"type": "text", "text": '{"total": 1}'}], "structuredContent": {"total": 2, "rows": [1, 2]}}
    )
    answer = desk.ask(source, "select:total")
    assert "block 0 (text)" in answer
    assert "block 1 (structured)" in answer
    assert "block 1" in desk.ask(source, "select:length(rows)")


def test_json_after_a_heading_and_json_lines_are_selected_from(desk: Any):
    assert desk.body(desk.text('Found 2:\n{"a": [1, 2]}'), "select:a[1]") == "2"
    assert desk.body(desk.text('{"n":1}\n{"n":2}\n{"n":3}\n'), "select:sum([].n)") == "6"


@pytest.mark.parametrize(
    "expression",
    [
        "|".join(["[@,@]"] * 25),
        "|".join(["[@,@][]"] * 25),
        "(" * 900 + "a" + ")" * 900,
        "!" * 3_000 + "a",
        "a" * 5_000,
        "to_string([@,@,@,@,@,@,@,@]) | [@,@,@,@,@,@,@,@] | to_string(@)",
    ],
)
def test_bombs_are_refused(desk: Any, expression: str):
    source = desk.json([{"id": n, "text": "x" * 500} for n in range(4000)])
    assert desk.error(source, f"select:{expression}").message


def test_a_long_value_that_fits_is_not_cut(desk: Any):
    text = "word " * 800
    assert desk.body(desk.json({"a": 1, "body": text}), "select:@") == f'a: 1\nbody: "{text}"'
    assert "cut" not in desk.ask(desk.json([{"body": text}, 2]), "select:[]")
