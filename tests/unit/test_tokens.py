"""The counter: shipped vocabulary, exact counts, shortcuts, estimates, host factors, damage."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import subprocess
import sys
import threading
import time

import pytest
from tiktoken_ext import openai_public

from slimguard.tokens import HostTokens, Tokens, vocabulary

TOKENS = Tokens()


def refuse() -> vocabulary.Vocabulary:
    raise AssertionError("the vocabulary was loaded")


UNLOADED = Tokens(refuse)


def encoded(text: str) -> int:
    return len(vocabulary.shared_vocabulary().encode(text))


def records(count: int) -> str:
    draw = random.Random(7)
    rows = [
        {"id": draw.randrange(10**9), "name": f"user-{row}", "url": f"https://example.com/{draw.getrandbits(64):x}"}
        for row in range(count)
    ]
    return json.dumps(rows, separators=(",", ":"))


def test_the_asset_holds_exactly_the_original_vocabulary() -> None:
    _, tokens = vocabulary.unpack(vocabulary.shipped_asset())
    text = b"".join(b"%s %d\n" % (base64.b64encode(token), rank) for rank, token in enumerate(tokens))
    assert hashlib.sha256(text).hexdigest() == vocabulary.ORIGINAL_SHA256


def test_pattern_specials_and_digest_are_those_that_tiktoken_declares(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str | None] = []

    def no_download(_url: str, expected_hash: str | None = None) -> dict[bytes, int]:
        asked.append(expected_hash)
        return {}

    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", no_download)
    declared = openai_public.o200k_base()
    assert declared["pat_str"] == vocabulary.SPLIT_PATTERN
    assert declared["special_tokens"] == vocabulary.SPECIAL_TOKENS
    assert asked == [vocabulary.ORIGINAL_SHA256]


def test_importing_tokens_imports_no_tiktoken_and_reads_no_vocabulary() -> None:
    code = (
        "import sys, slimguard.tokens as t; t.Tokens(); from slimguard.tokens import vocabulary as v;"
        "print('tiktoken' in sys.modules, len(v._shared))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "0"]


def test_threads_that_need_the_vocabulary_at_once_load_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[int] = []
    started = threading.Barrier(4)

    def slow() -> vocabulary.Vocabulary:
        loads.append(1)
        return vocabulary.Vocabulary(lambda text: text.encode(), b"\1" * 256)

    monkeypatch.setattr(vocabulary, "_shared", [])
    monkeypatch.setattr(vocabulary, "open_vocabulary", slow)
    counts: list[int] = []

    def work() -> None:
        started.wait()
        counts.append(Tokens().count("four"))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loads == [1]
    assert counts == [4, 4, 4, 4]


HARD_TEXTS = {
    "nothing": "",
    "special tokens as text": "a<|endoftext|>b <|endofprompt|>" * 3,
    "prose over a chunk": "It's the bears' den; they'll say \"hello\" 1,234 times.\n\n  - indented\r\n" * 2_000,
    "records on one line": records(2_000),
    "digits": "a" + "1234567890" * 30_000,
    "hex": random.Random(1).randbytes(100_000).hex(),
    "base64": base64.b64encode(random.Random(2).randbytes(150_000)).decode(),
    "base64 for urls": base64.urlsafe_b64encode(random.Random(3).randbytes(150_000)).decode(),
    "chinese": "".join(random.Random(4).choices("的一是在不了有和人这中大为上个国，。！", k=200_000)),
    "thai and hindi": "ภาษาไทยไม่มีช่องว่าง हिन्दी में लिखा हुआ ".replace(" ", "") * 900,
    "emoji with joiners": "👩‍👩‍👧‍👦🏽🇩🇪" * 3_000,
    "paths": "/usr/lib/x.so\n/usr/local/)\n/etc/" * 5_000,
    "blank lines": "x\n\n\n \n\t\n  y)\n/\n" * 10_000,
    "carriage returns": "one\r\ntwo\r\n\r\n" * 10_000,
    "camel case": "getHTTPResponseCodeOf'LLand" * 8_000,
}


@pytest.mark.parametrize("name", HARD_TEXTS)
def test_counting_in_chunks_gives_what_one_encoding_gives(name: str) -> None:
    text = HARD_TEXTS[name]
    count = TOKENS.count(text)
    assert count == encoded(text)
    assert TOKENS.within(text, count)
    assert not TOKENS.within(text, count - 1)


@pytest.mark.parametrize("text", [" " * 1_000_000, "\n" * 1_000_000, "=" * 1_000_000, "a" * 1_000_000])
def test_runs_that_the_encoder_cannot_take_whole_are_counted_and_paged(text: str) -> None:
    started = time.thread_time()
    count = TOKENS.count(text)
    assert len(text) / 128 <= count <= len(text) / 4
    assert not TOKENS.within(text, 100)
    assert TOKENS.page_end(text, 0, 1_000_000) > 0
    assert TOKENS.page_end(text, 0, 50, max_bytes=4_000) <= 4_000
    assert time.thread_time() - started < 5


def test_a_panic_of_the_encoder_becomes_an_overestimate(capfd: pytest.CaptureFixture[str]) -> None:
    shared = vocabulary.shared_vocabulary()
    numbers = shared.encode(" " * 1_200_000 + "x")
    capfd.readouterr()
    assert sum(shared.lengths[number] for number in numbers) == 1_200_001


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb" * 100, "\ud83d\ude00 is no pair here", "\udc00\ud800" * 500])
def test_lone_surrogates_are_counted_as_replacement_characters(text: str) -> None:
    replaced = "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
    assert TOKENS.count(text) == TOKENS.count(replaced)
    assert TOKENS.within(text, TOKENS.count(text))
    assert TOKENS.estimate(text) > 0
    assert 0 < TOKENS.page_end(text, 0, 3) <= len(text)


def test_bytes_decide_without_the_vocabulary_where_they_can() -> None:
    assert UNLOADED.within("short", 5)
    assert UNLOADED.within("größe", 7)
    assert UNLOADED.within("x" * 2_000, 2_000)
    assert UNLOADED.within("", 0)
    assert not UNLOADED.within("", -1)
    assert not UNLOADED.within("x" * 12_801, 100)
    assert UNLOADED.count("") == 0
    assert UNLOADED.page_end("x y" * 10, 0, 1_000) == 30
    assert UNLOADED.page_end("line\n" * 10, 0, 1_000, max_lines=3) == 15
    assert UNLOADED.page_end("line\n" * 10, 0, 1_000, max_bytes=12) == 10
    assert UNLOADED.damage == ""


def test_a_long_text_is_judged_from_its_beginning() -> None:
    text = records(40_000)
    TOKENS.within(text, 40_000)
    started = time.thread_time()
    for _ in range(20):
        assert not TOKENS.within(text, 2_000)
        assert not TOKENS.within(text, 40_000)
    early = (time.thread_time() - started) / 20
    started = time.thread_time()
    TOKENS.count(text)
    assert early < (time.thread_time() - started) / 5


def test_estimates_are_exact_for_short_texts_and_near_for_long_ones() -> None:
    short = records(150)
    assert TOKENS.estimate(short) == TOKENS.count(short)
    mixed = records(3_000) + "\n".join(f"2026-11-30T17:00:{n % 60:02d}Z INFO done in {n} ms" for n in range(20_000))
    for text in (records(3_000), mixed, "的一是在不了有和人，" * 20_000, " " * 300_000):
        assert TOKENS.estimate(text) == pytest.approx(TOKENS.count(text), rel=0.05)
        assert TOKENS.estimate(text) == TOKENS.estimate(text)


def test_estimating_ten_megabytes_costs_about_what_a_short_text_costs() -> None:
    short, long = records(600), records(120_000)
    assert len(long) > 150 * len(short)
    started = time.thread_time()
    for _ in range(5):
        TOKENS.estimate(short)
    base = time.thread_time() - started
    started = time.thread_time()
    for _ in range(5):
        TOKENS.estimate(long)
    assert time.thread_time() - started < 10 * base + 0.1


@pytest.mark.parametrize("damage", ["flipped", "cut short", "empty", "missing"])
def test_a_damaged_vocabulary_counts_bytes_and_says_so(damage: str) -> None:
    asset = vocabulary.shipped_asset()

    def read() -> bytes:
        if damage == "missing":
            raise FileNotFoundError(2, "no such file")
        flipped = asset[:5_000] + bytes((asset[5_000] ^ 1,)) + asset[5_001:]
        return {"flipped": flipped, "cut short": asset[:-1], "empty": b""}[damage]

    tokens = Tokens(lambda: vocabulary.open_vocabulary(read))
    text = "Grüße, 世界! " * 200
    assert tokens.count(text) == len(text.encode()) >= TOKENS.count(text)
    assert not tokens.within(text, len(text.encode()) - 1)
    assert tokens.estimate(text) == len(text.encode())
    assert 0 < tokens.page_end(text, 0, 100) <= 100
    assert "counted as bytes" in tokens.damage


def test_the_shipped_vocabulary_is_sound() -> None:
    tokens = Tokens()
    tokens.load()
    assert tokens.damage == ""


@pytest.mark.parametrize("factor", [1.0, 1.3, 0.85, 2.5])
def test_a_host_counts_its_own_tokens_rounded_up(factor: float) -> None:
    host = HostTokens(TOKENS, factor)
    for text in ("", "one", records(3), records(40)):
        own = host.count(text)
        assert factor * TOKENS.count(text) == pytest.approx(own, abs=1)
        assert own >= factor * TOKENS.count(text) - 1e-6
        assert host.within(text, own)
        assert not host.within(text, own - 1)
        assert host.estimate(text) == own


def test_a_page_for_a_host_is_within_the_hosts_tokens() -> None:
    text, host = records(500), HostTokens(TOKENS, 1.3)
    end = host.page_end(text, 0, 1_000)
    assert 950 < host.count(text[:end]) <= 1_000
    assert host.page_end(text, 0, 1_000, max_bytes=500) <= 500


def test_a_factor_that_is_not_positive_is_refused() -> None:
    with pytest.raises(ValueError, match="positive"):
        HostTokens(TOKENS, 0)


def test_a_page_prefers_the_end_of_a_line_in_its_second_half() -> None:
    lines = "".join(f"line {number} of some text\n" for number in range(500))
    end = TOKENS.page_end(lines, 0, 300)
    assert lines[end - 1] == "\n"
    assert TOKENS.count(lines[:end]) > 280
    early = "short\n" + "word " * 5_000
    end = TOKENS.page_end(early, 0, 300)
    assert TOKENS.count(early[:end]) == 300


def test_a_page_without_line_cuts_is_as_long_as_fits() -> None:
    lines = "".join(f"line {number} of some text\n" for number in range(500))
    end = TOKENS.page_end(lines, 0, 300, cut_lines=False)
    assert 297 <= TOKENS.count(lines[:end]) <= 300


def test_lines_that_begin_with_a_slash_or_are_blank_are_cut_at_too() -> None:
    for text in ("call(x)\n/usr/bin/env\n" * 500, "a paragraph)\n\n\n" * 500):
        end = TOKENS.page_end(text, 0, 200)
        assert text[end - 1] == "\n"
        assert 150 < TOKENS.count(text[:end]) <= 200


def test_a_page_keeps_to_its_bytes_and_lines() -> None:
    text = "größe 世界\n" * 1_000
    end = TOKENS.page_end(text, 0, 4_000, max_bytes=1_000)
    assert 900 < len(text[:end].encode()) <= 1_000
    assert text[end - 1] == "\n"
    assert text[: TOKENS.page_end(text, 0, 4_000, max_lines=7)].count("\n") == 7
    assert text[: TOKENS.page_end(text, 3, 4_000, max_lines=1)] == text[:9]


def test_a_page_makes_progress_whatever_the_limits_and_keeps_characters_whole() -> None:
    flag = "🧑🏽‍🚀"
    assert TOKENS.page_end("𒀀𒀀", 0, 1) == 1
    assert TOKENS.page_end("\r\n\r\n", 0, 1, max_bytes=1) == 2
    assert TOKENS.page_end("\ud83d\ude00" * 9, 0, 1) % 2 == 0
    assert TOKENS.page_end("\ud83d\ude00" * 9, 0, 1, max_bytes=3) == 2
    assert TOKENS.page_end(flag, 0, 0, max_bytes=0, max_lines=0) == 1
    assert TOKENS.page_end("text", 4, 10) == 4
    assert TOKENS.page_end("", 0, 10) == 0
    end = TOKENS.page_end(flag * 100, 0, 50)
    assert end % len(flag) == 0


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("a\u0301aa\u0301a\u0301aa\u0301aaaaaaaa\u0301a", 9),
        ("\u0301/\u0301////////\u0301\u0301/\u0301\u0301//\u0301\u0301/\u0301\u0301\u0301///", 4),
    ],
)
def test_a_page_that_makes_more_tokens_alone_than_in_the_text_is_shortened(text: str, limit: int) -> None:
    end = TOKENS.page_end(text, 0, limit)
    assert end > 0
    assert TOKENS.count(text[:end]) <= limit


def test_the_first_page_of_twelve_megabytes_needs_one_window() -> None:
    pieces = records(2_000)
    line = pieces * (12_000_000 // len(pieces) + 1)
    seen: list[int] = []
    shared = vocabulary.shared_vocabulary()

    def watched(text: str) -> list[int]:
        seen.append(len(text))
        return list(shared.encode(text))

    tokens = Tokens(lambda: vocabulary.Vocabulary(watched, shared.lengths))
    for start in (0, 7_000_003):
        seen.clear()
        end = tokens.page_end(line, start, 4_000, max_bytes=16_000)
        assert 3_990 <= TOKENS.count(line[start:end]) <= 4_000
        assert sum(seen) <= 65_536
