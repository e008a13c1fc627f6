"""The reference pages of the views: each example is what the view makes of its synthetic result today.

`SLIMGUARD_WRITE_DOCS=1` writes the examples anew.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
from pathlib import Path

import pytest

from slimguard.delivery import deliver
from slimguard.document import document_of
from slimguard.model import StoredCall
from slimguard.policy import VIEW_BUDGET
from slimguard.tokens import Tokens

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "reference" / "views"
EXAMPLE = re.compile(r"<!-- example -->\n````?text\n(.*?)````?\n<!-- /example -->", re.DOTALL)
CALL = StoredCall("r0123456789abcd", "owner", "scope", "server", "tool", "digest", "stored", 0.0, 1.0)
COUNTER = Tokens()


def load_shapes():
    path = ROOT / "fixtures" / "results" / "shapes.py"
    spec = importlib.util.spec_from_file_location("result_shapes_of_pages", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.SHAPES


SHAPES = load_shapes()


def example(name):
    raw = json.dumps(SHAPES[name](), ensure_ascii=False).encode()
    text = deliver(document_of(raw), CALL, None, VIEW_BUDGET, COUNTER).text
    assert text is not None
    return text + "\n"


def test_every_shape_has_a_page_and_the_list_names_it():
    listed = (PAGES / "README.md").read_text(encoding="utf-8")
    assert {path.stem for path in PAGES.glob("*.md")} - {"README"} == set(SHAPES)
    assert all(f"({name}.md)" in listed for name in SHAPES)


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_the_example_of_a_page_is_what_the_view_shows(name):
    page = PAGES / f"{name}.md"
    text = page.read_text(encoding="utf-8")
    shown = example(name)
    if os.environ.get("SLIMGUARD_WRITE_DOCS") == "1":
        block = f"<!-- example -->\n````text\n{shown}````\n<!-- /example -->"
        page.write_text(EXAMPLE.sub(lambda _: block, text), encoding="utf-8")
        return
    found = EXAMPLE.search(text)
    assert found is not None
    assert found.group(1) == shown
