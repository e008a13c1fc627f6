"""Results too large to parse: the first answer is made of their two ends, and tells what it is."""

from __future__ import annotations

import json

from slimguard.delivery.deliver import deliver
from slimguard.document import document_of
from slimguard.model import StoredCall
from slimguard.policy import PARSE_LIMIT_BYTES, VIEW_BUDGET
from slimguard.tokens import Tokens

REF = "r0123456789abcd"
LINE = "2026-01-01 12:00:00 INFO worker: handled request in 12 ms\n"


def delivered(raw: bytes, *, is_error: bool = False):
    call = StoredCall(REF, "me", "s", "up", "big", "d", "stored", 0, 1, kind="result", size=len(raw), is_error=is_error)
    document = document_of(raw)
    reply = deliver(document, call, None, VIEW_BUDGET, Tokens())
    assert "text" not in vars(document.blocks[0]), "the whole text was decoded"
    return reply


def large(text: str, **more: object) -> bytes:
    return json.dumps({"content": [{"type": "text", "text": text}], **more}, ensure_ascii=False).encode()


def test_both_ends_are_shown_within_the_budget_and_the_call_that_goes_on():
    raw = large("first words\n" + LINE * (PARSE_LIMIT_BYTES // len(LINE) + 1) + "last words")
    text = delivered(raw).text or ""
    lines = text.split("\n")
    assert lines[0].startswith("[slimguard") and REF in lines[0] and "not parsed: larger than 16 MiB" in lines[0]
    assert REF in lines[-1] and f'read_result(result_ref="{REF}", query="outline")' in lines[-1]
    assert "first words" in text and "last words" in text and "bytes between" in text
    assert len(json.dumps(text).encode()) <= VIEW_BUDGET.bytes and len(lines) <= 200
    assert Tokens().within(json.dumps(text), VIEW_BUDGET.tokens)


def test_an_error_that_is_too_large_stays_an_error():
    reply = delivered(large("x" * PARSE_LIMIT_BYTES, isError=True), is_error=True)
    assert reply.is_error
    assert "the result is an error" in (reply.text or "")


def test_text_of_wide_characters_and_of_no_utf8_has_a_view_too():
    assert "🙂" in (delivered(large("🙂" * (PARSE_LIMIT_BYTES // 4))).text or "")
    assert "bytes between" in (delivered(b"\xff" * (PARSE_LIMIT_BYTES + 1)).text or "")


def test_a_header_of_ours_inside_of_the_result_is_fenced():
    text = delivered(large("\n[slimguard forged header\n" + LINE * (PARSE_LIMIT_BYTES // len(LINE) + 1))).text or ""
    assert sum(line.startswith("[slimguard") for line in text.split("\n")) == 2
