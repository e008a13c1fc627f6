"""The order by words with a gain for what is near in meaning; no model is needed for it."""

from __future__ import annotations

import pytest

from slimguard import canonical, fusion, policy, ranking
from slimguard.guard.shelf import Shelf
from slimguard.model import Tool
from slimguard.settings import Settings, StoreSettings


def tool(server: str, name: str, description: str, *parameters: str) -> Tool:
    definition = {
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": {one: {"type": "string"} for one in parameters}},
    }
    return Tool(server, name, definition, canonical.definition_digest(definition))


TOOLS = (
    tool("github", "list_issues", "List the issues of a repository", "repo"),
    tool("github", "create_issue", "Create an issue in a repository", "repo", "title"),
    tool("github", "list_pull_requests", "List the pull requests of a repository", "repo"),
    tool("mirror", "list_issues", "List the issues of a repository", "repo"),
    tool("weather", "get_forecast", "Forecast of rain and wind", "city"),
    tool("files", "read_file", "Read a file", "path"),
    tool("files", "write_file", "Write a file", "path", "text"),
    tool("random", "sample", "Draw a sample from a list", "items"),
)
INDEX = ranking.build(TOOLS)
PLACES = {one.id: place for place, one in enumerate(INDEX.tools)}


def near(*ids: str):
    return lambda _query: [PLACES[one] for one in ids]


def ids(found: ranking.Found) -> list[str]:
    return [match.tool.id for match in found.matches]


QUERIES = ("list the issues of a repository", "read a file", "files", "weather in Rome", "nothing of the kind", "")


@pytest.mark.parametrize("query", QUERIES)
def test_while_nothing_is_learned_the_words_answer(query: str) -> None:
    assert fusion.search(INDEX, query, lambda _query: None) == ranking.search(INDEX, query)


def test_what_shares_no_word_is_found_by_meaning() -> None:
    found = fusion.search(INDEX, "who won the lottery draw among people", near("random/sample"))
    assert "random/sample" in ids(found)


def test_an_answer_without_any_word_is_said_to_be_unsure() -> None:
    assert ranking.search(INDEX, "qqxz vvkw").confidence == "none"
    found = fusion.search(INDEX, "qqxz vvkw", near("weather/get_forecast"))
    assert ids(found) == ["weather/get_forecast"]
    assert found.confidence == "low"


def test_the_best_by_words_stays_first_when_meaning_is_silent_about_it() -> None:
    words = ids(ranking.search(INDEX, "problemas del repositorio"))
    assert ids(fusion.search(INDEX, "problemas del repositorio", near("files/write_file")))[0] == words[0]


@pytest.mark.parametrize("query", ["文件", "Datei", "fichier", "archivo"])
def test_meaning_decides_between_tools_that_words_of_another_language_hold_for_alike(query: str) -> None:
    words = ids(ranking.search(INDEX, query))
    other = next(one for one in words if one != words[0])
    assert ids(fusion.search(INDEX, query, near(other)))[0] == other


@pytest.mark.parametrize("query", ["file", "repository issues", "read the forecast of a list. draw a file for a city."])
def test_english_words_that_matched_well_keep_their_order_and_the_model_is_not_asked(query: str) -> None:
    asked: list[str] = []
    assert ranking.search(INDEX, query).confidence == "several"
    assert fusion.search(INDEX, query, lambda one: asked.append(one) or [0]) == ranking.search(INDEX, query)
    assert asked == []


def test_meaning_helps_one_sentence_that_hardly_matched_but_not_several() -> None:
    one = "who won the lottery draw among people"
    several = f"{one} of our town. tell the mayor what zorbs qqxz vvkw mean"
    pulled = near("weather/get_forecast")
    assert [ranking.search(INDEX, query).confidence for query in (one, several)] == ["low", "low"]
    assert "weather/get_forecast" in ids(fusion.search(INDEX, one, pulled))
    assert fusion.search(INDEX, several, pulled) == ranking.search(INDEX, several)


def test_letters_that_english_lacks_tell_another_language_even_when_no_word_is_known() -> None:
    query = "issues проект repository"
    assert ids(ranking.search(INDEX, query))[0] == "github/list_issues"
    assert ids(fusion.search(INDEX, query, near("github/create_issue")))[0] == "github/create_issue"


def test_a_copy_on_another_server_does_not_take_a_place() -> None:
    found = fusion.search(INDEX, "problemas del repositorio", near("mirror/list_issues", "github/list_issues"))
    assert len({one.partition("/")[2] for one in ids(found)}) == len(ids(found))


@pytest.mark.parametrize(
    "query",
    [
        "github/list_issues",
        "list_issues",
        "github: issues",
        "github: 问题",
        "repository issues, not pull requests",
        "issues，不要 pull",
    ],
)
def test_exact_names_servers_and_what_is_ruled_out_are_for_words_alone(query: str) -> None:
    pulled = near("github/list_pull_requests", "weather/get_forecast")
    assert fusion.search(INDEX, query, pulled) == ranking.search(INDEX, query)


def test_an_answer_never_has_more_tools_than_asked_for() -> None:
    everything = near(*PLACES)
    for limit in (0, 1, 2, 3, 8):
        assert len(fusion.search(INDEX, "archivo", everything, limit=limit).matches) <= limit


def test_each_tool_that_meaning_brought_says_so() -> None:
    found = fusion.search(INDEX, "archivo", near("weather/get_forecast"))
    brought = next(match for match in found.matches if match.tool.id == "weather/get_forecast")
    assert [reason.kind for reason in brought.why] == ["near"]


class Upstreams:
    """A fixed catalog."""

    def tools(self):
        return TOOLS


class Inline:
    """Work done at once."""

    async def run(self, function):
        return function()


class Known:
    """Knows a catalog as soon as it is told to learn it, and finds one tool near whatever is asked."""

    def __init__(self) -> None:
        self.learned: list[object] = []

    def learn(self, tools) -> None:
        self.learned.append(tools)

    def nearest(self, query: str, tools, count: int):
        assert count == policy.MEANING_NEAREST
        return [PLACES["weather/get_forecast"]] if self.learned and self.learned[-1] is tools else None

    def settle(self, seconds: float) -> None:
        pass

    def close(self) -> None:
        pass


@pytest.mark.anyio
async def test_the_shelf_learns_a_catalog_once_and_asks_for_meaning() -> None:
    known = Known()
    settings = Settings({}, StoreSettings("results.db"))
    shelf = Shelf(Upstreams(), lambda: settings, Inline(), known)
    found = await shelf.search("qqxz vvkw")
    await shelf.search("file")
    assert ids(found) == ["weather/get_forecast"]
    assert len(known.learned) == 1


@pytest.mark.anyio
async def test_the_shelf_without_an_embedder_ranks_by_words() -> None:
    settings = Settings({}, StoreSettings("results.db"))
    shelf = Shelf(Upstreams(), lambda: settings, Inline())
    assert ids(await shelf.search("repository issues")) == ids(ranking.search(INDEX, "repository issues"))
