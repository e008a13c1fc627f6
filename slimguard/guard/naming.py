"""From the name in a request to its tool, also while servers connect or are down; never calls an upstream."""

from __future__ import annotations

from slimguard.catalog import resolve
from slimguard.errors import RequestRejected, UpstreamFailed
from slimguard.frame import one_line
from slimguard.guard.services import Services
from slimguard.model import ServerStatus, Tool


async def resolved(services: Services, name: str, seconds: float) -> Tool:
    """The tool that `name` means; a name that is unknown while servers connect is looked up again when they have.

    Waits at most `seconds`. Raises `RequestRejected`, or `UpstreamFailed` when the server that it names is down.
    """
    try:
        return resolve(services.shelf.catalog(), name)
    except RequestRejected as error:
        if error.code != "unknown_tool" or not _in_state(services, "connecting"):
            raise _with_server(services, name, error) from None
    await services.upstreams.settle(seconds)
    try:
        return resolve(services.shelf.catalog(), name)
    except RequestRejected as error:
        raise _with_server(services, name, error) from None


def reason_of(status: ServerStatus) -> str:
    """Why a server is not ready, in one line."""
    return one_line(status.reason.replace("\n", "; ")) or status.state


def _with_server(services: Services, name: str, error: RequestRejected) -> RequestRejected | UpstreamFailed:
    """The error, with what is known of the server that the name begins with, or of those that still connect."""
    if error.code != "unknown_tool":
        return error
    server = name.strip().partition("/")[0]
    down = next((status for status in _in_state(services, "unavailable") if status.name == server), None)
    if down is not None:
        message = f"the server {server} is unavailable: {reason_of(down)}"
        return UpstreamFailed(message, next_call="slimguard doctor says what to do", code="unavailable")
    waiting = [status.name for status in _in_state(services, "connecting")]
    if not waiting:
        return error
    message = f"{error.message}; still connecting: {', '.join(waiting[:10])}"
    return RequestRejected(message, next_call=error.next_call, code="connecting")


def _in_state(services: Services, state: str) -> list[ServerStatus]:
    return [status for status in services.upstreams.statuses() if status.state == state]
