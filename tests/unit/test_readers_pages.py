"""Pages: exact text, whole budgets, the order of blocks, and what has no text."""

import base64
import json
import re
from typing import Any

import pytest

from slimguard import policy, readers
from slimguard.document import document_of


def prose(size: int) -> str:
    sentence = "The quick brown fox jumps over the lazy dog; {} times it did so, and nobody counted.\n"
    return "".join(sentence.format(number) for number in range(size // 84 + 1))[:size]


CORPORA = {
    "prose": prose(100_000),
    "log": "".join(
        f"2026-01-01 10:{n % 60:02d}:01,{n % 1000:03d} INFO [w-{n % 9}] GET /a/{n * 7919}\n" for n in range(4000)
    ),
    "json": json.dumps([{"id": n, "name": f"row {n}", "tags": ["a", "b"], "score": n / 7} for n in range(1500)]),
    "chinese": "设置了这个变量时脚本出错返回三，否则继续执行下一条命令。" * 1500,
    "base64": base64.b64encode(bytes(range(256)) * 300).decode(),
    "emoji": "🎉👩‍👩‍👧‍👦🇬🇷 ok " * 4000,
    "crlf": "one line\r\nanother, longer line\r\n" * 2000,
}


@pytest.mark.parametrize("name", CORPORA)
@pytest.mark.parametrize("budget", [policy.PAGE_BUDGET, policy.STRICT_PAGE_BUDGET])
def test_a_full_read_is_exact_and_costs_little_more_than_the_text(desk: Any, name: str, budget: Any):
    desk.page_budget = budget
    text = CORPORA[name]
    source = desk.text(text)
    spent = 0
    bodies: list[str] = []
    cursor = ""
    while True:
        answer = desk.ask(source, "", cursor)
        assert desk.counter.count(answer) <= budget.tokens
        assert len(answer.encode()) <= budget.bytes
        spent += desk.cost(source, "", cursor)
        bodies.append(answer.partition("\n")[2].rpartition("\n")[0])
        following = desk.next_of(answer)
        if following is None:
            break
        cursor = following[2]
    assert "".join(bodies) == text
    escaped = json.dumps(text, ensure_ascii=False)
    if name == "crlf":
        return  # the shortest lines meet the budget of lines first
    limit = 1.05 if budget is policy.PAGE_BUDGET else 1.12
    assert spent <= limit * desk.counter.count(escaped) + 200


def test_header_and_footer_say_what_is_shown_and_the_footer_has_the_next_call(desk: Any):
    source = desk.text(prose(50_000))
    first, *_, last = desk.ask(source).split("\n")
    assert first.startswith(f"[slimguard page result_ref={source.ref} shown: lines 1-")
    assert last.startswith(f"[slimguard result_ref={source.ref} shown: lines 1-")
    assert desk.next_of(last)[0] == source.ref


def test_raw_pages_are_the_whole_stored_value(desk: Any):
    value = {"content": [{"type": "text", "text": 'a "quoted" λέξη\n' * 3000}], "isError": False, "x": [1.0, 2]}
    source = desk.result(json.dumps(value, indent=1).encode())
    assert "".join(desk.pages(source, "raw:")) == json.dumps(value, indent=1)


def test_blocks_are_read_one_after_the_other(desk: Any):
    source = desk.text("first " * 4000, "", "third " * 4000)
    assert "".join(desk.pages(source)) == "first " * 4000 + "third " * 4000
    assert "".join(desk.pages(source, "block:2")) == "third " * 4000


def test_a_page_says_which_block_it_is_of_when_there_are_several(desk: Any):
    assert "page of block 0 (text)" in desk.ask(desk.text("a", "b"))


def test_a_block_that_does_not_exist_is_named_with_those_that_do(desk: Any):
    error = desk.error(desk.text("a"), "block:7")
    assert "block 0 (text)" in error.message
    assert "block:0" in error.next_call


def test_an_image_block_is_returned_as_an_image(desk: Any):
    image = {"type": "image", "data": "QUJD", "mimeType": "image/png"}
    source = desk.result({"content": [{"type": "text", "text": "hello"}, image]})
    assert desk.reply(source, "block:1").media == (image,)
    assert "block:1" in desk.ask(source)


def test_an_embedded_resource_is_read_by_index_and_a_link_is_described(desk: Any):
    resource = {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "inner text"}}
    link = {"type": "resource_link", "uri": "file:///b.txt", "name": "b"}
    source = desk.result({"content": [resource, link]})
    assert desk.body(source, "block:0") == "inner text"
    assert "file:///b.txt" in desk.body(source, "block:1")


def test_an_empty_result_is_an_empty_page(desk: Any):
    assert desk.body(desk.text("")) == ""
    assert "no content" in desk.ask(desk.result({"content": []}))


def test_lone_surrogates_are_shown_as_replacement_characters_and_said(desk: Any):
    source = desk.result(b'{"content":[{"type":"text","text":"a\\ud800b"}]}')
    answer = desk.ask(source)
    assert "a\ufffdb" in answer
    assert "surrogates" in answer.split("\n")[0]
    assert "surrogates" in desk.ask(source, "lines:1").split("\n")[0]


def test_pages_of_one_line_json_end_between_records(desk: Any):
    source = desk.json([{"id": number, "text": "x" * 40} for number in range(2000)])
    assert all(body.endswith(("},", "]")) for body in desk.pages(source))


def test_an_answer_that_is_too_large_to_parse_is_paged_and_searched_as_text(desk: Any):
    text = "line of text\n" * 1000 + "the needle is here\n"
    raw = json.dumps({"content": [{"type": "text", "text": text}]}).encode()
    parsed = desk.result(raw)
    source = readers.Source(parsed.ref, document_of(raw, parse_limit=100), parsed.call)
    assert "".join(desk.pages(source)) == raw.decode()
    answer = desk.ask(source, "needle")
    assert "the needle is here" in answer
    hint = re.search(r"bytes:\d+-\d+", answer)
    assert hint is not None
    assert "needle" in desk.body(source, hint.group())


def test_a_view_can_be_continued_where_it_stopped(desk: Any):
    text = prose(30_000)
    source = desk.text(text)
    cursor = readers.page_cursor(desk.context, source.ref, 0, 1000)
    assert desk.body(source, "", cursor) == text[1000 : 1000 + len(desk.body(source, "", cursor))]
