"""Which carrier a configuration asks for; HTTP is only loaded when a server needs it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from slimguard.settings import ServerConfig
from slimguard.upstream.stdio import open_stdio
from slimguard.upstream.wire import Inbound, Wire


def open_wire(config: ServerConfig, inbound: Inbound, at: Callable[[str], None]) -> AbstractAsyncContextManager[Wire]:
    """The connection of this configuration, opened on entering and closed on leaving."""
    return open_stdio(config, inbound, at)
