"""read_result: pages and queries on what is stored; no upstream is reachable from here."""

from __future__ import annotations

import re
from dataclasses import dataclass

from slimguard import policy, readers
from slimguard.canonical import dump, is_ref
from slimguard.document import Document, document_of
from slimguard.errors import RequestRejected
from slimguard.guard.delivering import deliver_outcome, still_running
from slimguard.guard.reading import RECENT, Reader, opened
from slimguard.guard.services import Services
from slimguard.model import Caller, JsonObject, Reply, StoredCall, Tool

_BETWEEN_REFS = re.compile(r"[+,\s]+")
_AROUND_REF = re.compile(r"\A[\s\"'`]*(?:result_ref\s*[=:]\s*)?[\s\"'`]*|[\s\"'`]+\Z")
"""What a ref is copied with from the line that it stood in."""


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """A `read_result` request taken apart."""

    ref: str
    query: str
    cursor: str


async def read_result(services: Services, caller: Caller, arguments: JsonObject) -> Reply:
    """Answer one `read_result` request; raises `RequestRejected`, `SnapshotUnusable` or `UpstreamFailed`."""
    request = request_of(arguments)
    if not request.ref:
        return await _recent(services, caller, request)
    tool = services.shelf.catalog().by_id.get(request.ref.partition("#")[0])
    if tool is not None:
        return await Reader(services, caller).answer([_definition(tool)], request.query, request.cursor)
    refs = [part for part in _BETWEEN_REFS.split(request.ref) if part]
    if len(refs) > policy.JOINED_REFS:
        raise RequestRejected(
            f"at most {policy.JOINED_REFS} refs can be joined with +", next_call=RECENT, code="too_many"
        )
    for ref in refs:
        if not is_ref(ref):
            raise RequestRejected(
                f"malformed result_ref {ref[:60]!r}: not a ref, or its checksum is wrong",
                next_call=f"copy it exactly from the answer; {RECENT}",
                code="malformed",
            )
    if len(refs) == 1:
        return await _read_one(services, caller, refs[0], request)
    found = [await opened(services, caller, ref) for ref in dict.fromkeys(refs)]
    return await Reader(services, caller).answer(found, request.query, request.cursor)


def request_of(arguments: JsonObject) -> ReadRequest:
    """Take the request apart; raises `RequestRejected` for values that are no text or keys that are not ours."""
    for key in arguments:
        if key not in ("result_ref", "query", "cursor"):
            raise RequestRejected(
                f"read_result has no argument {key[:60]!r}; it takes result_ref, query and cursor",
                next_call="call it again with these only",
                code="bad_argument",
            )
    values = [arguments.get(key) for key in ("result_ref", "query", "cursor")]
    for key, value in zip(("result_ref", "query", "cursor"), values, strict=True):
        if value is not None and not isinstance(value, str):
            raise RequestRejected(f"{key} must be a string", next_call=RECENT, code="bad_argument")
    ref, query, cursor = (value or "" for value in values)
    return ReadRequest(_AROUND_REF.sub("", ref), query, cursor.strip())


async def _read_one(services: Services, caller: Caller, ref: str, request: ReadRequest) -> Reply:
    stored = await services.snapshots.find(ref, caller.owner)
    # A finished call may linger in memory, but what has expired or was evicted is gone for its readers, too.
    at_rest = stored is None or stored.state in ("stored", "expired", "evicted")
    state = None if at_rest else services.calls.state(ref)
    if stored is not None and state is not None:
        outcome = await services.calls.wait(ref, services.budgets(caller.host).soft_seconds())
        if outcome.state == "running":
            return still_running(ref)
        if outcome.stored is None or not request.query:
            return await deliver_outcome(
                services, caller, _tool_of(services, stored), outcome, result_query=request.query
            )
    if stored is not None and state is None and stored.state == "still running":
        return still_running(ref)  # another guard's call: only that one can be waited for
    page = await Reader(services, caller).large_page(stored, request.query, request.cursor) if stored else None
    if page is not None:
        return page
    pair = await opened(services, caller, ref)
    return await Reader(services, caller).answer([pair], request.query, request.cursor)


async def _recent(services: Services, caller: Caller, request: ReadRequest) -> Reply:
    if request.cursor or request.query:
        calls = await services.snapshots.recent(caller.owner, caller.scope, policy.RECENT_RESULTS)
        listing = readers.recent(calls, services.clock.now())
        raise RequestRejected("result_ref is missing: a query needs the result it asks", detail=listing, code="no_ref")
    calls = await services.snapshots.recent(caller.owner, caller.scope, policy.RECENT_RESULTS)
    return Reply(text=readers.recent(calls, services.clock.now()))


def _tool_of(services: Services, stored: StoredCall) -> Tool | None:
    return services.shelf.catalog().by_id.get(f"{stored.server}/{stored.tool}")


def _definition(tool: Tool) -> tuple[StoredCall, Document]:
    """A tool's definition as if it were a stored result, so that a fat schema is read with the same queries."""
    raw = dump({"content": [{"type": "text", "text": dump(dict(tool.definition))}]}).encode("utf-8")
    stored = StoredCall(
        ref=tool.ref,
        owner="",
        scope="",
        server=tool.server,
        tool=tool.name,
        tool_digest=tool.digest,
        state="stored",
        created_at=0,
        expires_at=0,
        kind="result",
        size=len(raw),
        digest=tool.digest,
    )
    return stored, document_of(raw)
