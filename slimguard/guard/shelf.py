"""The current catalog and its search index; swapped whole when the tools change, never edited."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from slimguard import fusion, policy, ranking
from slimguard.catalog import Catalog, catalog_of
from slimguard.model import Tool
from slimguard.ports import Compute, Embedder, Upstreams
from slimguard.settings import Settings


@dataclass(slots=True)
class Shelf:
    """Makes a catalog of what the upstreams list, once a change; the index off the event loop."""

    upstreams: Upstreams
    settings: Callable[[], Settings]
    compute: Compute
    embedder: Embedder | None = None
    """Knows what tools mean, when the extra is installed; without it words alone rank."""
    _tools: Sequence[Tool] = ()
    _settings: Settings | None = None
    _catalog: Catalog = field(default_factory=lambda: catalog_of(()))
    _index: ranking.Index | None = None
    _indexed: Catalog | None = None

    def catalog(self) -> Catalog:
        """The authorised tools now."""
        tools, settings = self.upstreams.tools(), self.settings()
        if tools is self._tools and settings is self._settings:
            return self._catalog
        self._catalog = catalog_of(tools, settings.allow, settings.deny)
        self._tools, self._settings = tools, settings
        return self._catalog

    async def index(self) -> tuple[Catalog, ranking.Index]:
        """The catalog and its index; builds incrementally in a worker when the catalog changed."""
        catalog = self.catalog()
        if self._index is not None and self._indexed is catalog:
            return catalog, self._index
        previous = self._index
        index = await self.compute.run(lambda: ranking.build(catalog.tools, previous))
        self._index, self._indexed = index, catalog
        if self.embedder is not None:
            self.embedder.learn(index.tools)
        return catalog, index

    async def search(self, query: str, *, limit: int = policy.FOUND_TOOLS) -> ranking.Found:
        """The tools that answer `query`: by words, and by meaning too once this catalog is learned."""
        _, index = await self.index()
        embedder = self.embedder
        if embedder is None:
            return await self.compute.run(lambda: ranking.search(index, query, limit=limit))

        def nearest(asked: str) -> Sequence[int] | None:
            return embedder.nearest(asked, index.tools, policy.MEANING_NEAREST)

        return await self.compute.run(lambda: fusion.search(index, query, nearest, limit=limit))
