"""Queries that ask for several things: each gets its tool, and one server that serves them all is preferred."""

from __future__ import annotations

import pytest

from slimguard import canonical, ranking
from slimguard.model import Tool
from slimguard.ranking import several


def tool(server: str, name: str, description: str) -> Tool:
    definition = {"name": name, "description": description, "inputSchema": {"type": "object"}}
    return Tool(server, name, definition, canonical.definition_digest(definition))


WORDS = [
    "mean",
    "median",
    "variance",
    "maximum",
    "minimum",
    "range",
    "skew",
    "kurtosis",
    "entropy",
    "mode",
    "rank",
    "sum",
    "product",
    "norm",
    "angle",
]
CATALOG = [
    *(tool("numbers", f"compute_{word}", f"Compute the {word} of a series of numbers") for word in WORDS),
    *(tool("shapes", f"draw_{word}", f"Draw the {word} of a shape on a canvas") for word in WORDS),
    *(tool(f"codes{number}", f"generate_qr_code_{number}", "QR code image for a link") for number in range(4)),
    tool("pages", "page_speed", "Measure the loading speed of a page"),
    tool("dice", "roll_die", "Roll a die with n faces"),
    tool("zoo", "lion_image", "Image of a lion"),
    tool("zoo", "tiger_facts", "Facts about the tiger"),
    tool("zoo", "panda_sound", "Sound of the panda"),
    tool("cats", "lion", "Image of a lion"),
    tool("stripes", "tiger", "Facts about the tiger"),
    tool("bamboo", "panda", "Sound of the panda"),
]
INDEX = ranking.build(CATALOG)


def found(query: str) -> list[str]:
    return [match.tool.id for match in ranking.search(INDEX, query).matches]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Generate a QR code. Then measure the page speed.", True),
        ("请帮我生成一个二维码图片。然后测量这个网页的加载速度。", True),
        ("generate a QR code for a link", False),
        ("Hello. Generate a QR code for a link.", False),
        ("", False),
    ],
)
def test_a_query_of_more_than_one_sentence_asks_for_several_things(query: str, expected: bool) -> None:
    assert several.asks(query) is expected


def test_many_tools_for_the_first_request_leave_room_for_the_second() -> None:
    query = (
        "I want to surprise my family. Generate a QR code image with a link to a personal message. "
        "Also check the loading speed of the page, so that it opens quickly."
    )
    assert "pages/page_speed" in found(query)
    assert any(name.startswith("codes") for name in found(query))


def test_the_server_that_serves_all_requests_is_preferred() -> None:
    query = (
        "I am preparing a lesson about animals for my class. Give me an image of a lion and facts about the tiger. "
        "The children would also enjoy the sound of the panda."
    )
    assert all(name.startswith("zoo/") for name in found(query))


def test_scores_never_rise_within_an_answer() -> None:
    query = "Generate a QR code image for a link. Roll a die with twenty faces. Give me facts about the tiger."
    scores = [match.score for match in ranking.search(INDEX, query, limit=8).matches]
    assert len(scores) > 1
    assert scores == sorted(scores, reverse=True)


def test_what_is_covered_already_counts_less() -> None:
    parts = {0: {0: 4.0, 1: 1.0}, 1: {0: 4.0}, 2: {1: 3.0}}
    order = several.spread([0, 1, 2], {0: 5.0, 1: 4.0, 2: 3.0}, parts, repeated=0.5, count=3)
    assert list(order) == [0, 2, 1]
    assert several.spread([0, 1, 2], {0: 5.0, 1: 4.0, 2: 3.0}, parts, repeated=0.0, count=2) == {0: 5.0, 1: 4.0}
