"""What a server offers beyond tools, by asking for the lists; for commands only, never while a host is served."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio

from slimguard import policy
from slimguard.errors import UpstreamFailed
from slimguard.upstream.peer import Peer, result_object

_LISTS = {
    "prompts": (("prompts/list", "prompts"),),
    "resources": (("resources/list", "resources"), ("resources/templates/list", "resourceTemplates")),
}


async def offered(peer: Peer, declared: Sequence[str]) -> tuple[str, ...]:
    """Those of `prompts` and `resources` of which the server really lists one; many declare what they do not have."""
    found: list[str] = []
    for name, lists in _LISTS.items():
        if name in declared and await _any(peer, lists):
            found.append(name)
    return tuple(found)


async def _any(peer: Peer, lists: Sequence[tuple[str, str]]) -> bool:
    for method, key in lists:
        with anyio.move_on_after(policy.PROBE_SECONDS):
            reply = await peer.ask(method)
            await reply.done.wait()
            try:
                items: Any = result_object(reply, method).get(key)
            except UpstreamFailed:
                continue
            if items:
                return True
    return False
