"""Cursors: bound to owner, refs and query; each way of being wrong has its own error."""

from dataclasses import replace
from typing import Any

import pytest

from slimguard.errors import QueryRejected
from slimguard.readers import cursor as cursors
from slimguard.readers import make_cursor, open_cursor

KEY = b"k" * 32


def made(**changes: Any) -> str:
    given = {"secret": KEY, "owner": "me", "refs": "rA", "query": "q", "positions": (5, 70_000)}
    return make_cursor(**{**given, **changes})


def opened(cursor: str, **changes: Any) -> tuple[int, ...]:
    return open_cursor(**{"secret": KEY, "owner": "me", "refs": "rA", "query": "q", "cursor": cursor, **changes})


def code_of(cursor: str, **changes: Any) -> str:
    with pytest.raises(QueryRejected) as caught:
        opened(cursor, **changes)
    assert caught.value.next_call
    return caught.value.code


def test_a_cursor_gives_back_its_positions():
    assert opened(made()) == (5, 70_000)
    assert opened(f' "{made()}" ') == (5, 70_000)


def test_cursors_are_short_and_of_plain_characters():
    assert len(made(positions=(0, 2_000_000))) <= 20
    assert all(char.isalnum() or char in "-_" for char in made())


def test_a_cursor_of_another_result_is_foreign():
    assert code_of(made(), refs="rB") == "cursor_foreign"


def test_a_cursor_of_another_query_says_so():
    assert code_of(made(), query="other") == "cursor_query"


def test_a_cursor_of_another_owner_or_key_is_forged():
    assert code_of(made(), owner="you") == "cursor_forged"
    assert code_of(made(), secret=b"x" * 32) == "cursor_forged"


def test_every_truncation_is_told_from_a_forgery():
    cursor = made()
    codes = {code_of(cursor[:length]) for length in range(1, len(cursor))}
    assert codes == {"cursor_truncated"}


def test_any_changed_character_is_an_error():
    cursor = made()
    for place, char in enumerate(cursor):
        other = "A" if char != "A" else "B"
        with pytest.raises(QueryRejected):
            opened(cursor[:place] + other + cursor[place + 1 :])


@pytest.mark.parametrize("cursor", ["AAAA", "abcdefghijklmnop", "ZZZZZZZZZZZZZZZZZZZZ"])
def test_made_up_cursors_are_forged(cursor: str):
    assert code_of(cursor) in ("cursor_forged", "cursor_truncated")
    assert code_of("AAAAAAAAAAAAAAAAAAAA") == "cursor_forged"


def test_nonsense_is_forged():
    assert code_of("not a cursor!") == "cursor_forged"


def test_a_cursor_of_another_version_is_stale(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cursors, "VERSION", 2)
    cursor = made()
    monkeypatch.undo()
    assert code_of(cursor) == "cursor_stale"


def test_a_place_that_does_not_exist_is_stale(desk: Any):
    source = desk.text("short")
    position = make_cursor(desk.secret, desk.owner, source.ref, "lines:1", (99,))
    assert desk.error(source, "lines:1", position).code == "cursor_stale"


def test_a_page_cursor_needs_no_query_and_refuses_another_one(desk: Any):
    source = desk.text("word " * 20_000)
    _, query, cursor = desk.next_of(desk.ask(source))
    assert query == ""
    assert desk.error(source, "lines:1-5", cursor).code == "cursor_query"
    assert desk.error(source, "block:0", cursor).code == "cursor_query"
    assert desk.error(source, "raw:", cursor).code == "cursor_query"
    _, _, raw = desk.next_of(desk.ask(source, "raw:"))
    assert desk.ask(source, "", raw) == desk.ask(source, "raw:", raw)
    other = replace(desk, owner="somebody else")
    assert other.error(source, "", cursor).code == "cursor_forged"


def test_a_cursor_cannot_go_with_several_queries(desk: Any):
    source = desk.text("word " * 20_000)
    _, _, cursor = desk.next_of(desk.ask(source))
    assert "one query" in desk.error(source, "lines:1\nlines:2", cursor).message
