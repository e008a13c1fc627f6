"""The server that the host sees, on the SDK's low-level server; results never pass through the SDK's models.

A middleware returns our own dict: only that reaches the wire untouched. The SDK still checks the envelope and the
handshake, of both eras of the protocol, because the middleware calls on with parameters that it can check.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast
from weakref import WeakSet

import mcp_types as types
from mcp.server.context import CallNext, ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp_types import SERVER_INFO_META_KEY
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from slimguard import __version__
from slimguard.canonical import survives
from slimguard.errors import SlimguardError
from slimguard.frame import error_text, printable
from slimguard.host.lane import Accepted, Call, Envelopes, PlainCall
from slimguard.host.progress import ProgressChannel
from slimguard.host.surface import INSTRUCTIONS
from slimguard.model import Json, JsonObject, Reply, is_object

Context = ServerRequestContext[Any, Any]

_ENVELOPE_KEYS = ("resultType",)
"""Keys of the protocol's own envelope that we set ourselves in a delivery (DESIGN §4c)."""

_STDIO = "stdio"
"""The one session that there is over stdin and stdout."""

_answer: ContextVar[list[dict[str, Any]] | None] = ContextVar("slimguard_answer", default=None)


class Surface:
    """What a host edge serves: definitions and calls; implemented by the composition root. A port towards the top."""

    async def tools(self, host: str) -> list[JsonObject]:
        """Tool definitions for the host with this client name."""
        raise NotImplementedError

    async def call(self, name: str, arguments: JsonObject, request: HostRequest) -> Reply:
        """Run one of the listed tools; raises `SlimguardError`."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class HostRequest:
    """One `tools/call` of the host: who sent it, and the way back for progress."""

    owner: str
    session: str
    client: str
    """The client's name as it gave it at initialise, or empty."""
    progress: Callable[[Json], None]
    meta: JsonObject


def make_server(
    surface: Surface,
    *,
    owner_of: Callable[[Context], str],
    log: Callable[[str], None],
    listed: Callable[[], None],
    envelopes: Envelopes | None = None,
    instructions: str = INSTRUCTIONS,
) -> tuple[Server[Any], Callable[[], Awaitable[None]]]:
    """The low-level server, and a function that tells its hosts that the list of tools changed.

    `listed` is called after each `tools/list` that was answered; `envelopes` learns those in which a call was taken.
    """

    async def list_tools(_context: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[])

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        holder = _answer.get()
        if envelopes is not None:
            meta = (context.params or {}).get("_meta")
            envelopes.accept(meta if is_object(meta) else {}, Accepted(context.protocol_version, client_name(context)))
        if holder is not None:
            holder.append(await _call(surface, context, params.name, owner_of(context), log))
        return types.CallToolResult(content=[])

    sessions: WeakSet[Any] = WeakSet()
    server: Server[Any] = Server(
        "slimguard",
        version=__version__,
        title="slimguard",
        instructions=instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )

    async def deliver(ctx: Context, call_next: CallNext) -> Any:
        if ctx.method == "tools/list":
            checked = await call_next(ctx)
            sessions.add(ctx.session)
            tools = await surface.tools(client_name(ctx))
            listed()
            return {**cast("dict[str, Any]", checked), "tools": tools}
        if ctx.method != "tools/call":
            return await call_next(ctx)
        holder: list[dict[str, Any]] = []
        token = _answer.set(holder)
        try:
            checked = await call_next(replace(ctx, params=_checkable(ctx.params)))
        finally:
            _answer.reset(token)
        return enveloped(ctx.protocol_version, holder[0], server.server_info_stamp) if holder else checked

    server.middleware = [deliver]
    return server, partial(_announce, sessions)


async def _announce(sessions: WeakSet[Any]) -> None:
    """Tell every session that the list of tools changed."""
    for session in list(sessions):
        with suppress(Exception):  # a host that has gone needs no news
            await session.send_tool_list_changed()


def initialization_options(server: Server[Any], *, tools_changed: bool) -> Any:
    """Options for a stream connection; `tools_changed` promises `list_changed` (native mode only)."""
    return server.create_initialization_options(NotificationOptions(tools_changed=tools_changed))


def client_name(context: Context) -> str:
    """The client's own name, of either era, or empty."""
    parameters = context.session.client_params
    return parameters.client_info.name if parameters is not None else ""


