"""Whatever the catalog and the query: an answer within its limits, the same one every time, and no exception."""

from __future__ import annotations

import time
import tracemalloc

from hypothesis import given, settings
from hypothesis import strategies as st

from slimguard import canonical, ranking
from slimguard.model import Tool
from slimguard.ranking import text

WORDS = st.sampled_from(
    [
        "create",
        "list",
        "issue",
        "file",
        "weather",
        "天气",
        "查询",
        "ファイル",
        "날씨",
        "repository",
        "GitHub",
        "getUser",
        "read_file",
        "no",
        "not",
        "不要",
        "slack",
        "délete",
    ]
)
ANY_TEXT = st.text(max_size=60)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["properties", "items", "a"]), inner),
    max_leaves=8,
)


@st.composite
def tools(draw: st.DrawFn) -> Tool:
    name = draw(WORDS | ANY_TEXT)
    definition = {
        "name": name,
        "description": draw(ANY_TEXT | st.lists(WORDS, max_size=12).map(" ".join) | st.none()),
        "inputSchema": draw(JSON),
    }
    return Tool(draw(WORDS), name, definition, canonical.definition_digest(definition))


@settings(max_examples=30, deadline=None)
@given(st.lists(tools(), max_size=8), st.lists(WORDS | ANY_TEXT, max_size=8).map(" ".join))
def test_any_query_on_any_catalog_is_answered_within_the_limit(catalog: list[Tool], query: str) -> None:
    index = ranking.build(catalog)
    found = ranking.search(index, query)
    assert len(found.matches) <= 3
    assert (found.confidence == "none") == (not found.matches)
    assert [match.score for match in found.matches] == sorted((match.score for match in found.matches), reverse=True)
    again = ranking.search(ranking.build(list(reversed(catalog))), query)
    assert [match.tool.ref for match in again.matches] == [match.tool.ref for match in found.matches]


@settings(max_examples=20, deadline=None)
@given(st.lists(tools(), max_size=6), st.integers(0, 6))
def test_building_on_an_earlier_index_changes_nothing(catalog: list[Tool], known: int) -> None:
    assert ranking.build(catalog, ranking.build(catalog[:known])) == ranking.build(catalog)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200))
def test_cleaned_text_has_no_hidden_and_no_control_characters(raw: str) -> None:
    cleaned = text.clean(raw)
    assert not any(char in cleaned for char in "\u200b\u200f\u202e\u2066\ufeff\x00\x1b\x7f")
    assert text.clean(cleaned) == cleaned


@settings(max_examples=30, deadline=None)
@given(st.lists(tools(), max_size=8), st.integers(0, 5))
def test_the_map_stays_within_its_lines_and_counts_every_tool(catalog: list[Tool], lines: int) -> None:
    areas = ranking.map_of(catalog, lines)
    assert len(areas) <= lines
    assert not lines or sum(area.tools for area in areas) == len(catalog)


def test_ten_thousand_tools_and_a_megabyte_of_description_stay_bounded() -> None:
    def make(number: int) -> Tool:
        definition = {"name": f"tool_{number}", "description": f"Does thing {number} with files", "inputSchema": {}}
        return Tool(f"server{number % 50}", f"tool_{number}", definition, f"{number:064x}")

    huge = {"name": "huge", "description": "weather file " * 80_000, "inputSchema": {"properties": {"a": {}}}}
    catalog = [make(number) for number in range(10_000)]
    began = time.thread_time()
    index = ranking.build([*catalog, Tool("x", "huge", huge, "f" * 64)])
    for query in ("thing 77 with files", "天气 file", "x" * 1_000_000, "wheather flie " * 1000):
        ranking.search(index, query)
    assert time.thread_time() - began < 10
    assert max(sum(one.lengths) for one in index.analyses) < 1_000


def test_a_megabyte_of_description_takes_no_more_memory_than_its_beginning() -> None:
    def index_of(chars: int) -> tuple[int, int]:
        text = ("weather file report " * (chars // 20))[:chars]
        definition = {"name": "huge", "description": text, "inputSchema": {"properties": {"a": {"description": text}}}}
        catalog = [Tool(f"server{number}", "huge", definition, "f" * 64) for number in range(20)]
        tracemalloc.start()
        index = ranking.build(catalog)
        ranking.search(index, text)
        kept, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return kept, most

    index_of(20)
    small, huge = index_of(5_000), index_of(1_000_000)
    assert huge[0] < 2 * small[0] + 50_000
    assert huge[1] < small[1] + 8_000_000
