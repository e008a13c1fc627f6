"""A ref is understood as it was copied: with its name, in quotes, several with other marks between them."""

from __future__ import annotations

from typing import Any


def test_refs_are_read_as_people_copy_them(guard: Any, helpers: Any) -> None:
    host = guard()
    first = helpers.ref_of(host.tool("count/table", {"rows": 300}))
    second = helpers.ref_of(host.tool("count/table", {"rows": 301}))
    for written in (f' "{first}" ', f"result_ref={first}", f'result_ref="{first}"', f"`{first}`"):
        assert '"row 7"' in helpers.text_of(host.read(written, "items:7")), written
    for between in ("+", ",", ", ", " + ", " "):
        joined = helpers.text_of(host.read(f"{first}{between}{second}", "sql:SELECT count(*) FROM rows"))
        assert "\n601\n" in joined, joined
    refused = host.read(f"{first},{second[:-1]}", "outline")
    assert refused["isError"] and second[:-1] in helpers.text_of(refused)
