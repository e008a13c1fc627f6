"""Asking a server for all its tools, page by page; never for ever."""

from __future__ import annotations

from slimguard import policy
from slimguard.errors import UpstreamFailed
from slimguard.model import Json, Tool
from slimguard.upstream.definitions import Page, Refuse, read_page, take_new
from slimguard.upstream.peer import METHOD_NOT_FOUND, Peer, Reply, error_code, result_object

_SKIPPED_LINES = 200


async def list_tools(peer: Peer, server: str, refuse: Refuse) -> tuple[tuple[Tool, ...], tuple[str, ...]]:
    """All tools of the server and a line for each definition that was skipped; raises `UpstreamFailed`.

    A page that fails after the first costs only itself and what would have followed.
    """
    tools: dict[str, Tool] = {}
    skipped: list[str] = []
    cursors: set[str] = set()
    params: dict[str, Json] = {}
    size = 0
    for number in range(policy.LISTING_PAGES):
        reply = await peer.ask("tools/list", params)
        await reply.done.wait()
        if error_code(reply)[0] == METHOD_NOT_FOUND:
            break
        try:
            page = _page(reply, server, refuse)
        except UpstreamFailed as error:
            if number == 0:
                raise
            skipped.append(f"page {number + 1}: {error.message}")
            break
        new, doubled = take_new(tools, page.tools)
        skipped.extend((*page.skipped, *doubled))
        size += page.size
        full = len(tools) >= policy.LISTING_TOOLS or size >= policy.LISTING_BYTES
        if page.cursor is None or page.cursor in cursors or full or (page.tools and not new):
            break
        cursors.add(page.cursor)
        params = {"cursor": page.cursor}
    return tuple(tools.values())[: policy.LISTING_TOOLS], tuple(skipped[:_SKIPPED_LINES])


def _page(reply: Reply, server: str, refuse: Refuse) -> Page:
    """One page; an answer that is damaged in one definition still gives the others."""
    if reply.response is None or reply.response.answer.kind == "error":
        result_object(reply, "tools/list")
        raise UpstreamFailed("tools/list was answered with an error", code="refused")
    try:
        return read_page(server, reply.response.answer.raw, refuse)
    except ValueError as error:
        raise UpstreamFailed(f"the tool listing is not readable: {error}", code="illegal") from error
