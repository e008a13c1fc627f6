"""Edits: what each kind changes, what it leaves, and what a failed one says."""

from __future__ import annotations

import json

import pytest

from slimguard import policy
from slimguard.edits import apply_edits, edits_of
from slimguard.edits.spelled import loads
from slimguard.errors import QueryRejected


def edited(text, *edits, is_json=False):
    return apply_edits(text, edits_of(list(edits)), is_json=is_json).text


def refused(text, *edits, is_json=False):
    with pytest.raises(QueryRejected) as caught:
        edited(text, *edits, is_json=is_json)
    error = caught.value
    assert error.ran == "no"
    return f"{error.message} | {error.detail} | {error.next_call}"


def test_replace_takes_the_one_match_and_nothing_else():
    assert edited("a b c", {"replace": "b", "with": "x"}) == "a x c"
    assert "2 places" in refused("a b b", {"replace": "b", "with": "x"})
    assert edited("a b b", {"replace": "b", "with": "x", "all": True}) == "a x x"


@pytest.mark.parametrize(
    "edit",
    [
        {"replace": "b", "by": "x"},
        {"old": "b", "new": "x"},
        {"old_string": "b", "new_string": "x"},
        {"find": "b", "replace": "x"},
        {"Replace": "b", "With": "x"},
    ],
)
def test_other_spellings_with_one_reading_are_taken(edit):
    assert edited("a b c", edit) == "a x c"


@pytest.mark.parametrize(
    "edit",
    [{}, {"replace": "b"}, {"replace": "b", "with": 5}, {"replace": "", "with": "x"}, {"set": "/a"}, "b", 5,
     {"replace": "b", "with": "x", "every": True}, {"insert": "x"}, {"insert": "x", "before": "a", "after": "b"},
     {"set": "/a", "to": 1, "remove": "/b"}, {"op": "move", "path": "/a"}, {"replace": "b", "with": "x", "all": "yes"}],
)  # fmt: skip
def test_an_edit_that_says_nothing_clear_is_refused_with_the_form(edit):
    assert '{"replace": "old", "with": "new"' in refused("a b c", edit)


def test_a_failed_edit_names_the_nearest_text_and_its_line():
    text = "first line\nthe quick brown fox\nlast line\n"
    assert 'nearest, in line 2: "the quick brown fox"' in refused(text, {"replace": "the quick brwn fox", "with": "x"})
    assert "nearest" not in refused("abc", {"replace": "zzzzzzzzzzzz", "with": "x"})


def test_edits_are_made_in_order_and_all_or_none():
    assert edited("a", {"replace": "a", "with": "b"}, {"replace": "b", "with": "c"}) == "c"
    told = refused("a", {"replace": "a", "with": "b"}, {"replace": "a", "with": "c"})
    assert "edit 2 of 2" in told and "none was made" in told


def test_line_ends_stay_as_the_text_has_them():
    text = "a\r\nb\r\nc\r\n"
    assert edited(text, {"replace": "a\nb", "with": "x\ny"}) == "x\r\ny\r\nc\r\n"
    assert edited(text, {"insert": "new", "after": "line:1"}) == "a\r\nnew\r\nb\r\nc\r\n"
    assert edited(text, {"insert": "new\n", "before": "line:1"}) == "new\r\na\r\nb\r\nc\r\n"
    assert edited("a\r\nb\n", {"replace": "b", "with": "x\ny"}) == "a\r\nx\ny\n"
    assert edited("a\nb", {"insert": "c", "after": "line:2"}) == "a\nb\nc"


def test_insert_before_and_after_a_match():
    assert edited("ac", {"insert": "b", "before": "c"}) == "abc"
    assert edited("ac", {"insert": "b", "after": "a"}) == "abc"
    assert edited("a a", {"insert": "!", "after": "a", "all": True}) == "a! a!"
    assert "no line 9" in refused("a", {"insert": "b", "after": "line:9"})


def test_set_and_remove_keep_every_other_character():
    text = '{ "a" : 1.10,\t"b":[1e3 , 2],  "é\\u00e9": {"x" :null} }'
    assert edited(text, {"set": "/b/1", "to": 5}) == text.replace(" 2]", " 5]")
    assert edited(text, {"set": "b[0]", "to": "t"}) == text.replace("1e3", '"t"')
    assert edited(text, {"remove": "/b/0"}) == text.replace("1e3 , ", "")
    assert json.loads(edited(text, {"remove": "/a"})) == {"b": [1000.0, 2], "éé": {"x": None}}
    assert edited(text, {"set": "/éé/x", "to": {"deep": [True]}}) == text.replace("null", '{"deep":[true]}')


def test_a_new_member_is_written_like_its_neighbours():
    assert edited('{\n  "a": 1\n}', {"set": "/b", "to": 2}) == '{\n  "a": 1,\n  "b": 2\n}'
    assert edited('{"a": 1, "b": 2}', {"set": "/c", "to": 3}) == '{"a": 1, "b": 2, "c": 3}'
    assert edited("{}", {"set": "/c", "to": 3}) == '{"c":3}'
    assert edited("[]", {"set": "/-", "to": 3}, is_json=True) == "[3]"


def test_a_filter_sets_every_record_that_matches():
    text = '[{"id":1,"s":"a"}, {"id":2}, {"id":3,"s":"a"}]'
    assert edited(text, {"set": "[?id>`1`].s", "to": "b"}) == '[{"id":1,"s":"a"}, {"id":2,"s":"b"}, {"id":3,"s":"b"}]'
    assert edited(text, {"remove": "[?s=='a']"}) == '[{"id":2}]'
    assert edited(text, {"remove": "[*]"}) == "[]"


