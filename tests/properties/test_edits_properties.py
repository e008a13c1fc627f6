"""Edits and references on any text and any JSON: equal to a plain reference edit, and nothing else changes."""

from __future__ import annotations

import json
from copy import deepcopy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slimguard.canonical import make_ref
from slimguard.document import format_path
from slimguard.edits import apply_edits, edits_of
from slimguard.errors import RequestRejected
from slimguard.references import attempts, reference_of, replaced

REF = make_ref(b"\7" * 8)
MARK = "4242424242e-1"
"""A number that stands for the target; spelled so that nothing else is like it."""

plain = st.text(st.characters(codec="utf-8"), max_size=12)
keys = plain | st.sampled_from(["a", "b", "", "a/b", "~", "0", 'x"y', "é", "\x85", " "])
scalars = st.none() | st.booleans() | st.integers() | st.sampled_from([1.5, -0.0, 1e300]) | plain
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4), max_leaves=12
)
containers = st.lists(values, min_size=1, max_size=4) | st.dictionaries(keys, values, min_size=1, max_size=4)
spaces = st.sampled_from(["", " ", "\n  ", "\t", "\r\n"])


@st.composite
def spelled(draw, value):
    """JSON of `value` as somebody might write it: any white space, escapes or none, numbers with a tail."""
    gap = draw(spaces)
    if isinstance(value, dict):
        items = [f"{draw(spaces)}{json.dumps(k, ensure_ascii=draw(st.booleans()))}:{draw(spaces)}{draw(spelled(v))}"
                 for k, v in value.items()]  # fmt: skip
        return "{" + ",".join(items) + gap + "}"
    if isinstance(value, list):
        return "[" + ",".join(f"{draw(spaces)}{draw(spelled(item))}" for item in value) + gap + "]"
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=draw(st.booleans()))
        return text.replace("/", "\\/") if draw(st.booleans()) else text
    if value == 1.5:
        return draw(st.sampled_from(["1.5", "1.50", "15E-1", "0.15e1"]))
    return json.dumps(value)


def paths_of(value, path=()):
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, child in children:
        yield from paths_of(child, (*path, step))


def pointer(path):
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def strictly(text):
    """The value with its numbers as they are spelled and its members in order."""
    return json.loads(text, parse_float=lambda s: ("n", s), parse_int=lambda s: ("n", s), object_pairs_hook=tuple)


def with_at(value, path, new):
    out = deepcopy(value)
    here = out
    for step in path[:-1]:
        here = here[step]
    here[path[-1]] = new
    return out


@settings(max_examples=150, deadline=None)
@given(st.data(), containers, values)
def test_setting_a_value_changes_that_value_and_no_other_character(data, value, new):
    path = data.draw(st.sampled_from([path for path in paths_of(value) if path]))
    marked = data.draw(spelled(with_at(value, path, MARK))).replace(json.dumps(MARK), MARK)
    where = data.draw(st.sampled_from([pointer(path), format_path(path)]))
    text = apply_edits(marked, edits_of({"set": where, "to": new}), is_json=True).text
    before, _, after = marked.partition(MARK)
    assert text.startswith(before) and text.endswith(after)
    assert json.loads(text[len(before) : len(text) - len(after)]) == new
    assert json.loads(text) == with_at(value, path, new)


@settings(max_examples=150, deadline=None)
@given(st.data(), containers)
def test_removing_a_value_leaves_the_others_as_they_are_spelled(data, value):
    path = data.draw(st.sampled_from([path for path in paths_of(value) if path]))
    before = data.draw(spelled(value))
    text = apply_edits(before, edits_of({"remove": pointer(path)}), is_json=True).text
    expected = deepcopy(value)
    here = expected
    for step in path[:-1]:
        here = here[step]
    del here[path[-1]]
    assert json.loads(text) == expected
    kept = before
    for number in ("15E-1", "0.15e1", "1.50"):
        assert text.count(number) <= kept.count(number)


