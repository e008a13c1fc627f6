"""The authorised tools as one immutable value, and how a name finds its tool; ambiguous names are never guessed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from types import MappingProxyType

from slimguard.errors import RequestRejected
from slimguard.model import Tool

_PIN = re.compile(r"#([0-9a-f]{6,64})\Z")
_SEPARATORS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Catalog:
    """All tools that the caller may use; a change of any server makes a new catalog."""

    tools: tuple[Tool, ...]
    by_id: Mapping[str, Tool] = field(repr=False)
    by_name: Mapping[str, tuple[Tool, ...]] = field(repr=False)
    by_folded: Mapping[str, tuple[Tool, ...]] = field(repr=False)
    denied: frozenset[str] = field(repr=False, default=frozenset())
    """Ids that exist but are not authorised; only counted, never shown."""
    denied_names: frozenset[str] = field(repr=False, default=frozenset())
    """Their names: who writes one exactly means no other tool that is only spelled alike."""
    denied_folded: frozenset[str] = field(repr=False, default=frozenset())
    """Their ids as they are compared, for the same reason."""


def catalog_of(tools: Sequence[Tool], allow: Sequence[str] = ("*",), deny: Sequence[str] = ()) -> Catalog:
    """The catalog of the tools whose `server/tool` matches an allow glob and no deny glob."""
    authorised = tuple(tool for tool in tools if is_authorised(tool.id, allow, deny))
    by_id = {tool.id: tool for tool in authorised}
    by_name: dict[str, list[Tool]] = {}
    by_folded: dict[str, list[Tool]] = {}
    for tool in authorised:
        by_name.setdefault(tool.name, []).append(tool)
        by_folded.setdefault(_folded(tool.id), []).append(tool)
        by_folded.setdefault(_folded(tool.name), []).append(tool)
    return Catalog(
        authorised,
        MappingProxyType(by_id),
        MappingProxyType({name: tuple(found) for name, found in by_name.items()}),
        MappingProxyType(
            {name: tuple({tool.id: tool for tool in found}.values()) for name, found in by_folded.items()}
        ),
        frozenset(tool.id for tool in tools) - by_id.keys(),
        frozenset(tool.name for tool in tools if tool.id not in by_id),
        frozenset(_folded(tool.id) for tool in tools if tool.id not in by_id),
    )


def is_authorised(tool_id: str, allow: Sequence[str], deny: Sequence[str]) -> bool:
    """Whether globs on `server/tool` admit it; a deny wins. A glob without `/` is matched against the server."""
    return any(_matches(tool_id, glob) for glob in allow) and not any(_matches(tool_id, glob) for glob in deny)


def _matches(tool_id: str, glob: str) -> bool:
    return fnmatchcase(tool_id, glob) or ("/" not in glob and fnmatchcase(tool_id.partition("/")[0], glob))


def resolve(catalog: Catalog, name: str) -> Tool:
    """The one tool that `name` means: a `tool_ref`, `server/tool`, a unique plain name, or a host-prefixed name.

    Raises `RequestRejected` when nothing, or more than one tool, bears it, or when the pinned definition has changed.
    """
    text = name.strip()
    if not text:
        raise RequestRejected(
            "tool_ref is empty", next_call='find_tool(query="what the tool should do")', code="no_tool"
        )
    exact = catalog.by_id.get(text)
    if exact is not None:
        return exact
    pin = _PIN.search(text)
    bare = text[: pin.start()] if pin else text
    tool = _one_of(catalog, bare)
    if pin and pin[1] != tool.pin:
        raise RequestRejected(
            f"the definition of {tool.id} has changed since this tool_ref was given",
            next_call=f'find_tool(query="{tool.id}") shows the new definition; its tool_ref is {tool.ref}',
            code="definition_changed",
        )
    return tool


def _one_of(catalog: Catalog, bare: str) -> Tool:
    for found in _candidates(catalog, bare):
        if len(found) == 1:
            return found[0]
        if len(found) > 1:
            refs = ", ".join(sorted(tool.ref for tool in found)[:8])
            raise RequestRejected(
                f"{len(found)} tools bear the name {bare[:100]!r}: {refs}",
                next_call=f'call_tool(tool_ref="{min(tool.ref for tool in found)}", …) or another of these',
                code="ambiguous_tool",
            )
    words = " ".join(_folded(bare).split("_"))[:100]
    raise RequestRejected(
        f"no authorised tool bears the name {bare[:100]!r}",
        next_call=f'find_tool(query="{words}")',
        code="unknown_tool",
    )


def _candidates(catalog: Catalog, bare: str) -> Sequence[Sequence[Tool]]:
    """Tools that bear the name, the strictest way to read it first."""
    exact = catalog.by_id.get(bare)
    strict = ((exact,) if exact else (), catalog.by_name.get(bare, ()))
    folded = _folded(bare)
    is_prefixed = folded.startswith(("mcp_", "slimguard_"))
    if bare in catalog.denied_names or folded in catalog.denied_folded:
        return strict
    if is_prefixed and folded.endswith(tuple(f"_{denied}" for denied in catalog.denied_folded)):
        return strict
    prefixed = [tool for tool in catalog.tools if is_prefixed and folded.endswith(f"_{_folded(tool.id)}")]
    return (*strict, catalog.by_folded.get(folded, ()) if folded else (), prefixed)


def _folded(text: str) -> str:
    """Lower case, every run of what is no letter or digit one underscore: `mcp__GitHub__create-issue` and the like."""
    return _SEPARATORS.sub("_", text.lower()).strip("_")
