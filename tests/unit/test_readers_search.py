"""Search: what is found, in which order, with what belongs to it, and what it costs."""

import json
from typing import Any

import pytest

LOG = "".join(
    f"2026-01-01 10:{n // 60 % 60:02d}:{n % 60:02d},{n % 1000:03d} INFO [w-{n % 7}] http req={n * 7919:08x} GET /api/{n % 5}\n"
    for n in range(2000)
)
FATAL = "2026-01-01 11:00:00,000 FATAL [w-1] ledger req=deadbeef out of balance\n"
TRACE = (
    "2026-01-01 11:00:01,000 ERROR [w-1] job failed\n"
    "Traceback (most recent call last):\n"
    '  File "a.py", line 3, in run\n'
    "    step()\n"
    "    ^^^^^^\n"
    "ValueError: bad total\n"
)


def test_the_one_line_that_matters_in_a_megabyte_costs_two_hundred_tokens(desk: Any):
    source = desk.text(LOG * 5 + FATAL + LOG * 5)
    answer = desk.ask(source, "FATAL")
    assert FATAL.strip() in answer
    assert "10001:" in answer
    assert "all of 1 hit" in answer.split("\n")[0]
    assert desk.cost(source, "FATAL") <= 200


def test_a_hit_in_one_line_json_has_its_path_and_costs_two_hundred_tokens(desk: Any):
    rows = [{"id": n, "name": f"row {n}", "note": "nothing to see here, " * 4} for n in range(4000)]
    rows[3210]["note"] = "the needle is in this record"
    source = desk.json({"data": {"rows": rows}})
    answer = desk.ask(source, "needle")
    assert "data.rows[3210]" in answer
    assert "the needle is in this record" in answer
    assert desk.cost(source, "needle") <= 200


def test_a_hit_in_prose_costs_two_hundred_tokens(desk: Any):
    text = "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor.\n" * 1200
    source = desk.text(text + "\nThe retry limit is seven.\n\n" + text)
    assert "The retry limit is seven." in desk.ask(source, "retry limit")
    assert desk.cost(source, "retry limit") <= 200


def test_a_stack_trace_belongs_to_its_error(desk: Any):
    source = desk.text(LOG + TRACE + LOG)
    for query in ("job failed", "ValueError", "/^ValueError/"):
        answer = desk.ask(source, query)
        assert "job failed" in answer
        assert "ValueError: bad total" in answer
        assert "^^^^" not in answer


def test_many_hits_are_totalled_first_and_collapsed_by_kind(desk: Any):
    source = desk.text("".join(TRACE.replace("bad", f"bad {n}") for n in range(50)) + FATAL)
    answer = desk.ask(source, "ValueError")
    assert "50 hits of 1 kind" in answer.split("\n")[0]
    assert "+49 like it" in answer
    assert len(desk.pages(source, "ValueError")) > 1


def test_every_hit_is_reached_by_following_the_cursor(desk: Any):
    source = desk.text("".join(f"entry {n} has alpha\nother\n" for n in range(300)))
    text = "\n".join(desk.pages(source, "alpha"))
    assert all(f"entry {n} has alpha" in text for n in range(300))


def test_words_mean_all_of_them_near_each_other(desk: Any):
    source = desk.text("alpha alone\n" * 50 + "beta here\nand alpha there\n" + "x" * 900 + "\n" + "beta alone\n" * 50)
    answer = desk.ask(source, "alpha beta")
    assert "with all words near each other" in answer
    assert "beta here" in answer


def test_in_json_words_mean_all_of_them_in_one_record(desk: Any):
    rows = [{"id": n, "status": "open", "pad": "x" * 2000, "owner": "ann"} for n in range(5)]
    rows[3] = {"id": 33, "status": "urgent", "pad": "x" * 2000, "owner": "bob"}
    answer = desk.ask(desk.json(rows), "urgent bob")
    assert "[3]" in answer
    assert "id=33" in answer


def test_no_hit_counts_each_word_and_proposes_near_spellings(desk: Any):
    source = desk.text("the reconciliation was aborted\n")
    answer = desk.ask(source, "reconcilation zzzzqqq")
    assert "0 hits" in answer or "near spelling" in answer
    assert "reconciliation" in answer
    assert "zzzzqqq" in answer


def test_some_of_the_words_are_shown_with_counts(desk: Any):
    source = desk.text("alpha one\nalpha two\n" + "x\n" * 500 + "gamma\n")
    answer = desk.ask(source, "alpha gamma delta")
    assert "counts: alpha 2, gamma 1, delta 0" in answer


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("ΣΤΉΛΗΣ εδώ", "στήλης"),
        ("σε δύο στήλες", "ΣΤΉΛΕΣ"),
        ("ﬁle ＡＢＣ１２", "abc12"),
        ("cafe\u0301 noir", "CAFÉ"),
        ("10 µm thick", "μm"),
        ("naïve", "nai\u0308ve"),
        ("it’s here", "it's"),
    ],
)
def test_letters_are_folded(desk: Any, text: str, query: str):
    assert "all of 1 hit" in desk.ask(desk.text(f"first line\n{text}\n"), query)


