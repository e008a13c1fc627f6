"""Offsets lead back: from folded and unescaped text to the text, from a place in JSON to its path."""

import json
import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from slimguard.document import MISSING, document_of, json_in, value_at
from slimguard.readers.folding import fold, folded
from slimguard.readers.locating import JsonPlaces
from slimguard.readers.textdiff import changes
from slimguard.readers.unescaping import unescaped

CHARS = st.characters() | st.sampled_from('aé\u0301\u0308ΣσςµΩΩﬁＡ가\u1100\u1161\u11a8’–\\"\n')
TEXTS = st.text(CHARS, max_size=80)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10_000) | st.text(CHARS, max_size=12),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(CHARS, max_size=6), inner, max_size=5),
    max_leaves=20,
)
CONTAINERS = st.lists(JSON, min_size=1, max_size=5) | st.dictionaries(st.text(max_size=6), JSON, min_size=1, max_size=5)


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_folding_keeps_lengths_by_a_way_back(text: str):
    made = folded(text)
    assert made.text == fold(text)
    origins = [made.origin(offset) for offset in range(len(made.text))]
    assert origins == sorted(origins)
    assert all(0 <= origin < len(text) for origin in origins)
    for offset, origin in enumerate(origins):
        if text[origin].isascii() and made.text[offset].isascii():
            assert fold(text[origin]) == made.text[offset]


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_the_same_letters_fold_the_same(text: str):
    composed, apart = unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)
    assert folded(composed).text == folded(apart).text
    assert fold(fold(text)) == fold(text)


@settings(max_examples=200, deadline=None)
@given(TEXTS, st.booleans())
def test_unescaping_is_what_a_parser_reads(text: str, ascii_only: bool):
    escaped = json.dumps(text, ensure_ascii=ascii_only)
    made = unescaped(escaped)
    assert made.text == f'"{text}"'
    for offset, char in enumerate(made.text):
        origin = made.origin(offset)
        if escaped[origin] != "\\" and char.isascii():
            assert escaped[origin] == char


@settings(max_examples=200, deadline=None)
@given(CONTAINERS, st.sampled_from([None, 1]), st.booleans(), st.data())
def test_every_offset_in_json_has_its_path(value: object, indent: int | None, heading: bool, data: st.DataObject):
    text = json.dumps(value, indent=indent, ensure_ascii=data.draw(st.booleans()))
    text = f"Found it:\n{text}" if heading else text
    found = json_in(text)
    if found is None or found.form not in ("whole", "after heading"):
        return
    places = JsonPlaces(text, found)
    offset = data.draw(st.integers(found.start, found.end - 1))
    spot = places.spot(offset)
    assert spot is not None
    inner = value_at(found.value, spot.path)
    assert inner is not MISSING
    assert json.loads(text[spot.start : spot.end]) == inner
    assert places.span(spot.path) == (spot.start, spot.end)


@settings(max_examples=100, deadline=None)
@given(st.lists(TEXTS, max_size=12), st.lists(TEXTS, max_size=12))
def test_a_difference_makes_the_new_of_the_old(old: list[str], new: list[str]):
    out: list[str] = []
    position = 0
    for change in changes(old, new):
        out.extend(old[position : change.old_start])
        out.extend(new[change.new_start : change.new_end])
        position = change.old_end
    assert out + old[position:] == new


def test_duplicate_keys_give_the_last_value():
    text = '{"a": {"b": 1}, "a": {"b": 2}}'
    document = document_of(json.dumps({"content": [{"type": "text", "text": text}]}).encode())
    found = document.blocks[0].json
    assert found is not None
    places = JsonPlaces(text, found)
    assert places.span(("a", "b")) == (text.index("2"), text.index("2") + 1)
