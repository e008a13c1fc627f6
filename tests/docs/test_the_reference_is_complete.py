"""Everything that a user can write or meet stands in the reference: commands, options, keys, errors, views, queries."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import slimguard
from slimguard.cli import EXIT_CODES, build_parser, reference
from slimguard.config.keys import KEYS, dotted
from slimguard.query import KINDS
from slimguard.views.registry import KINDS as VIEWS

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(slimguard.__file__).parent
PAGES = ROOT / "docs" / "reference"
CODE = re.compile(r"""code=f?["']([a-z_]+)["']|, code: str = ["']([a-z_]+)["']""")
WRITTEN_QUERIES = {"page": "*(empty)*", "words": "`find:", "regex": "`/"}


def read(name: str) -> str:
    return (PAGES / name).read_text(encoding="utf-8")


def error_codes() -> set[str]:
    found: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        found |= {one or other for one, other in CODE.findall(path.read_text(encoding="utf-8"))}
    cursors = (PACKAGE / "readers" / "cursor.py").read_text(encoding="utf-8")
    found |= {f"cursor_{name}" for name in re.findall(r'_error\(\s*"([a-z]+)"', cursors)}
    return found | {"expired", "evicted"}  # states of a ref that are codes of the same name


def test_the_page_of_the_commands_is_up_to_date() -> None:
    assert read("commands.md") == reference.page(), "run: python -m slimguard.cli.reference docs/reference"


def test_every_command_and_option_is_on_its_page() -> None:
    page = read("commands.md")
    for path, parser in reference.commands():
        assert f"# {path}\n" in page
        for action in reference.actions(parser):
            assert all(f"`{name}" in page for name in action.option_strings if name not in ("-h", "--help")), path
    assert all(f"| {code} |" in page for code in EXIT_CODES)


def test_every_help_page_has_a_description_and_an_example() -> None:
    for path, parser in reference.commands():
        assert parser.description, path
        if path not in ("slimguard config", "slimguard results"):
            assert "example" in (parser.epilog or ""), path
            assert path in (parser.epilog or ""), f"{path}: the example shows the command itself"
        for action in reference.actions(parser):
            assert action.help or isinstance(action.choices, dict), f"{path} {action.dest} has no help"


@pytest.mark.parametrize("path", [path for path, _ in reference.commands()])
def test_a_help_page_fits_a_screen(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        build_parser().parse_args([*path.split()[1:], "--help"])
    assert len(capsys.readouterr().out.splitlines()) <= 42


def test_every_configuration_key_is_on_its_page() -> None:
    page = read("configuration.md")
    assert [dotted(key.path) for key in KEYS[1:] if f"`{dotted(key.path)}`" not in page] == []


def test_every_error_code_is_on_its_page_and_no_other() -> None:
    page = read("errors.md").partition("## Errors by their code")[2]
    listed = set(re.findall(r"^\| `([a-z_]+)` \|", page, re.MULTILINE))
    assert error_codes() - listed == set(), "errors that docs/reference/errors.md does not explain"
    assert listed - error_codes() == set(), "errors that do not exist any more"


def test_every_view_is_on_a_page() -> None:
    pages = "\n".join(path.read_text(encoding="utf-8") for path in (PAGES / "views").glob("*.md"))
    assert [view.name for view in VIEWS if not re.search(rf"\b{view.name}\b", pages, re.IGNORECASE)] == []


def test_every_query_kind_is_on_its_page() -> None:
    page = read("query-language.md")
    assert [kind for kind in KINDS if WRITTEN_QUERIES.get(kind, f"`{kind}") not in page] == []
