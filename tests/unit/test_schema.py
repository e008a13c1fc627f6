"""Arguments against input schemas: decided in linear time, explained without values, never by fetching anything."""

from __future__ import annotations

import http.server
import json
import threading
import time

import pytest

from slimguard.schema import checker_for, dialect_of, read_arguments
from slimguard.schema.fallback import fallback_valid

SCHEMA = {
    "type": "object",
    "properties": {
        "n": {"type": "integer", "minimum": 1},
        "o": {"type": "object", "properties": {"x": {"type": "string"}}, "additionalProperties": False},
        "l": {"type": ["array", "null"], "items": {"type": "integer"}},
        "s": {"type": "string"},
        "either": {"anyOf": [{"type": "string"}, {"type": "object"}]},
    },
    "required": ["n"],
    "additionalProperties": False,
}


def read(given, beside=None, *, absent=False, schema=SCHEMA):
    return read_arguments(checker_for(schema), given, beside or {}, absent=absent)


def test_valid_arguments_are_the_same_object_and_not_repaired():
    given = {"n": 1, "s": '{"x":1}', "either": "{}"}
    assert read(given).arguments is given
    assert read(given).repaired == ""


@pytest.mark.parametrize(
    ("given", "beside", "expected"),
    [
        ('{"n": 2}', {}, {"n": 2}),
        ({"arguments": {"n": 3}}, {}, {"n": 3}),
        ({"arguments": '{"n": 3}', "tool_ref": "a/b"}, {}, {"n": 3}),
        ({}, {"n": 4}, {"n": 4}),
        ({"n": 1, "o": '{"x":"y"}'}, {}, {"n": 1, "o": {"x": "y"}}),
        ({"n": 1, "l": "[1, 2]"}, {}, {"n": 1, "l": [1, 2]}),
    ],
)
def test_the_one_reading_that_validates_is_found(given, beside, expected):
    found = read(given, beside)
    assert found.arguments == expected
    assert found.repaired


@pytest.mark.parametrize(
    ("given", "beside"),
    [
        ({"n": "1"}, {}),  # a scalar in a string is another type, not a spelling
        ({"n": 1}, {"unknown": 2}),
        ({"n": 1, "o": "{not json"}, {}),
        ([1], {}),
        ("text", {}),
        ({"n": 1.5}, {}),
    ],
)
def test_what_no_reading_validates_is_refused_with_problems(given, beside):
    found = read(given, beside)
    assert found.arguments is None
    assert found.problems


def test_absent_arguments_mean_none_given():
    assert read(None, absent=True, schema={"type": "object"}).arguments == {}
    assert read(None, absent=True).problems[0].words == "missing 'n'"


def test_problems_name_place_rule_and_schema_but_never_the_value():
    problems = read({"n": "secret-1", "o": {"x": 5, "secret_key": 1}, "s": 12345678}).problems
    assert [(p.path, p.rule) for p in problems] == [
        ("arguments.n", "type"),
        ("arguments.o.x", "type"),
        ("arguments.o", "additionalProperties"),
        ("arguments.s", "type"),
    ]
    assert "secret-1" not in str(problems)
    assert "12345678" not in str(problems)


def test_patterns_that_backtrack_end_at_once():
    checker = checker_for({"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}})
    began = time.thread_time()
    assert not checker.valid({"a": "a" * 20_000 + "b"})
    assert time.thread_time() - began < 1


@pytest.mark.parametrize(
    ("schema", "dialect"),
    [
        ({}, "2020-12"),
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, "draft-07"),
        ({"$schema": "https://json-schema.org/draft/2019-09/schema"}, "2019-09"),
        ({"$schema": "https://example.org/own"}, "2020-12"),
        ({"properties": {"a": {"items": [{}]}}}, "draft-07"),
    ],
)
def test_the_dialect_is_the_declared_one_or_the_one_that_the_schema_needs(schema, dialect):
    assert dialect_of(schema) == dialect


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"type": "nonsense"},
        {"properties": {"a": {"pattern": "("}}},
        [],
        "x",
        {"$ref": "#/nowhere"},
    ],
)
def test_a_schema_that_nobody_can_compile_only_demands_an_object(schema):
    checker = checker_for(schema)
    assert checker.valid({"anything": 1}) in (True, False)
    assert not checker.valid([]) or schema == {"$ref": "#"}
    assert read_arguments(checker, {"a": "x"}, {}, absent=False).arguments in ({"a": "x"}, None)


def test_a_remote_reference_is_never_fetched():
    hits: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            hits.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/schema.json"
        for schema in ({"$ref": url}, {"properties": {"a": {"$ref": url}}}, {"$schema": url, "type": "object"}):
            checker = checker_for({**schema})
            read_arguments(checker, {"a": 1}, {}, absent=False)
            read_arguments(checker, "x", {}, absent=False)
    finally:
        server.shutdown()
    assert hits == []


@pytest.mark.parametrize(
    "value", [{}, {"n": 1}, {"n": 0}, {"n": 1, "o": {"x": 1}}, {"n": 1, "l": None}, {"n": 1, "z": 1}]
)
def test_both_validators_agree(value):
    assert checker_for(SCHEMA).valid(value) == fallback_valid(SCHEMA, value)


def test_a_compiled_schema_is_used_again():
    text = json.dumps(SCHEMA)
    assert checker_for(json.loads(text)) is checker_for(json.loads(text))


def test_a_schema_that_admits_nothing_refuses_every_call():
    checker = checker_for(False)
    assert not checker.valid({})
    assert [problem.rule for problem in checker.problems({})] == ["false"]
