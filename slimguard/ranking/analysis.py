"""What the ranking knows of one tool: its words by field and what looks wrong with its text; never the tool's text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from slimguard import policy
from slimguard.model import Tool
from slimguard.ranking import lexicon, text, verbs
from slimguard.ranking.weights import FIELDS

_SENTENCE_END = re.compile(r"(?<=[.!?])\s|[。！？]|\n")
_SCHEMA_DEPTH = 4


@dataclass(frozen=True, slots=True)
class Analysis:
    """One tool's words. `fields` follow `weights.FIELDS`: pairs of term and capped count, with the field's length."""

    server: str
    digest: str
    fields: tuple[tuple[tuple[str, int], ...], ...]
    lengths: tuple[int, ...]
    name_terms: frozenset[str]
    """Terms of the name's words."""
    server_terms: frozenset[str]
    name_key: str
    server_key: str
    parameter_key: str
    """Names of the parameters, sorted and joined: clones of a tool share it."""
    actions: tuple[str, ...]
    """Classes of the first verb of the name, as `verbs.classes` names them."""


def analyse(tool: Tool) -> Analysis:
    """Read the capped beginning of every text of `tool`; total work is bounded by `policy.ANALYSED_*`."""
    described = text.clean(tool.description[: policy.ANALYSED_DESCRIPTION_CHARS])
    lead = _lead(described)
    names, details = _parameters(tool.input_schema)
    words = (
        terms(tool.name[: policy.ANALYSED_NAME_CHARS], identifiers=True),
        terms(tool.server[: policy.ANALYSED_NAME_CHARS], identifiers=True),
        terms(tool.title[: policy.ANALYSED_NAME_CHARS]),
        terms(lead),
        terms(described[len(lead) :]),
        [term for name in names for term in terms(name, identifiers=True)],
        terms(details),
    )
    return Analysis(
        server=tool.server,
        digest=tool.digest,
        fields=tuple(_counted(found) for found in words),
        lengths=tuple(len(found) for found in words),
        name_terms=frozenset(_name_terms(tool.name[: policy.ANALYSED_NAME_CHARS])),
        server_terms=frozenset(words[1]),
        name_key=text.join_key(tool.name[: policy.ANALYSED_NAME_CHARS]),
        server_key=text.join_key(tool.server[: policy.ANALYSED_NAME_CHARS]),
        parameter_key=" ".join(sorted(names)),
        actions=_actions(words[0]),
    )


def terms(raw: str, *, identifiers: bool = False) -> list[str]:
    """Index terms of `raw`: stems, character pairs of CJK text, and the lexicon's longer CJK words."""
    return _terms_of(text.split_words(text.clean(raw), identifiers=identifiers))


def _name_terms(name: str) -> list[str]:
    """Index terms of a name's words, without the joined form that `getUser` has as well: nobody has to say it."""
    words: list[str] = []
    for word in text.split_words(text.clean(name), identifiers=True):
        if not any(word == "".join(words[-count:]) for count in range(2, len(words) + 1)):
            words.append(word)
    return _terms_of(words)


def _terms_of(words: list[str]) -> list[str]:
    found: list[str] = []
    for word in words:
        if text.is_cjk(word):
            found.extend(text.bigrams(word))
            found.extend(lexicon.long_words(word))
        else:
            found.append(text.stem(word))
    return found


def _actions(name: list[str]) -> tuple[str, ...]:
    """Classes of action of the first verb in a name."""
    classes = verbs.classes()
    return next((classes[term] for term in name if term in classes), ())


def _lead(described: str) -> str:
    """The first sentence, at most `policy.ANALYSED_LEAD_CHARS`."""
    end = _SENTENCE_END.search(described, 20)
    return described[: min(end.start() if end else len(described), policy.ANALYSED_LEAD_CHARS)]


def _counted(found: list[str]) -> tuple[tuple[str, int], ...]:
    """Terms with capped counts in order of appearance: saying a word often does not make a tool better."""
    capped = Counter(found)
    return tuple((term, min(count, policy.ANALYSED_REPEATS)) for term, count in capped.items())


def _parameters(schema: Any) -> tuple[list[str], str]:
    """Names of the parameters, nested ones included, and their descriptions as one text; both capped."""
    names: list[str] = []
    details: list[str] = []
    size = 0
    for name, described in _properties(schema, 0):
        names.append(name[: policy.ANALYSED_NAME_CHARS])
        details.append(described[:200])
        size += len(details[-1])
        if len(names) >= policy.ANALYSED_PARAMETERS or size >= policy.ANALYSED_DETAIL_CHARS:
            break
    return names, "\n".join(details)


def _properties(schema: Any, depth: int) -> Iterator[tuple[str, str]]:
    """Name and description of each property, parents before children."""
    if depth > _SCHEMA_DEPTH:
        return
    own = _object(schema)
    properties = _object(own.get("properties"))
    for name, value in properties.items():
        described = _object(value).get("description")
        yield str(name), described if isinstance(described, str) else ""
    for value in (own.get("items"), *list(properties.values())[: policy.ANALYSED_PARAMETERS]):
        yield from _properties(value, depth + 1)


def _object(value: Any) -> Mapping[str, Any]:
    """`value` if it is an object, else an empty one: schemas may be anything."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def field_words(analysis: Analysis) -> Iterator[tuple[str, str]]:
    """Every term with the field it stands in, the weightiest fields first."""
    for name, found in zip(FIELDS, analysis.fields, strict=True):
        for term, _ in found:
            yield term, name
