"""Asking a server for all its tools, page by page; never for ever."""

from __future__ import annotations

from slimguard import policy
from slimguard.errors import UpstreamFailed
from slimguard.model import Json, Tool
from slimguard.upstream.definitions import Page, Refuse, read_page, without_doubles
from slimguard.upstream.peer import METHOD_NOT_FOUND, Peer, Reply, error_code, result_object

_SKIPPED_LINES = 200


async def list_tools(peer: Peer, server: str, refuse: Refuse) -> tuple[tuple[Tool, ...], tuple[str, ...]]:
    """All tools of the server and a line for each definition that was skipped; raises `UpstreamFailed`."""
    tools: list[Tool] = []
    skipped: list[str] = []
    params: dict[str, Json] = {}
    seen: set[str] = set()
    for _ in range(policy.LISTING_PAGES):
        reply = await peer.ask("tools/list", params)
        await reply.done.wait()
        if error_code(reply)[0] == METHOD_NOT_FOUND:
            break
        page = _page(reply, server, refuse)
        tools.extend(page.tools)
        skipped.extend(page.skipped)
        if page.cursor is None or page.cursor in seen or len(tools) >= policy.LISTING_TOOLS:
            break
        seen.add(page.cursor)
        params = {"cursor": page.cursor}
    unique, doubled = without_doubles(tools[: policy.LISTING_TOOLS])
    return unique, (*skipped, *doubled)[:_SKIPPED_LINES]


def _page(reply: Reply, server: str, refuse: Refuse) -> Page:
    """One page; an answer that is damaged in one definition still gives the others."""
    if reply.response is None or reply.response.answer.kind == "error":
        result_object(reply, "tools/list")
        raise UpstreamFailed("tools/list was answered with an error", code="refused")
    try:
        return read_page(server, reply.response.answer.raw, refuse)
    except ValueError as error:
        raise UpstreamFailed(f"the tool listing is not readable: {error}", code="illegal") from error
