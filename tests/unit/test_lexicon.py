"""The lexicon's data files: well-formed, reviewed by rules that a machine can check, and read as meant."""

from __future__ import annotations

from importlib.resources import files

import pytest

from slimguard.ranking import lexicon, products, text
from slimguard.ranking.languages import language_of

LANGUAGES = ["zh", "ja", "ko", "es", "fr", "de", "pt"]


def lines(name: str) -> list[str]:
    content = files("slimguard").joinpath("data", name).read_text(encoding="utf-8")
    return [line for line in content.splitlines() if line.strip() and not line.startswith("#")]


@pytest.mark.parametrize("name", lexicon.CONCEPT_FILES)
def test_every_concept_has_a_cell_for_each_language(name: str) -> None:
    header, *rest = lines(name)
    assert header.split("\t") == ["en", *LANGUAGES]
    for line in rest:
        cells = line.split("\t")
        assert len(cells) == len(LANGUAGES) + 1, line
        assert all(cell.strip() for cell in cells), line


@pytest.mark.parametrize(
    "name",
    ["lexicon_abbreviations.tsv", "lexicon_related.tsv", "lexicon_english.tsv"],
)
def test_every_line_of_the_other_files_has_two_full_cells(name: str) -> None:
    for line in lines(name):
        cells = line.split("\t")
        assert len(cells) == 2, line
        assert all(lexicon.split_cell(cell) for cell in cells), line


def test_every_concept_has_an_english_core() -> None:
    assert all(concept.core for concept in lexicon.concepts())


def test_traditional_and_simplified_characters_pair_up() -> None:
    for line in lines("lexicon_traditional.tsv"):
        old, new = line.split("\t")
        assert len(old) == len(new)
    assert lexicon.simplify("資料庫") == "资料库"
    assert lexicon.simplify("abc 数据库") == "abc 数据库"


@pytest.mark.parametrize(
    ("language", "word", "english"),
    [
        ("zh", "删除", "delete"),
        ("zh", "天气", "weather"),
        ("ja", "予約", "reserve"),
        ("ja", "請求書", "invoice"),
        ("ko", "환율", "exchange rate"),
        ("es", "factura", "invoice"),
        ("fr", "supprimer", "delete"),
        ("de", "rechnung", "invoice"),
        ("pt", "planilha", "spreadsheet"),
    ],
)
def test_a_word_of_each_language_leads_to_its_english(language: str, word: str, english: str) -> None:
    assert lexicon.phrase_of(english) in (lexicon.meaning(language, [text.fold(word)]) or {})


def test_other_forms_of_a_word_are_known_too() -> None:
    assert lexicon.meaning("es", ["facturas"]) == lexicon.meaning("es", ["factura"])
    assert lexicon.meaning("de", ["preise"]) == lexicon.meaning("de", ["preis"])
    assert lexicon.meaning("de", ["quux"]) is None


def test_a_language_is_known_by_other_forms_of_its_words_too() -> None:
    assert language_of(["historische", "aktienkurse"], lambda _term: False) == "de"
    assert language_of(["zzz", "qqq"], lambda _term: False) == "en"


def test_a_run_is_cut_into_the_longest_known_words() -> None:
    spans = lexicon.segment("查询天气预报", "zh")
    assert ["查询天气预报"[start:end] for start, end in spans] == ["查询", "天气预报"]


def test_long_words_of_a_run_are_index_terms() -> None:
    assert "天气预报" in lexicon.long_words("今日天气预报查询")


def test_related_words_lead_one_way_only() -> None:
    assert ("weather",) in lexicon.english()[("umbrella",)]
    assert ("umbrella",) not in lexicon.english().get(("weather",), {})


def test_opening_is_not_creating() -> None:
    assert ("creat",) not in lexicon.english()[("open",)]


def test_products_that_are_ordinary_words_are_not_expected_of_a_tool() -> None:
    names = products.names()
    assert "slack" in names
    assert "微信" in names
    assert not names & {"line", "linear", "notion", "word", "node"}


def test_british_and_american_spelling_are_one_word() -> None:
    assert text.stem("summarise") == text.stem("summarize")
    assert text.stem("colours") == text.stem("colors")
