"""What the name of a column says of its use to a reader: title, identifier, state, person, place; by spelling only."""

from __future__ import annotations

import re

_TITLE = re.compile(r"(?i)^(?:title|name|subject|summary|headline|full_?name|display_?name|place)$")
_IDENT = re.compile(
    r"(?i)^(?:number|identifier|key|_key|iid|no|path|file|file_?name|file_?path|line|slug|sku|symbol|pid)$"
)
_ID = re.compile(r"(?i:^(?:.*_)?(?:id|uid|uuid|guid|sha|hash|oid)$)|.*[a-z0-9](?:Id|ID)$")
_STATE = re.compile(
    r"(?i)(?:status|state|phase|conclusion|outcome|result|level|severity|priority|type|kind|reason|draft|category|"
    r"environment|error|failed|passed|ready|restart.*|enabled|active|success)$"
)
_PERSON = re.compile(r"(?i)(?:user|author|assignee|owner|login|from|to|email|team|sender|creator|reporter|customer)$")
_PLACE = re.compile(
    r"(?i)(?:ref|branch|version|tag|target|source|namespace|host|node|region|language|country|city|service)$"
)
_NAMED = re.compile(
    r"(?i)^(?:pod|container|hostname|repo|repository|project|product|function|class|test|job|task|step|module|package|"
    r"rule|metric|endpoint|route|command|event|city|station|company|account|user|username|login|email)$"
)
_TEXT = re.compile(
    r"(?i)^(?:message|msg|description|body|text|content|plain_text|observations?|snippet|value|note|detail)s?$"
)
_TIME = re.compile(r"(?i)(?:created|updated|start|time|date|last)")
_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_COMMON = re.compile(
    r"(?i)^(?:has_|is_|can_|allow|default|locked|site_admin|fork$|private$|archived$|disabled$|score$)"
)
_MACHINE = re.compile(
    r"(?i)^_?(?:e_?tag|node_?id|resource_?version|(?:observed_?)?generation|ephemeral_?id|history_?id)$"
)
"""What servers keep for themselves."""
_COMMIT = re.compile(r"(?i)^(?:sha|hash|oid|commit|commit_?(?:sha|hash|id)|revision)$")


def leaf_name(name: str) -> str:
    """The last step of a column's name: `login` of `user.login`, `Subject` of `headers[Subject]`."""
    if name.endswith("]") and "[" in name:
        inner = name[name.rindex("[") + 1 : -1]
        if inner and not inner.isdigit():
            return inner
    last = name.rsplit(".", 1)[-1]
    return last.split("[", 1)[0] or last


def is_title(last: str) -> bool:
    """Whether a name says that its values name the rows."""
    return bool(_TITLE.match(last))


def is_identifier(last: str) -> bool:
    """Whether a name says that its values identify the rows."""
    return bool(_IDENT.match(last) or _ID.match(last))


def is_key(last: str) -> bool:
    """Whether a name says that its values identify rows to machines."""
    return bool(_ID.match(last))


def is_person(last: str) -> bool:
    """Whether a name says that its values are people."""
    return bool(_PERSON.search(last))


def is_commit(last: str) -> bool:
    """Whether a name says that its values are commits, which people know by their first characters."""
    return bool(_COMMIT.match(last))


def is_text(last: str) -> bool:
    """Whether a name says that its values are running text."""
    return bool(_TEXT.match(last))


def is_time(last: str) -> bool:
    """Whether a name says that its values are points in time."""
    return bool(_TIME.search(last))


def name_score(last: str) -> float:
    """How much a reader wants to see a column of this name; 0 says nothing."""
    if _TITLE.match(last):
        return 3.0
    if _IDENT.match(last):
        return 2.6
    if _COMMON.match(last):
        return -0.8
    if _MACHINE.match(last):
        return -1.2
    if _ID.match(last):
        return -0.4
    long = 0.4 * max(0, len(_WORDS.findall(last)) - 2)
    if _STATE.search(last):
        return 1.8 - long
    if _PERSON.search(last):
        return 2.0 - long
    if _PLACE.search(last):
        return (1.1 if len(last) < 10 else 0.4) - long
    if _TEXT.match(last):
        return 1.2
    return 0.0


def label_score(last: str, *, opaque: bool) -> float:
    """How well a column of this name names a row; `opaque` says that its values are machine text."""
    score = 3.0 if _TITLE.match(last) else 2.5 if _IDENT.match(last) else 1.5 if _ID.match(last) else 0.5
    if _TEXT.match(last):
        score = 1.2
    if _MACHINE.match(last):
        return -1.0
    if _NAMED.match(last):
        return 1.6
    if opaque or _PLACE.search(last):
        score -= 1.5
    return score
