"""The hint on writing back: given where one tool clearly takes the value, else not at all."""

from __future__ import annotations

import json

import pytest

from slimguard.document import document_of
from slimguard.guard.writing_back import write_back
from slimguard.model import Tool

TEXT = {"type": "string"}
REF = "r0123456789abcd"


def tool(name, server="s", read_only=False, required=(), **properties):
    schema = {"type": "object", "properties": properties, "required": list(required)}
    definition = {"name": name, "inputSchema": schema, "annotations": {"readOnlyHint": read_only}}
    return Tool(server, name, definition, "0" * 64)


def result(value, **more):
    text = value if isinstance(value, str) else json.dumps(value)
    return document_of(json.dumps({"content": [{"type": "text", "text": text}], **more}).encode())


def hint(reading, document, *tools, arguments=None, native=False):
    return write_back(reading, arguments or {}, document, REF, [reading, *tools], native=native)


PAGE = {"title": "T", "body": {"storage": {"value": "<p>long</p>" * 50}}}


@pytest.mark.parametrize(
    ("name", "other"), [("get_page", "update_page"), ("getWikiPage", "putWikiPage"), ("read-page", "write-page")]
)
def test_a_text_in_json_goes_to_the_property_named_as_a_key_above_it(name, other):
    reading, writing = tool(name, read_only=True, id=TEXT), tool(other, required=["id", "version"], id=TEXT, body=TEXT,
                                                                 version={"type": "integer"})  # fmt: skip
    line = hint(reading, result(PAGE), writing, arguments={"id": "7"})
    call = json.loads(line.partition("arguments=")[2].removesuffix(")"))
    assert call["id"] == "7" and call["version"] == "<version>"
    assert call["body"]["$result"]["select"] == "body.storage.value"
    assert f'tool_ref="{writing.ref}"' in line
    assert "call_tool" not in hint(reading, result(PAGE), writing, native=True)


def test_a_plain_text_goes_to_the_one_property_that_takes_a_text():
    reading = tool("read_file", path=TEXT)
    document = result("some text\n" * 500)
    assert '"content":{"$result":{"ref"' in hint(reading, document, tool("write_file", path=TEXT, content=TEXT))
    assert hint(reading, document, tool("write_file", path=TEXT, content=TEXT, text=TEXT)) == ""
    assert hint(reading, document, tool("write_file", path=TEXT, content={"type": "object"})) == ""


def test_a_container_goes_to_the_property_of_its_key_or_of_the_thing():
    rows = {"sheet": "x", "rows": [{"n": n} for n in range(200)]}
    line = hint(tool("read_sheet"), result(rows), tool("write_sheet", rows={"type": "array"}))
    assert '"select":"rows"' in line and '"set"' in line
    board = {"panels": [{"id": 1}], "tags": ["a"], "title": "t", "more": {"x": 1}}
    assert '"select":"@"' in hint(tool("get_board"), result(board), tool("save_board", board={"type": "object"}))


@pytest.mark.parametrize(
    "others",
    [
        [],
        [tool("update_user", body=TEXT)],
        [tool("update_page", server="other", body=TEXT)],
        [tool("update_page", read_only=True, body=TEXT)],
        [tool("update_page", body=TEXT), tool("save_page", body=TEXT)],
        [tool("update_page", title=TEXT)],
        [tool("update_page", body={"type": "string", "enum": ["a"]})],
        [tool("update_page", body={"type": "string", "maxLength": 10})],
        [tool("delete_page", body=TEXT)],
    ],
)
def test_no_hint_where_it_could_be_wrong(others):
    assert hint(tool("get_page"), result(PAGE), *others) == ""


def test_no_hint_for_errors_and_for_tools_that_do_not_read():
    writing = tool("update_page", body=TEXT)
    assert hint(tool("get_page"), result(PAGE, isError=True), writing) == ""
    assert hint(tool("create_page"), result(PAGE), writing) == ""
    assert hint(tool("get_page"), result(["<exact old text>" * 40]), writing) == ""
