"""diff: values by path or lines by number; the list of recent results."""

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from slimguard import readers
from slimguard.readers.textdiff import changes


def compared(desk: Any, old: Any, new: Any) -> str:
    with_other = replace(desk, others={old.ref: old})
    return with_other.ask(new, f"diff:{old.ref}")


def test_records_are_matched_by_what_identifies_them(desk: Any):
    rows = [{"id": n, "state": "open"} for n in range(20)]
    changed = [{"id": 99, "state": "new"}, *({**row, "state": "done"} if row["id"] == 3 else row for row in rows[:-1])]
    answer = compared(desk, desk.json({"rows": rows}, number=1), desk.json({"rows": changed}, number=2))
    assert "1 changed, 1 added, 1 removed" in answer
    assert '~ rows[id=3]: state: "open" → "done"' in answer
    assert "+ rows[id=99]" in answer
    assert "- rows[id=19]" in answer


def test_lines_that_changed_are_shown_with_numbers(desk: Any):
    old = "".join(f"line {n}\n" for n in range(50))
    answer = compared(desk, desk.text(old, number=1), desk.text(old.replace("line 7\n", "line seven\n"), number=2))
    assert "@@ -8,1 +8,1 @@" in answer
    assert "-line 7\n+line seven" in answer


def test_equal_results_have_no_difference(desk: Any):
    assert "no difference" in compared(desk, desk.json([1, 2], number=1), desk.json([1, 2], number=2))


def test_a_ref_that_cannot_be_read_is_an_error(desk: Any):
    assert "no readable result" in desk.error(desk.text("a"), "diff:r0123").message


def test_the_refs_that_a_query_needs_are_known_beforehand():
    assert readers.other_refs("lines:1\ndiff: rABC\ndiff:'rDEF'") == ("rABC", "rDEF")
    assert readers.other_refs("lines:x") == ()


@given(st.lists(st.sampled_from("abcd"), max_size=30), st.lists(st.sampled_from("abcd"), max_size=30))
def test_changes_make_the_new_lines_of_the_old(old: list[str], new: list[str]):
    out: list[str] = []
    position = 0
    for change in changes(old, new):
        out.extend(old[position : change.old_start])
        out.extend(new[change.new_start : change.new_end])
        position = change.old_end
    assert out + old[position:] == new


def test_recent_results_are_listed_newest_first_without_content(desk: Any):
    call = desk.text("secret text").call
    calls = [replace(call, size=1234, created_at=100.0, tool=f"tool{n}") for n in range(25)]
    text = readers.recent(calls, 3_700.0)
    assert text.split("\n")[1].split() == [call.ref, "server/tool0", "1", "h", "ago", "1.2", "KB", "stored"]
    assert "20 of 25" in text
    assert f'read_result(result_ref="{call.ref}"' in text
    assert readers.recent([], 0.0).startswith("[slimguard recent results: none")
    assert "unknown" in readers.recent([replace(call, state="unknown")], 0.0)
