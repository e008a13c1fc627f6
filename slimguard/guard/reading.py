"""One read of stored results: from rows and documents to a page of an answer, off the event loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from slimguard import readers
from slimguard.document import Document
from slimguard.guard.services import Services
from slimguard.model import Caller, Reply, StoredCall


@dataclass(frozen=True, slots=True)
class Reader:
    """Runs queries for one caller."""

    services: Services
    caller: Caller

    async def answer(self, found: Sequence[tuple[StoredCall, Document]], query: str, cursor: str = "") -> Reply:
        """What `query` (or `cursor`) asks of the results in `found`; raises `QueryRejected`."""
        services = self.services
        budgets = services.budgets(self.caller.host)
        secret = await services.snapshots.secret()
        context = readers.ReadContext(
            budget=budgets.view(),
            page_budget=budgets.page(),
            counter=budgets.counter,
            tables=services.tables,
            secret=secret,
            owner=self.caller.owner,
            cache=services.reading,
        )
        sources = [readers.Source(stored.ref, document, stored) for stored, document in found]
        reply = await services.compute.run(lambda: readers.read(sources, query, cursor, context))
        return Reply(text=reply.text, media=reply.media, is_error=reply.is_error)
