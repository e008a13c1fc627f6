"""One read of stored results: from rows and documents to a page of an answer, off the event loop."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from slimguard import policy, readers
from slimguard.document import Document, document_of
from slimguard.errors import RequestRejected, SlimguardError, SnapshotUnusable, UpstreamFailed
from slimguard.frame import read_call
from slimguard.guard.paging import page_of
from slimguard.guard.services import Services
from slimguard.model import Caller, Reply, StoredCall

RECENT = "read_result() lists your recent results"
"""What an error of a ref suggests."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Runs queries for one caller."""

    services: Services
    caller: Caller

    async def answer(self, found: Sequence[tuple[StoredCall, Document]], query: str, cursor: str = "") -> Reply:
        """What `query` (or `cursor`) asks of the results in `found`; raises `QueryRejected`."""
        services = self.services
        context = replace(await self.context(), others=await self._others(query))
        sources = [readers.Source(stored.ref, document, stored) for stored, document in found]
        size = sum(len(document.raw) for _, document in found)
        large = size >= policy.LARGE_WORK_BYTES or readers.may_take_long(query)
        reply = await services.compute.run(lambda: readers.read(sources, query, cursor, context), large=large)
        return Reply(text=reply.text, media=reply.media, is_error=reply.is_error)

    async def large_page(self, stored: StoredCall, query: str, cursor: str) -> Reply | None:
        """A page of a result that is too large to be parsed, from what it touches; None when it is no such page."""
        services, size = self.services, stored.size or 0
        if stored.state != "stored" or size <= policy.PARSE_LIMIT_BYTES:
            return None
        context = await self.context()
        start = readers.page_start(query, cursor, stored.ref, context)
        if start is None:
            return None
        reader = await services.snapshots.open(stored.ref, self.caller.owner)

        def read() -> readers.ReadReply | None:
            try:
                found = page_of(services, reader, stored, start)
            finally:
                reader.close()
            if found is None:
                return None
            source, window = found
            return readers.read([source], query, cursor, replace(context, window=window))

        reply = await services.compute.run(read, large=True)
        return None if reply is None else Reply(text=reply.text, media=reply.media, is_error=reply.is_error)

    async def _others(self, query: str) -> dict[str, readers.Source]:
        """The results that `diff:` names, as far as the caller may read them."""
        found: dict[str, readers.Source] = {}
        for ref in readers.other_refs(query)[: policy.JOINED_REFS]:
            with suppress(SlimguardError):
                stored, document = await opened(self.services, self.caller, ref)
                found[ref] = readers.Source(ref, document, stored)
        return found

    async def context(self) -> readers.ReadContext:
        """What a read of this caller may spend and use."""
        services = self.services
        budgets = services.budgets(self.caller.host)
        secret = await services.snapshots.secret()
        return readers.ReadContext(
            budget=budgets.view(),
            page_budget=budgets.page(),
            counter=budgets.counter,
            tables=services.tables,
            secret=secret,
            owner=self.caller.owner,
            monotonic=services.clock.monotonic,
            cache=services.reading,
        )


async def opened(services: Services, caller: Caller, ref: str) -> tuple[StoredCall, Document]:
    """The row and the document of a stored ref; raises with the ref's state when there is none to read."""
    stored = await services.snapshots.find(ref, caller.owner)
    if stored is None:
        raise RequestRejected(f"result_ref {ref} not found", next_call=RECENT, code="not_found")
    if stored.state != "stored":
        raise _unreadable(stored)
    cached = services.documents.get(stored.digest or "")
    reader = await services.snapshots.open(ref, caller.owner)

    def load() -> Document:
        try:
            # Verified in full even when the parsed document is kept: a changed byte must never be served (P3).
            data = reader.read(0, reader.call.size or 0)
            return cached or document_of(data, reader.call.kind or "result")
        finally:
            reader.close()

    document = await services.compute.run(load, large=(stored.size or 0) >= policy.LARGE_WORK_BYTES)
    if stored.digest:
        services.documents.put(stored.digest, document)
    return stored, document


def _unreadable(stored: StoredCall) -> SlimguardError:
    name = f"{stored.server}/{stored.tool}"
    if stored.state == "still running":
        return UpstreamFailed(
            f"result_ref {stored.ref} is still running",
            ran="unknown",
            next_call=read_call(stored.ref),
            code="still_running",
        )
    if stored.state in ("expired", "evicted"):
        why = "has expired: its time to live is over"
        if stored.state == "evicted":
            why = "was evicted: the store's quota was reached"
        return SnapshotUnusable(
            f"result_ref {stored.ref} of {name} {why}; its bytes are gone",
            next_call="call the tool again only if that has no second effect",
            code=stored.state,
        )
    if stored.state == "failed":
        return UpstreamFailed(
            f"the call of {name} failed: {stored.note or 'nothing was sent'}", ran="no", code="failed"
        )
    return UpstreamFailed(
        f"the outcome of {name} is unknown: {stored.note or 'the guard or the server ended before an answer came'}",
        ran="unknown",
        next_call="it is never sent again; check its effect before you call it anew",
        code="unknown",
    )
