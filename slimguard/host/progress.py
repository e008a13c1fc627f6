"""The way back to the host while one request of the SDK's server is open; it must never hold the answer up for long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext

from slimguard import policy
from slimguard.model import Json, is_object


class ProgressChannel:
    """Passes an upstream's progress on to the host, in order, when the host gave a token; drops what is too much."""

    def __init__(self, context: ServerRequestContext[Any, Any]) -> None:
        self.context = context
        self.wanted = _has_progress_token(context)
        if self.wanted:
            self.send, self.receive = anyio.create_memory_object_stream[Json](64)
            self.group = anyio.create_task_group()

    async def __aenter__(self) -> Callable[[Json], None]:
        if not self.wanted:
            return _nobody_listens
        await self.group.__aenter__()
        self.group.start_soon(self._pump)
        return self._progress

    async def __aexit__(self, *failure: Any) -> bool | None:
        if not self.wanted:
            return None
        self.send.close()
        if failure[0] is None:  # what came before the answer goes before it
            self.group.cancel_scope.deadline = anyio.current_time() + policy.PROGRESS_SECONDS
        else:
            self.group.cancel_scope.cancel()
        result = await self.group.__aexit__(*failure)
        self.receive.close()
        return result

    def _progress(self, params: Json) -> None:
        if not is_object(params) or not isinstance(params.get("progress"), int | float):
            return
        try:
            self.send.send_nowait(params)
        except (anyio.WouldBlock, anyio.ClosedResourceError, anyio.BrokenResourceError):
            return

    async def _pump(self) -> None:
        async for params in self.receive:
            total, message = params.get("total"), params.get("message")
            await self.context.session.report_progress(
                params["progress"],
                total if isinstance(total, int | float) else None,
                message if isinstance(message, str) else None,
            )


def _nobody_listens(_params: Json) -> None:
    return


def _has_progress_token(context: ServerRequestContext[Any, Any]) -> bool:
    meta = context.meta
    return bool(meta) and ("progress_token" in meta or "progressToken" in meta)
