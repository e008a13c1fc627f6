"""The parts of find_tool's answer: signatures of fat schemas, and cutting to the budget."""

from __future__ import annotations

import pytest

from slimguard import policy
from slimguard.guard.find import signature
from slimguard.guard.naming import reason_of
from slimguard.model import ServerStatus


def test_a_signature_names_required_properties_first_and_marks_the_others() -> None:
    schema = {
        "type": "object",
        "properties": {"note": {"type": "string"}, "to": {"type": "string"}},
        "required": ["to"],
    }
    assert signature(schema) == "to: string\nnote?: string"


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "integer"}, "integer"),
        ({"type": ["string", "null"]}, "string or null"),
        ({"enum": ["a", "b"]}, '["a","b"]'),
        ({"enum": list(range(20))}, "[0,1,2,3,4,5,6,7,8,9,10,11,…]"),
        ({"type": "array", "items": {"type": "number"}}, "array of number"),
        ({"type": "array"}, "array of any"),
        ({"type": "object", "properties": {"x": {}, "y": {}}}, "{x, y}"),
        ({"type": "object"}, "object"),
        ({"$ref": "#/$defs/a"}, "any"),
        (True, "any"),
        ("nonsense", "any"),
    ],
)
def test_a_signature_says_the_type(schema: object, words: str) -> None:
    assert signature({"properties": {"p": schema}}) == f"p?: {words}"


@pytest.mark.parametrize("schema", [True, None, [], "x", {"type": "object"}, {"properties": ["a"]}])
def test_a_schema_without_properties_is_shown_as_it_is(schema: object) -> None:
    assert signature(schema)


@pytest.mark.parametrize("required", [None, "to", 3, {"to": True}])
def test_a_required_list_that_is_none_makes_everything_optional(required: object) -> None:
    assert signature({"properties": {"to": {}}, "required": required}) == "to?: any"


def test_a_signature_is_bounded_and_counts_what_it_leaves_out() -> None:
    schema = {"properties": {f"property_{number:04}": {"type": "string"} for number in range(1_000)}}
    text = signature(schema)
    assert len(text) < policy.SIGNATURE_CHARS + 300
    shown = text.count("\n")
    assert text.endswith(f"… {1_000 - shown} more properties")


def test_a_reason_is_one_line() -> None:
    status = ServerStatus("shop", "unavailable", reason="first\nsecond")
    assert "\n" not in reason_of(status)
