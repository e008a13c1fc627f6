"""A reference in the arguments of a call: which part of which stored results, and what is changed in it; data only."""

from __future__ import annotations

from dataclasses import dataclass

from slimguard.document import Path
from slimguard.model import Json
from slimguard.query import Query

KEY = "$result"
"""The reserved key: an object with it is a reference."""

FORM = (
    '{"$result": "REF"} or {"$result": {"ref": "REF", "select": "JMESPath" (or "lines": "1-9", "items": "0-9", '
    '"bytes": "0-99", "block": 0), "edits": [{"replace": "old", "with": "new"}, …]}}'
)
"""The form in a line, for errors and help."""


@dataclass(frozen=True, slots=True)
class Part:
    """What a preview or a reference says besides the ref: the part of the result, and edits as they were written."""

    query: Query
    edits: Json = None


@dataclass(frozen=True, slots=True)
class Reference:
    """One reference. `refs` are joined with `+`; `part.edits` may hold references again, which `inner` lists."""

    refs: tuple[str, ...]
    part: Part
    inner: tuple[Found, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """A reference and where it stands: in the arguments, or for an inner one in the edits."""

    path: Path
    reference: Reference
