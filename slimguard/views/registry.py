"""Which view shows what: a list of kinds asked in order, the first that recognises the content; total, never loud."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from slimguard.document import json_in, tables_in
from slimguard.views.code import code_view, looks_like_code
from slimguard.views.deeptext import long_text
from slimguard.views.diff import diff_view, looks_like_diff
from slimguard.views.encoded import encoded_text
from slimguard.views.error import error_view, looks_like_trace
from slimguard.views.jsonview import around_text, json_view
from slimguard.views.log import log_view, looks_like_log
from slimguard.views.markup import html_view, looks_like_html
from slimguard.views.matches import looks_like_matches, matches_view
from slimguard.views.model import Content, Part, Sketch
from slimguard.views.plan import looks_like_plan, plan_view
from slimguard.views.prose import prose_view
from slimguard.views.snapshot import looks_like_snapshot, snapshot_view
from slimguard.views.texttable import texttable_view
from slimguard.views.treetext import looks_like_tree, tree_text_view
from slimguard.views.xmlview import xml_view
from slimguard.views.yamlview import looks_like_yaml, yaml_view


@dataclass(frozen=True, slots=True)
class Kind:
    """One content kind: how it is recognised and how it is shown."""

    name: str
    recognises: Callable[[Content], bool]
    view: Callable[[Content], Sketch]


def kind_of(content: Content) -> Kind:
    """The first kind that recognises `content`; prose takes what nothing else took."""
    return next(kind for kind in KINDS if kind.recognises(content))


def _is_json(content: Content) -> bool:
    return isinstance(content.value, dict | list)


def _json_view(content: Content) -> Sketch:
    """JSON, or the text that JSON is mostly made of."""
    found = long_text(content.value, content.text)
    if found is None or encoded_text(found[1]):
        return json_view(content, len(found[1]) if found else 0)
    path, text = found
    inner = json_in(text)
    value = inner.value if inner else None
    tables = tables_in(value) if inner else ()
    sketch = _view_of(replace(content, block=None, text=text, value=value, tables=tables))
    return around_text(content, path, text, sketch)


def _view_of(content: Content) -> Sketch:
    return kind_of(content).view(content)


def _is_blob(content: Content) -> bool:
    return bool(encoded_text(content.text.strip()))


def _blob_view(content: Content) -> Sketch:
    return Sketch(
        "encoded",
        [Part((encoded_text(content.text.strip()),), rank=0)],
        f"{len(content.text):,} characters",
        "size",
        ("outline",),
    )


def _is_table(content: Content) -> bool:
    """Whether tables make up most of the text: a table in an article is part of the article."""
    tables: Sequence[int] = [
        table.count for table in content.tables if table.kind in ("csv", "tsv", "markdown", "fixed")
    ]
    if any(table.kind == "stanzas" for table in content.tables):
        return True
    return bool(tables) and sum(tables) * 2 > content.text.count("\n")


def _is_error(content: Content) -> bool:
    return content.document.is_error or looks_like_trace(content.text)


def _is_xml(content: Content) -> bool:
    return content.block is not None and content.block.text == content.text and content.block.xml is not None


KINDS: tuple[Kind, ...] = (
    Kind("json", _is_json, _json_view),
    Kind("encoded", _is_blob, _blob_view),
    Kind("diff", lambda content: looks_like_diff(content.text), diff_view),
    Kind("xml", _is_xml, xml_view),
    Kind("html", lambda content: looks_like_html(content.text), html_view),
    Kind("table", _is_table, texttable_view),
    Kind("tree text", lambda content: looks_like_tree(content.lines), tree_text_view),
    Kind("plan", lambda content: looks_like_plan(content.lines), plan_view),
    Kind("snapshot", lambda content: looks_like_snapshot(content.lines), snapshot_view),
    Kind("matches", lambda content: looks_like_matches(content.lines), matches_view),
    Kind("log", lambda content: not looks_like_trace(content.text) and looks_like_log(content.lines), log_view),
    Kind("error", _is_error, error_view),
    Kind("code", lambda content: looks_like_code(content.lines), code_view),
    Kind("yaml", lambda content: looks_like_yaml(content.lines), yaml_view),
    Kind("text", lambda _: True, prose_view),
)
