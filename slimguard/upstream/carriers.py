"""Which carrier a configuration asks for; HTTP is only loaded when a server needs it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from slimguard.settings import ServerConfig
from slimguard.upstream.stdio import open_stdio
from slimguard.upstream.warden import Warden
from slimguard.upstream.wire import Inbound, Wire


def open_wire(
    config: ServerConfig, inbound: Inbound, at: Callable[[str], None], *, warden: Warden
) -> AbstractAsyncContextManager[Wire]:
    """The connection of this configuration, opened on entering and closed on leaving."""
    if config.transport == "stdio":
        return open_stdio(config, inbound, at, warden)
    if config.transport == "sse":
        from slimguard.upstream.sse import open_sse  # noqa: PLC0415 - off the start path of guards without HTTP

        return open_sse(config, inbound, at)
    from slimguard.upstream.http import open_http  # noqa: PLC0415 - as above

    return open_http(config, inbound, at)