@pytest.mark.parametrize(
    ("expression", "paths"),
    [
        ("a.b", 1), ("a[0].c", 1), ("a[*].c", 3), ("a[-1].c", 1), ("a[1:].c", 2), ("a[].c", 3), ("m.*.k", 2),
        ("n[][].z", 2), ("a[?c==`1`] | [0].c", 1), ("$.a[0]", 1), ("/a/2/c", 1), ("@", 1), ("a[?c>=`1`].new", 3),
    ],
)  # fmt: skip
def test_places_are_those_that_the_expression_means(expression, paths):
    value = {"a": [{"c": 1}, {"c": 1}, {"c": 2}], "m": {"x": {"k": 1}, "y": {"k": 2}}, "n": [[{"z": 1}], [{"z": 2}]]}
    value["a.b"] = 0
    if expression == "a.b":
        value = {"a": {"b": 1}}
    steps = apply_edits(json.dumps(value), edits_of({"set": expression, "to": "N"}), is_json=True).steps
    assert len(steps[0].splices) == paths


@pytest.mark.parametrize("expression", ["length(a)", "a[*].[c, d]", "a[*].{x: c}", "`5`", "sort_by(a, &c)"])
def test_what_computes_a_value_addresses_no_place(expression):
    assert "addresses no place" in refused('{"a":[{"c":1}]}', {"set": expression, "to": 1})


def test_a_place_that_is_not_there_names_the_keys_that_are():
    told = refused('{"alpha":{"beta":1}}', {"set": "/alpha/betta/x", "to": 1})
    assert "nearest: beta" in told and "keys of alpha: beta" in told


def test_a_text_inside_json_is_edited_as_it_reads_and_stays_json():
    text = '{"h":"<p>\\u00e9 \\"q\\" \\/x</p>\\n","n":1.50}'
    assert edited(text, {"replace": 'é "q"', "with": "C:\\new\n"}) == '{"h":"<p>C:\\\\new\\n \\/x</p>\\n","n":1.50}'
    assert edited(text, {"replace": "/x", "with": "y", "in": "/h"}) == text.replace("\\/x", "y")
    assert edited(text, {"append": "end", "in": "h"}) == text.replace("\\n", "\\nend")
    assert edited(text, {"replace": '"n":1.50', "with": '"n":2.5'}) == text.replace("1.50", "2.5")
    assert "break the JSON" in refused(text, {"replace": '"n":1.50', "with": '"n":'})


def test_a_match_in_two_texts_of_json_is_not_one():
    text = '{"a":"x","b":"x"}'
    assert "2 places" in refused(text, {"replace": "x", "with": "y"})
    assert edited(text, {"replace": "x", "with": "y", "in": "/b"}) == '{"a":"x","b":"y"}'
    assert edited(text, {"replace": "x", "with": "y", "all": True}) == '{"a":"y","b":"y"}'


def test_elements_are_inserted_and_appended():
    assert edited("[1, 2]", {"insert": 9, "before": "/1"}, is_json=True) == "[1, 9, 2]"
    assert edited("[1, 2]", {"insert": 9, "after": "/1"}, is_json=True) == "[1, 2, 9]"
    assert edited('{"a":[1]}', {"append": {"b": 2}, "in": "/a"}) == '{"a":[1,{"b":2}]}'
    assert edited("[1]", {"append": 2}, is_json=True) == "[1,2]"
    assert edited("[1,2]", {"op": "add", "path": "/0", "value": 0}, is_json=True) == "[0,1,2]"


def test_json_lines_are_edited_line_by_line():
    text = '{"a":1}\n{"a":2}\n'
    assert edited(text, {"set": "[?a==`2`].a", "to": 5}) == '{"a":1}\n{"a":5}\n'
    assert edited(text, {"append": {"a": 3}}) == '{"a":1}\n{"a":2}\n{"a":3}\n'
    assert edited(text, {"remove": "/0"}) == '{"a":2}\n'


def test_what_is_not_json_has_no_places():
    assert "not JSON" in refused("plain text", {"set": "/a", "to": 1})
    assert 'replace it with ""' in refused("plain text", {"remove": "/a"})


def test_limits_are_errors(monkeypatch):
    assert f"at most {policy.EDITS}" in refused("a", *[{"append": "b"}] * (policy.EDITS + 1))
    monkeypatch.setattr(policy, "EDIT_WORK_CHARS", 25)
    assert "too much at once" in refused("a" * 10, *[{"append": "b"}] * 3)
    monkeypatch.setattr(policy, "REFERENCE_BYTES", 1_000)
    assert "the edit makes more than" in refused("a" * 100, {"replace": "a", "with": "b" * 100, "all": True})


def test_a_value_that_json_cannot_hold_is_refused():
    assert "cannot be written" in refused("{}", {"set": "/a", "to": float("nan")})


def test_numbers_of_a_new_value_keep_the_digits_that_they_came_with():
    value = loads('{"a": [1.50, 1E2, 3], "b": "spelled 0"}')
    new = apply_edits('{"x": 2.0}', edits_of({"set": "/x", "to": value})).text
    assert new == '{"x": {"a":[1.50,1E2,3],"b":"spelled 0"}}'


@pytest.mark.parametrize(("text", "expected"), [("1", "2"), ("1.50", "2.50"), ("true", None), ("null", None)])
def test_a_value_that_is_no_container_is_edited_or_refused(text, expected):
    edits = edits_of({"replace": "1", "with": "2"})
    if expected is None:
        with pytest.raises(QueryRejected):
            apply_edits(text, edits, is_json=True)
    else:
        assert apply_edits(text, edits, is_json=True).text == expected
