"""Streams to the host over stdin and stdout that survive any line: bad JSON is answered, bad text is escaped.

The SDK's own streams answer nothing to bad lines, replace invalid UTF-8 silently, and die of one lone surrogate.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import threading
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.from_thread
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse, jsonrpc_message_adapter

from slimguard.canonical import dump
from slimguard.host.lane import Lane
from slimguard.host.outlet import Outlet
from slimguard.model import Json, is_object
from slimguard.points import nowhere
from slimguard.policy import MESSAGE_LIMIT_BYTES

_ID = re.compile(rb'"id"\s*:\s*(-?\d{1,18}|"(?:[^"\\]|\\.){0,200}")')
_READ_BYTES = 1 << 20
_EDGE_BYTES = 400
"""At each end of a line that cannot be read, where its id is looked for."""
_CHUNKS_WAITING = 4
Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]


@asynccontextmanager
async def host_streams(
    log: Callable[[str], None], lane_to: Callable[[Outlet], Lane], at: Callable[[str], None] = nowhere
) -> AsyncGenerator[Streams, None]:
    """Streams for the SDK's server over this process's stdin and stdout; the read side closes when stdin does.

    Plain calls go by the lane instead. File descriptors 0 and 1 are pointed elsewhere meanwhile, so that stray prints
    and children cannot touch the wire.
    """
    source, sink = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](16)
    write, outgoing = anyio.create_memory_object_stream[SessionMessage](16)
    outlet = Outlet(sink, at)
    lane = lane_to(outlet)

    async def take(line: bytes, group: TaskGroup) -> None:
        value = value_of(line)
        call = lane.takes(value)
        if call is not None:
            group.start_soon(lane.answer, call)
            return
        message = value if isinstance(value, bytes) else message_of(value)
        if isinstance(message, bytes):
            outlet.post(message)
        else:
            await incoming.send(message)

    async def reader(group: TaskGroup) -> None:
        async with incoming:
            async for line in lines_of(_chunks(source), log):
                await take(line, group)

    async def writer() -> None:
        async with outgoing:
            async for item in outgoing:
                outlet.post(encode(item.message))

    async with anyio.create_task_group() as group:
        group.start_soon(outlet.run)
        group.start_soon(reader, group)
        group.start_soon(writer)
        yield read, write
        group.cancel_scope.cancel()


async def _chunks(source: int) -> AsyncGenerator[bytes, None]:
    """What comes from stdin until it ends; read by a thread only where the system cannot tell that something is there.

    Handing each message from a thread to the loop and back costs more than all else that a small call does here.
    """
    taken = _Taken(source)
    try:
        taken.listen()
    except (OSError, NotImplementedError):  # a regular file or a device
        async for chunk in _chunks_of_thread(source):
            yield chunk
        return
    try:
        while chunk := await taken.next():
            yield chunk
    finally:
        taken.deafen()


class _Taken:
    """Chunks that the event loop read when the system said that something is there, and nobody took so far."""

    def __init__(self, source: int) -> None:
        self._source = source
        self._loop = asyncio.get_running_loop()
        self._chunks: deque[bytes] = deque()
        self._more = asyncio.Event()
        self._listening = False

    def listen(self) -> None:
        self._loop.add_reader(self._source, self._read)
        self._listening = True

    def deafen(self) -> None:
        if self._listening:
            self._loop.remove_reader(self._source)
            self._listening = False

    async def next(self) -> bytes:
        """The next chunk, empty at the end."""
        while not self._chunks:
            self._more.clear()
            await self._more.wait()
        chunk = self._chunks.popleft()
        if chunk and not self._listening:
            self.listen()
        return chunk

    def _read(self) -> None:
        chunk = _read_now(self._source)
        self._chunks.append(chunk)
        self._more.set()
        if not chunk or len(self._chunks) >= _CHUNKS_WAITING:
            self.deafen()


def _read_now(source: int) -> bytes:
    try:
        return os.read(source, _READ_BYTES)
    except OSError:
        return b""


async def _chunks_of_thread(source: int) -> AsyncGenerator[bytes, None]:
    chunks_in, chunks_out = anyio.create_memory_object_stream[bytes](4)
    arguments = (source, anyio.from_thread.run_sync, chunks_in, anyio.lowlevel.current_token())
    threading.Thread(target=_read_loop, args=arguments, daemon=True).start()
    async for chunk in chunks_out:
        yield chunk


def _read_loop(source: int, run_sync: Callable[..., Any], out: MemoryObjectSendStream[bytes], token: Any) -> None:
    """Read stdin in a thread of its own, one chunk in flight, until it ends."""
    while True:
        chunk = _read_now(source)
        try:
            if not chunk:
                run_sync(out.close, token=token)
                return
            anyio.from_thread.run(out.send, chunk, token=token)
        except (RuntimeError, anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.RunFinishedError):
            return


async def lines_of(
    chunks: AsyncIterable[bytes], log: Callable[[str], None], limit: int = MESSAGE_LIMIT_BYTES
) -> AsyncGenerator[bytes, None]:
    """Lines of a stream of bytes, in linear time.

    Of a line over `limit` only the beginning is given, with a NUL at its end: no JSON, but the error that answers it
    finds the id there. It is said on the log.
    """
    parts: list[bytes] = []
    size = 0
    async for chunk in chunks:
        *whole, tail = chunk.split(b"\n")
        for piece in whole:
            line = _finished(parts, piece, size + len(piece), log, limit)
            if line.strip():
                yield line
            parts, size = [], 0
        size += len(tail)
        if tail:
            parts.append(tail)
        if size > limit:
            parts = [_beginning(parts)]  # the rest of the line is only counted
    line = _finished(parts, b"", size, log, limit)
    if line.strip():
        yield line


def _finished(parts: list[bytes], last: bytes, size: int, log: Callable[[str], None], limit: int) -> bytes:
    """The line of these parts, or its beginning when it is over the limit."""
    if size > limit:
        log(f"dropped a message of the host of more than {limit} bytes")
        return _beginning([*parts, last]) + b"\0"
    return b"".join([*parts, last]) if parts else last


def _beginning(parts: list[bytes]) -> bytes:
    """As much of a line as its id is looked for in."""
    out = b""
    for part in parts:
        out += part[: _EDGE_BYTES - len(out)]
        if len(out) >= _EDGE_BYTES:
            break
    return out


def parse_line(line: bytes) -> SessionMessage | bytes:
    """The message of a line, or the bytes of the error that answers it."""
    value = value_of(line)
    return value if isinstance(value, bytes) else message_of(value)


def value_of(line: bytes) -> Json | bytes:
    """The JSON value of a line, or the bytes of the error that answers a line that is none."""
    try:
        return _DECODER.decode(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return _error(_id_of(line), -32700, "Parse error: no JSON in UTF-8 that can be read safely")


def message_of(value: Json) -> SessionMessage | bytes:
    """The SDK's message of a JSON value, or the bytes of the error that answers it.

    The SDK takes a request whose id is none (null, a fraction, an object) for a notification, and never answers it.
    """
    if is_object(value) and "method" in value and "id" in value and not _is_id(value["id"]):
        return _error(None, -32600, "Invalid Request: the id is neither a string nor a whole number")
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_python(value, by_name=False))
    except (ValueError, RecursionError):
        pass
    identifier = value.get("id") if is_object(value) else None
    if is_object(value) and isinstance(value.get("method"), str) and isinstance(identifier, int | str):
        return _error(identifier, -32602, "Invalid request parameters")
    return _error(identifier if isinstance(identifier, int | str) else None, -32600, "Invalid Request")


def _is_id(value: Json) -> bool:
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int | str) and not isinstance(value, bool)


def _no_constant(name: str) -> Any:
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def _id_of(line: bytes) -> int | str | None:
    found = _ID.search(line[:_EDGE_BYTES]) or _ID.search(line[-_EDGE_BYTES:])
    if found is None:
        return None
    try:
        return json.loads(found[1])
    except ValueError:
        return None


def _error(identifier: int | str | None, code: int, message: str) -> bytes:
    body = {"jsonrpc": "2.0", "id": identifier, "error": {"code": code, "message": message}}
    return json.dumps(body).encode("ascii") + b"\n"


def encode(message: Any) -> bytes:
    """One line for a message; text that is no Unicode is escaped instead of failing."""
    if isinstance(message, JSONRPCResponse):
        body: Any = {"jsonrpc": "2.0", "id": message.id, "result": message.result}
    else:
        body = message.model_dump(by_alias=True, mode="json", exclude_unset=True)
    return dump(body).encode("utf-8") + b"\n"


def stderr_log(text: str) -> None:
    """One line on stderr, prefixed with our name."""
    sys.stderr.write(f"slimguard: {text}\n")
    sys.stderr.flush()