def test_a_decomposed_hit_is_cut_at_the_right_place(desk: Any):
    text = "e\u0301" * 3000 + " the needle stands here " + "e\u0301" * 3000
    assert "needle stands here" in desk.ask(desk.text(text), "needle")


def test_a_regex_runs_on_decoded_strings_of_json(desk: Any):
    source = desk.json({"log": 'first\nsecond "quoted" line\nthird'})
    answer = desk.ask(source, '/^second "quoted"/')
    assert "1 hit" in answer
    assert "log" in answer


def test_regex_flags_are_taken(desk: Any):
    source = desk.text("Alpha\nbeta\n")
    assert "1 hit" in desk.ask(source, "/^alpha$/i")
    assert "0 hits" in desk.ask(source, "/^alpha$/")
    assert "1 hit" in desk.ask(source, "/Alpha.beta/s")
    assert "1 hit" in desk.ask(source, "/ Al \\w+ # a comment/x")


@pytest.mark.parametrize("pattern", ["/a(?=b)/", r"/(a)\1/", "/(/", "/a{1,1001}{1,1001}/"])
def test_an_unsupported_pattern_says_so(desk: Any, pattern: str):
    error = desk.error(desk.text("aab"), pattern)
    assert "regex" in error.message
    assert error.next_call


def test_a_tree_shows_where_its_hit_stands(desk: Any):
    text = "- page\n  - menu\n    - item one\n    - item two\n  - body\n    - heading\n      - link needle\n        - url x\n"
    answer = desk.ask(desk.text(text * 3), "needle")
    assert "- body" in answer
    assert "- heading" in answer


def test_a_table_row_comes_with_its_columns(desk: Any):
    text = "id,name,city\n" + "".join(f"{n},person {n},town {n}\n" for n in range(400))
    answer = desk.ask(desk.text(text), "person 77,")
    assert "columns: id, name, city" in answer
    assert "77,person 77,town 77" in answer


def test_a_hit_in_parallel_arrays_shows_the_row(desk: Any):
    value = {
        "daily": {"time": [f"2026-01-{n:02d}" for n in range(1, 29)], "rain": list(range(28)), "sun": list(range(28))}
    }
    assert '"rain":6' in desk.ask(desk.json(value), "2026-01-07")


def test_spaces_after_colons_do_not_matter(desk: Any):
    source = desk.text(json.dumps({"items": [{"draft": True, "id": 1}, {"draft": False, "id": 2}]}, indent=1))
    assert "1 hit" in desk.ask(source, '"draft":true')


@pytest.mark.parametrize("query", ["number=17", "number: 17", '"number": 17'])
def test_a_field_with_its_value_is_found_in_any_spelling(desk: Any, query: str):
    source = desk.json([{"number": number, "name": "x"} for number in range(15, 20)])
    answer = desk.ask(source, query)
    assert "all of 1 hit" in answer
    assert "[2]" in answer


def test_values_that_stand_in_text_and_structure_are_shown_once(desk: Any):
    rows = [{"id": n, "name": f"item {n}"} for n in range(50)]
    text = json.dumps({"ok": True, "rows": rows})
    source = desk.result({"content": [{"type": "text", "text": text}], "structuredContent": {"rows": rows, "n": 50}})
    assert desk.ask(source, "item 17").count("item 17") == 1


def test_a_search_of_nothing_is_a_page(desk: Any):
    assert desk.body(desk.text("hello"), "find:") == "hello"


def test_a_row_of_a_listing_comes_alone(desk: Any):
    text = "".join(
        f'10.0.0.{n % 200} - - [10/Oct/2026] "GET /p/{n} HTTP/1.1" {500 if n == 77 else 200}\n' for n in range(400)
    )
    body = desk.body(desk.text(text), "/ 500$/")
    assert body == '78: 10.0.0.77 - - [10/Oct/2026] "GET /p/77 HTTP/1.1" 500'


def test_a_failure_among_rows_comes_with_its_lines(desk: Any):
    rows = "".join(f"tests/test_{n}.py::test_{n} PASSED\n" for n in range(200))
    text = f"{rows}=== FAILURES ===\n___ test_bad ___\n>   assert add(1, 2) == 4\nE   assert 3 == 4\n"
    assert "assert 3 == 4" in desk.body(desk.text(text), "test_bad")


def test_a_hit_in_a_section_names_its_heading(desk: Any):
    text = "".join(f"## Part {n}\n\nIt speaks of thing {n}.\n\n" for n in range(100))
    body = desk.body(desk.text(text), "thing 42.")
    assert "169- ## Part 42" in body


def test_what_caused_an_exception_comes_with_it(desk: Any):
    lines = "".join(f"10:15:{n % 60:02d}.123 [main] INFO app - step {n}\n" for n in range(300))
    trace = "10:20:00.000 [main] ERROR app - boom\njava.lang.Error: x\n\tat a.B.c(B.java:1)\nCaused by: java.io.IOException: y\n"
    body = desk.body(desk.text(lines + trace + lines), "IOException")
    assert "ERROR app - boom" in body
    assert "at a.B.c" in body
