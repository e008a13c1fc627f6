"""Bytes, digests and refs: stable, and never an error for a value that JSON has."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slimguard.canonical import (
    REF_ALPHABET,
    canonical,
    chunks,
    definition_digest,
    dump,
    is_ref,
    make_ref,
    manifest_digest,
    value_digest,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(alphabet=st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
@settings(max_examples=80)
def test_a_value_is_written_so_that_it_reads_back(value: object) -> None:
    assert json.loads(dump(value)) == value
    assert json.loads(canonical(value)) == value
    dump(value).encode("utf-8")


def test_a_lone_surrogate_is_escaped() -> None:
    assert dump(["\ud800", "ü"]) == '["\\ud800","\\u00fc"]'
    assert dump(["ü"]) == '["ü"]'


def test_the_order_of_keys_does_not_change_a_digest_and_the_type_of_a_number_does() -> None:
    assert value_digest({"a": 1, "b": 2}) == value_digest({"b": 2, "a": 1})
    assert len({value_digest(value) for value in (1, 1.0, True, "1")}) == 4


def test_a_definition_is_pinned_without_what_changes_nothing() -> None:
    plain = {"name": "read", "inputSchema": {"type": "object"}}
    assert definition_digest(plain) == definition_digest({**plain, "_meta": {"x": 1}, "icons": []})
    assert definition_digest(plain) != definition_digest({**plain, "description": "other"})


@given(st.binary(max_size=200), st.integers(1, 70))
@settings(max_examples=60)
def test_chunks_concatenate_and_are_of_one_size(data: bytes, size: int) -> None:
    parts = list(chunks(data, size))
    assert b"".join(parts) == data
    assert all(len(part) == size for part in parts[:-1])
    assert b"" not in parts


def test_a_manifest_depends_on_size_and_order() -> None:
    one, two = b"1" * 32, b"2" * 32
    assert len({manifest_digest(2, [one, two]), manifest_digest(2, [two, one]), manifest_digest(3, [one, two])}) == 3


@given(st.binary(min_size=8, max_size=12))
@settings(max_examples=60)
def test_a_ref_is_known_and_a_changed_character_is_noticed_nearly_always(random: bytes) -> None:
    ref = make_ref(random)
    assert is_ref(ref)
    assert ref.isalnum()
    wrong = [
        ref[:place] + char + ref[place + 1 :]
        for place in range(1, len(ref))
        for char in REF_ALPHABET
        if char != ref[place]
    ]
    assert sum(is_ref(other) for other in wrong) < len(wrong) / 50


@pytest.mark.parametrize(
    "text", ["", "r", "r0123456789abc", "x0123456789abcde", "r0123456789ABCDE", "r0123456789abcdé", "r" * 15]
)
def test_other_text_is_no_ref(text: str) -> None:
    assert not is_ref(text)


def test_a_ref_needs_random_bytes() -> None:
    with pytest.raises(ValueError, match="8 random bytes"):
        make_ref(b"short")
