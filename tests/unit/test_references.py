"""References: what is one, what it names, and where the limits are."""

from __future__ import annotations

import pytest

from slimguard import policy
from slimguard.canonical import make_ref
from slimguard.errors import RequestRejected
from slimguard.references import attempts, may_flow, reference_of, renamed, replaced, wrong_rule

REF = make_ref(b"\1" * 8)
OTHER = make_ref(b"\2" * 8)


def only(value):
    (attempt,) = attempts({"x": value})
    assert attempt.path == ("x",)
    return reference_of(attempt)


def refused(value):
    with pytest.raises(RequestRejected) as caught:
        all(reference_of(attempt) for attempt in attempts({"x": value}))
    assert caught.value.ran == "no"
    return caught.value


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({"$result": REF}, "page"),
        ({"$result": {"ref": REF}}, "page"),
        ({"$result": {"result_ref": REF, "lines": "3-9"}}, "lines"),
        ({"$result": {"ref": REF, "lines": 3}}, "lines"),
        ({"$result": {"ref": REF, "lines": [3, 9]}}, "lines"),
        ({"$result": {"ref": REF, "lines": "lines:3-9"}}, "lines"),
        ({"$result": {"ref": REF, "items": "0-9 of data.rows"}}, "items"),
        ({"$result": {"ref": REF, "bytes": "0-9"}}, "bytes"),
        ({"$result": {"ref": REF, "select": "a.b"}}, "select"),
        ({"$result": {"ref": REF, "query": "select:a.b"}}, "select"),
        ({"$result": {"ref": REF, "block": 1}}, "page"),
        ({"$result": {"ref": REF, "block": 1, "select": "a"}}, "select"),
        ({"$result": {"ref": REF, "raw": True}}, "raw"),
        ({"$result": f"{REF} select:a.b"}, "select"),
        ({"$result": REF, "select": "a.b"}, "select"),
        (f'{{"$result": "{REF}"}}', "page"),
    ],
)
def test_every_spelling_with_one_reading_is_a_reference(value, kind):
    reference = only(value)
    assert reference.refs == (REF,)
    assert reference.part.query.kind == kind


def test_several_refs_join():
    assert only({"$result": f"{REF}+{OTHER}"}).refs == (REF, OTHER)


@pytest.mark.parametrize(
    "value",
    [{"$result": 5}, {"$result": None}, {"$result": ["a"]}, {"$result": {"code": 1}}, {"result": REF}, "$result"],
)
def test_what_names_no_ref_is_no_reference(value):
    assert attempts({"x": value}) == []


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"$result": "r123"}, "malformed"),
        ({"$result": {"ref": REF[:-1] + "*"}}, "malformed"),
        ({"$result": {"ref": 5}}, "ref is one text"),
        ({"$result": {"ref": REF, "selct": "a"}}, "nearest: select"),
        ({"$result": {"ref": REF, "select": "a", "lines": "1"}}, "one is possible"),
        ({"$result": {"ref": REF, "query": "some words"}}, "finds or makes"),
        ({"$result": {"ref": REF, "query": "sql:SELECT 1"}}, "finds or makes"),
        ({"$result": {"ref": REF, "block": "x"}}, "block is the number"),
        ({"$result": {"ref": REF, "lines": "1-2,5-6"}}, "several parts"),
        ({"$result": "+".join([REF] * 17)}, "at most 16"),
    ],
)
def test_a_reference_that_says_nothing_clear_is_refused(value, words):
    assert words in refused(value).message


def test_a_thousand_references_and_deep_ones_are_refused():
    assert refused([{"$result": REF}] * 1_000).code == "too_many"
    value = {"$result": REF}
    for _ in range(policy.REFERENCE_DEPTH):
        value = {"$result": {"ref": REF, "edits": [{"append": value}]}}
    assert refused(value).code == "too_deep"
    value = {"$result": REF}
    for _ in range(policy.ARGUMENT_DEPTH + 2):
        value = [value]
    assert refused(value).code == "too_deep"
    many = {"$result": {"ref": REF, "edits": [{"append": {"$result": REF}}] * 65}}
    assert refused(many).code == "too_many"


def test_inner_references_are_found_in_the_edits():
    reference = only({"$result": {"ref": REF, "edits": [{"set": "/a", "to": {"$result": OTHER}}]}})
    assert [(item.path, item.reference.refs) for item in reference.inner] == [((0, "to"), (OTHER,))]


def test_values_are_put_in_without_touching_the_rest():
    tree = {"a": [1, {"$result": REF}], "b": {"c": 2}}
    assert replaced(tree, {("a", 1): {"$result": OTHER}}) == {"a": [1, {"$result": OTHER}], "b": {"c": 2}}
    assert renamed(tree, [("a", 1)]) == {"a": [1, {"$result_": REF}], "b": {"c": 2}}
    assert tree["a"][1] == {"$result": REF}


@pytest.mark.parametrize(
    ("source", "target", "allow", "deny", "may"),
    [
        (("a", "x"), ("a", "y"), (), (), True),
        (("a", "x"), ("b", "y"), (), (), False),
        (("a", "x"), ("b", "y"), ("a -> b",), (), True),
        (("a", "x"), ("b", "y"), ("b -> a",), (), False),
        (("a", "x"), ("b", "y"), ("* -> *",), ("* -> b/y",), False),
        (("a", "x"), ("b", "z"), ("* -> *",), ("* -> b/y",), True),
        (("a", "x"), ("a", "y"), (), ("a -> a",), False),
        (("a", "x"), ("b", "y"), ("a/x->b/y",), (), True),
        (("a", "w"), ("b", "y"), ("a/x->b/y",), (), False),
    ],
)
def test_flows_are_allowed_within_a_server_and_else_by_globs(source, target, allow, deny, may):
    assert may_flow(source, target, allow, deny) is may


def test_a_rule_without_both_sides_is_wrong():
    assert not wrong_rule("a -> b/*")
    assert all(map(wrong_rule, ("a", "a ->", "-> b", "a -> b -> c", "")))
