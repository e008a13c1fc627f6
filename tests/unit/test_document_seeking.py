"""The children of containers are found where they stand, however little is decoded for it."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from slimguard.document.children import Child, children_at, roots_in
from slimguard.document.jsontext import json_in
from slimguard.document.seeking import Children
from slimguard.readers.locating import JsonPlaces

ROWS = 300
CHANCE = random.Random(11)
ODD = [
    "plain",
    "}, {",
    '},{"id":',
    "a]",
    "[",
    ',"k1":',
    "x,",
    ":",
    '"',
    "\\",
    "né",
    "日本",
    "line\nbreak",
    "\t",
    "",
    " ",
]


def _word(place: int) -> str:
    return f"{ODD[place % len(ODD)]}{place % 7}"


def _flat(place: int) -> dict[str, Any]:
    return {"id": place, "name": _word(place), "score": place / 3, "note": None}


def _nested(place: int) -> dict[str, Any]:
    return {"id": place, "tags": [_word(place)], "labels": [{"id": one, "is": {}} for one in range(place % 4)]}


SHAPES: dict[str, Any] = {
    "records": [_flat(place) for place in range(ROWS)],
    "records with the same first key inside": [_nested(place) for place in range(ROWS)],
    "records with another first key inside": [{"key": place, **_nested(place)} for place in range(ROWS)],
    "records and an empty one": [{}, *(_flat(place) for place in range(ROWS)), {}],
    "an envelope": {"meta": {"rows": "no"}, "rows": [_flat(place) for place in range(ROWS * 10)], "next": None},
    "a large value in the middle": {"a": 1, "text": _word(3) * 40_000, "b": {"text": 2}, "c": [3]},
    "a keyed map": {f"key {place}": _flat(place) for place in range(ROWS)},
    "a keyed map with nested maps": {f"k{place}": {"in": {"k1": place}} for place in range(ROWS)},
    "texts by key": {f"k{place}": _word(place) for place in range(ROWS * 3)},
    "texts by odd keys": {f"{_word(place)}{place}": _word(place) for place in range(ROWS * 3)},
    "keys that begin with a colon": {f":{place}": "x," for place in range(ROWS * 5)},
    "numbers": [place * 7 for place in range(ROWS * 9)],
    "numbers and words": [place if place % 3 else _word(place) for place in range(ROWS * 5)],
    "words": [_word(place) for place in range(ROWS * 3)],
    "commas": [",", ", ", ",,", "x"] * ROWS,
    "pairs": [[place, _word(place)] for place in range(ROWS * 3)],
    "mixed": [{"meta": 1}, [_flat(place) for place in range(ROWS)], "tail", 5, []],
}


def _writings(value: Any) -> Iterator[str]:
    yield json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    yield json.dumps(value)
    yield json.dumps(value, indent=2, ensure_ascii=False)
    yield json.dumps(value, separators=(" ,  ", "\n: "))
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        yield "\n".join(json.dumps(item) for item in value) + "\n\n"
        yield "Found:\n" + " ".join(json.dumps(item, ensure_ascii=False) for item in value)


def _all(text: str) -> tuple[list[Child], Children]:
    found = json_in(text)
    assert found is not None
    rooted = found.form in ("lines", "several")
    expected = roots_in(text, found.start, found.end) if rooted else children_at(text, found.start)
    return expected, Children(text, found.start, found.end, found.value, rooted=rooted)


def _alike(text: str, expected: list[Child], children: Children) -> None:
    for child in CHANCE.sample(expected, min(len(expected), 40)):
        for offset in (child.start, child.value, child.end - 1, (child.start + child.end) // 2):
            assert children.around(offset) == child
        after = child.end
        assert children.around(after) is None or text[after] not in " ,\n]}:"
        if text[child.value] in "[{":
            below = Children(text, child.value, child.end, children.below(child))
            _alike(text, children_at(text, child.value), below)
    assert children.count == len(expected)
    for child in expected[:: max(1, len(expected) // 20)]:
        assert children.under(child.step) == child
    missing = "no such key" if text[expected[0].start if expected else 0] == '"' else len(expected)
    assert children.under(missing) is None


@pytest.mark.parametrize("shape", SHAPES)
def test_every_child_is_found_where_it_stands(shape: str) -> None:
    for text in _writings(SHAPES[shape]):
        _alike(text, *_all(text))


@pytest.mark.parametrize("shape", SHAPES)
def test_without_the_parsed_value_the_children_are_the_same(shape: str) -> None:
    text = json.dumps(SHAPES[shape])
    expected, _ = _all(text)
    _alike(text, expected, Children(text, 0, len(text), None))


def test_keys_that_stand_twice_lead_to_no_error_and_to_the_right_place() -> None:
    rows = ",".join(f'{{"id":{place},"id":"again {place}","x":1}}' for place in range(2_000))
    text = f'{{"rows":[{rows}],"rows":[{{"id":7}}],"n":1}}'
    found = json_in(text)
    assert found is not None
    spot = JsonPlaces(text, found).spot(text.index("again 1500"))
    assert spot is not None
    assert text[spot.start : spot.end] == '"again 1500"'
    assert spot.path == ("rows", 1500, "id")


def test_a_key_with_escapes_is_not_taken_for_its_namesake_inside() -> None:
    inner = ",".join(f'{{"a":{place},"b":2}}' for place in range(20_000))
    text = f'{{"a":[{inner}],"\\u0062":{{"deep":"the needle"}}}}'
    found = json_in(text)
    assert found is not None
    spot = JsonPlaces(text, found).spot(text.index("needle"))
    assert spot is not None
    assert spot.path == ("b", "deep")


def test_the_last_of_many_records_has_its_path() -> None:
    text = json.dumps({"data": {"rows": [{"id": place, "name": f"row {place}"} for place in range(50_000)]}, "n": 1})
    found = json_in(text)
    assert found is not None
    spot = JsonPlaces(text, found).spot(text.index("row 49999"))
    assert spot is not None
    assert spot.path == ("data", "rows", 49_999, "name")