@settings(max_examples=100, deadline=None)
@given(st.data(), st.lists(values, min_size=1, max_size=5), values)
def test_appended_and_inserted_elements_leave_the_array_as_it_was(data, items, new):
    before = data.draw(spelled(items))
    at = data.draw(st.integers(0, len(items) - 1))
    edit, place = data.draw(
        st.sampled_from(
            [({"append": new}, len(items)), ({"insert": new, "before": f"/{at}"}, at),
             ({"insert": new, "after": f"/{at}"}, at + 1), ({"set": "/-", "to": new}, len(items))]
        )
    )  # fmt: skip
    text = apply_edits(before, edits_of(edit), is_json=True).text
    assert json.loads(text) == [*items[:place], new, *items[place:]]
    back = apply_edits(text, edits_of({"remove": f"/{place}"}), is_json=True).text
    assert strictly(back) == strictly(before)


@settings(max_examples=150, deadline=None)
@given(st.data(), plain, plain, plain, plain)
def test_a_text_inside_json_is_edited_without_touching_its_other_escapes(data, left, old, right, new):
    target = "«" + old + "»"
    held = left + target + right
    if held.count(target) != 1:
        return
    text = data.draw(spelled({"k": held, "other": left}))
    changed = apply_edits(text, edits_of({"replace": target, "with": new, "in": "/k"}), is_json=True)
    (splice,) = changed.steps[0].splices
    assert changed.text == text[: splice.start] + splice.new + text[splice.end :]
    wanted = left + new + right
    if "\r\n" not in held:
        assert json.loads(changed.text) == {"k": wanted, "other": left}
    assert json.loads(text[: splice.start] + text[splice.end :])["k"] == left + right


@settings(max_examples=150, deadline=None)
@given(plain, st.text(min_size=1, max_size=6), plain, plain)
def test_a_replace_in_plain_text_is_that_of_str(left, old, right, new):
    text = f"~{left}{old}{right}"
    count = text.count(old)
    if count != 1 or "\r" in text:
        return
    assert apply_edits(text, edits_of({"replace": old, "with": new})).text == text.replace(old, new)


@settings(max_examples=200, deadline=None)
@given(st.data(), containers)
def test_references_in_any_position_are_found_and_replaced(data, tree):
    paths = [path for path in paths_of(tree) if path]
    chosen = data.draw(st.lists(st.sampled_from(paths), unique=True, max_size=5))
    chosen = [path for path in chosen if not any(path[: len(other)] == other for other in chosen if other != path)]
    written, expected = tree, tree
    for number, path in enumerate(chosen):
        written = with_at(written, path, {"$result": {"ref": REF, "lines": str(number + 1)}})
        expected = with_at(expected, path, number)
    found = attempts(written)
    if any("$result" in path for path in paths_of(tree)):
        return
    assert {item.path for item in found} == set(chosen)
    values = {item.path: reference_of(item).part.query.first - 1 for item in found}
    assert replaced(written, values) == expected


hostile = st.recursive(
    scalars | st.sampled_from([REF, "$result", f"{REF} lines:1", "line:9", "/a/0", "[?a]", "a.b"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["$result", "ref", "select", "lines", "edits", "replace", "with", "set", "to", "remove", "insert",
                         "before", "after", "append", "in", "all", "op", "path", "value", "block", "a"]),
        inner, max_size=4),
    max_leaves=14,
)  # fmt: skip


def outcome(action):
    """What `action` gives, or the refusal that it raises; any other exception is a failure."""
    try:
        return action(), None
    except RequestRejected as error:
        return None, error


@settings(max_examples=300, deadline=None)
@given(hostile)
def test_any_arguments_are_read_or_refused_before_anything_is_sent(value):
    _, error = outcome(lambda: [reference_of(attempt) for attempt in attempts(value)])
    assert error is None or (error.ran == "no" and len(error.message) < 1_000)


@settings(max_examples=400, deadline=None)
@given(hostile, st.sampled_from(["", "a b\r\nc", '{"a":[{"a":1},{"b":"x y"}]}', '{"a":1}\n{"a":2}', "[[1],[2]]"]))
def test_any_edits_are_made_or_refused(value, text):
    is_json = text.startswith(("[", "{")) and "\n" not in text
    edited, error = outcome(lambda: apply_edits(text, edits_of(value), is_json=is_json))
    assert error is None or (error.ran == "no" and len(error.message) < 1_000)
    if is_json and edited is not None:
        json.loads(edited.text)


def test_a_forged_depth_of_edits_is_bounded():
    value = {"a": 1}
    for _ in range(5_000):
        value = {"a": value}
    with pytest.raises(RequestRejected):
        attempts(value)
