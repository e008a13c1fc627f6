"""The shipped JSON Schema and reference page say what the code checks."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from slimguard.config import reference
from slimguard.config.keys import KEYS, dotted

DOCS = Path(__file__).parents[2] / "docs" / "reference"


def test_the_shipped_schema_and_page_are_up_to_date() -> None:
    again = "run: python -m slimguard.config.reference docs/reference"
    assert (DOCS / "slimguard.schema.json").read_text(encoding="utf-8") == reference.schema_text(), again
    assert (DOCS / "configuration.md").read_text(encoding="utf-8") == reference.page(), again


def test_every_key_is_on_the_page() -> None:
    page = reference.page()
    for key in KEYS[1:]:
        assert f"`{dotted(key.path)}`" in page


@pytest.mark.parametrize(
    ("content", "valid"),
    [
        ({}, True),
        ({"mcpServers": {"a": {"command": "x", "timeout": 5}}, "slimguard": {"mode": "native"}}, True),
        ({"slimguard": {"tools": {"settings": {"a/b": {"view": {"select": "x"}}}}}}, True),
        ({"slimguard": {"budget": {"tokns": 500}}}, False),
        ({"slimguard": {"budget": {"tokens": 5}}}, False),
        ({"mcpServers": {"a b": {"command": "x"}}}, False),
        ({"mcpServers": {"a": {}}}, False),
    ],
)
def test_the_schema_decides_as_the_code_does(content: object, valid: bool) -> None:
    jsonschema.Draft202012Validator.check_schema(reference.schema())
    assert jsonschema.Draft202012Validator(reference.schema()).is_valid(content) is valid


def test_the_example_on_the_page_is_a_valid_configuration() -> None:
    example = reference.page().split("```json\n")[1].split("```")[0]
    jsonschema.validate(json.loads(example), reference.schema())