def enveloped(version: str, result: JsonObject, stamp: JsonObject) -> dict[str, Any]:
    """A result with the protocol's own envelope of this connection's era in place of the upstream's."""
    out = {key: value for key, value in result.items() if key not in _ENVELOPE_KEYS}
    meta = out.get("_meta")
    if is_object(meta) and SERVER_INFO_META_KEY in meta:
        rest = {key: value for key, value in meta.items() if key != SERVER_INFO_META_KEY}
        out["_meta"] = rest
        if not rest:
            del out["_meta"]
    if version not in MODERN_PROTOCOL_VERSIONS:
        return out
    out["resultType"] = "complete"
    meta = out.get("_meta", {})
    if is_object(meta):
        out["_meta"] = {**meta, SERVER_INFO_META_KEY: dict(stamp)}
    return out


def result_of(reply: Reply) -> dict[str, Any]:
    """The `tools/call` result for a reply."""
    if reply.exact is not None:
        return dict(reply.exact)
    content: list[JsonObject] = [{"type": "text", "text": printable(reply.text or "")}, *map(_carried, reply.media)]
    return {"content": content, "isError": True} if reply.is_error else {"content": content}


def _carried(media: JsonObject) -> JsonObject:
    """An image or audio as a message can carry it: as it came, else only what a host needs to show it."""
    if survives(media):
        return media
    return {key: printable(str(media.get(key, ""))) for key in ("type", "data", "mimeType")}


def error_result(error: SlimguardError) -> dict[str, Any]:
    """The `tools/call` result for an error of ours: `isError`, so that the host shows it to the model."""
    return {"content": [{"type": "text", "text": printable(error_text(error))}], "isError": True}


async def _call(
    surface: Surface, context: Context, name: str, owner: str, log: Callable[[str], None]
) -> dict[str, Any]:
    arguments = _object_of((context.params or {}).get("arguments"))
    async with ProgressChannel(context) as progress:
        request = HostRequest(owner, _session(context), client_name(context), progress, context.meta or {})
        return await _result(surface, name, arguments, request, log)


def plain_calls(server: Server[Any], surface: Surface, owner: str, log: Callable[[str], None]) -> Call:
    """What runs the calls that go the short way: the same surface, and the same envelope around its results."""
    stamp = server.server_info_stamp

    async def call(plain: PlainCall, progress: Callable[[Json], None]) -> JsonObject:
        request = HostRequest(owner, _STDIO, plain.accepted.client, progress, plain.meta)
        result = await _result(surface, plain.name, _object_of(plain.arguments), request, log)
        return enveloped(plain.accepted.version, result, stamp)

    return call


async def _result(
    surface: Surface, name: str, arguments: JsonObject, request: HostRequest, log: Callable[[str], None]
) -> dict[str, Any]:
    """The result of a call, whatever comes of it."""
    try:
        return result_of(await surface.call(name, arguments, request))
    except SlimguardError as error:
        return error_result(error)
    except Exception as error:  # noqa: BLE001 - the server's edge: nothing may end the process or leak (P8, P12)
        log(f"internal error in {name}: {type(error).__name__} at {_place(error)}")
        return error_result(SlimguardError("internal error of slimguard; see its stderr", ran="unknown"))


def _place(error: BaseException) -> str:
    """File and line of an exception, without its text, which may quote content (P12)."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "?" if trace is None else f"{trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}"


def _session(context: Context) -> str:
    headers = getattr(context.request, "headers", None)
    return str(headers.get("mcp-session-id") or "http") if headers is not None else _STDIO


def _checkable(params: Mapping[str, Any] | None) -> dict[str, Any]:
    """Parameters that the SDK can check: `arguments` is an object, as some hosts do not send it."""
    out = dict(params or {})
    if "arguments" in out:
        out["arguments"] = dict(_object_of(out["arguments"]))
    return out


def _object_of(value: Json) -> JsonObject:
    """`arguments` as an object: given as one, as a JSON string of one, or absent."""
    if is_object(value):
        return value
    if isinstance(value, str):
        try:
            parsed = json.loads(value)
        except (ValueError, RecursionError):
            return {}
        return parsed if is_object(parsed) else {}
    return {}
