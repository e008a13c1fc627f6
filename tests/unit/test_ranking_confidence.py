"""When an answer is said to be unsure: what nothing in the catalog does, against what something does in other words."""

from __future__ import annotations

import pytest

from slimguard import canonical, ranking
from slimguard.model import Tool


def tool(server: str, name: str, description: str) -> Tool:
    definition = {"name": name, "description": description, "inputSchema": {"type": "object"}}
    return Tool(server, name, definition, canonical.definition_digest(definition))


OTHERS = [
    tool("numbers", f"compute_{word}", f"Compute the {word} of a series of numbers")
    for word in ("mean", "median", "variance", "maximum", "minimum", "range", "skew", "kurtosis", "entropy", "mode")
]
INDEX = ranking.build(
    [
        *OTHERS,
        tool("github", "create_issue", "Create an issue in a repository"),
        tool("github", "list_collaborators", "List the collaborators of a repository"),
        tool("gmail", "send_message", "Send a mail message"),
        tool("gmail", "list_messages", "List the messages of a mailbox"),
        tool("trains", "get_tickets", "Look up train tickets between two stations"),
        tool("charts", "draw_line_chart", "Draw a line chart"),
        tool("charts", "draw_diagram", "Draw a diagram from text"),
        tool("weather", "get_forecast", "Weather forecast for a city"),
    ]
)


def confidence(query: str) -> str:
    return ranking.search(INDEX, query).confidence


@pytest.mark.parametrize(
    "query",
    [
        "send a message with WhatsApp",
        "카카오톡 메시지 보내기",
        "send a LINE message",
        "remove a collaborator from the repository",
        "book train tickets",
        "grow tomatoes on a balcony",
    ],
)
def test_an_answer_is_unsure_when_nothing_does_what_was_asked(query: str) -> None:
    assert confidence(query) in ("low", "none")


@pytest.mark.parametrize(
    "query",
    [
        "open an issue in my repository",
        "list collaborators",
        "send mail message",
        "weather forecast for Seattle",
        "查天气预报",
        "draw a Mermaid diagram",
        "draw a line chart",
        "search train tickets",
        "forecast for 17 May",
    ],
)
def test_an_answer_is_sure_when_something_does_it(query: str) -> None:
    assert confidence(query) in ("clear", "several")


def test_a_query_that_stands_word_for_word_in_a_description_is_believed() -> None:
    said = tool("port", "inspect_vessel", "Write the inspection report of a vessel. 生成船舶检验报告。")
    found = ranking.search(ranking.build([*OTHERS, said]), "生成船舶检验报告")
    assert found.matches[0].tool.id == "port/inspect_vessel"
    assert found.confidence in ("clear", "several")


def test_an_unsure_answer_names_the_nearest_tools() -> None:
    assert ranking.search(INDEX, "remove collaborators").nearest
