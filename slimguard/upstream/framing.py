"""Bytes to JSON-RPC messages with exact spans of `result`; pure, linear, and never changes a byte of a value."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from slimguard import policy
from slimguard.model import Answer, AnswerKind
from slimguard.upstream.spans import Bytes, after_space, checked_value_end, object_end, value_end

MessageId = int | str | None

_BOM = b"\xef\xbb\xbf"
_EDGE = 300
"""Bytes at each end of an unreadable message where its id is looked for."""
_ID = re.compile(rb'(?<!\\)"id"\s*:\s*(-?\d{1,18}\b|"(?:[^"\\]|\\.){0,200}")')
_ANSWER = re.compile(rb'(?<!\\)"(?:result|error)"\s*:')
_METHOD = re.compile(rb'(?<!\\)"method"\s*:')


@dataclass(frozen=True, slots=True)
class Request:
    """A request of the server to us."""

    id: MessageId
    method: str


@dataclass(frozen=True, slots=True)
class Notification:
    """A notification of the server; `params` is None when there are none or they are too large to be read."""

    method: str
    params: Any


@dataclass(frozen=True, slots=True)
class Response:
    """The answer to a request of ours; `id` is None when it could not be told whose answer it is."""

    id: MessageId
    answer: Answer
    is_error: bool = False
    """The answer is an error, or its top level says `isError: true`."""
    result_type: str = ""
    """`resultType` of a 2026 result, as it stands there."""


@dataclass(frozen=True, slots=True)
class Noise:
    """Not a message: a banner, a log line, a broken notification."""

    size: int


Message = Request | Notification | Response | Noise


@dataclass(frozen=True, slots=True)
class Oversized:
    """A line over the cap, of which only both ends were kept."""

    head: bytes
    tail: bytes
    size: int

    @property
    def id(self) -> MessageId:
        """The id of the answer that it probably was."""
        return recovered_id(self.head, self.tail)


@dataclass(slots=True)
class LineFramer:
    """Cuts a byte stream at newlines in linear time; a line over `limit` is dropped as it comes."""

    limit: int = policy.MESSAGE_LIMIT_BYTES
    _buffer: bytearray = field(default_factory=bytearray)
    _dropped: int = 0
    _head: bytes = b""
    _tail: bytes = b""

    @property
    def pending(self) -> int:
        """Bytes of the unfinished line."""
        return len(self._buffer) + self._dropped

    def feed(self, chunk: bytes) -> Iterator[Bytes | Oversized]:
        """The lines that `chunk` completes, without their newline."""
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            if not self._buffer and not self._dropped and end - start <= self.limit:
                yield chunk[start:end]
            else:
                self._append(memoryview(chunk)[start:end])
                yield self._take()
            start = end + 1
        if start < len(chunk):
            self._append(memoryview(chunk)[start:])

    def rest(self) -> Bytes | Oversized:
        """What stood after the last newline when the stream ended."""
        return self._take()

    def _append(self, part: memoryview) -> None:
        if not self._dropped and len(self._buffer) + len(part) <= self.limit:
            self._buffer += part
            return
        if not self._dropped:
            self._head = (bytes(self._buffer[:_EDGE]) + bytes(part[:_EDGE]))[:_EDGE]
            self._tail = bytes(self._buffer[-_EDGE:])
            self._dropped = len(self._buffer)
            self._buffer = bytearray()
        self._dropped += len(part)
        self._tail = (self._tail + bytes(part[-_EDGE:]))[-_EDGE:]

    def _take(self) -> Bytes | Oversized:
        if self._dropped:
            line = Oversized(self._head, self._tail, self._dropped)
            self._dropped, self._head, self._tail = 0, b"", b""
            return line
        buffer, self._buffer = self._buffer, bytearray()
        return buffer


def split(data: Bytes) -> Message:
    """What `data`, one JSON-RPC message, is, with the exact bytes of its `result` or `error`; never raises."""
    start = after_space(data, len(_BOM) if data[:3] == _BOM else 0)
    if data[start : start + 1] != b"{":
        return Noise(len(data))
    try:
        return _split(data, start)
    except (ValueError, RecursionError) as error:
        return _unreadable(data, f"the message is not legal JSON: {error}")


def recovered_id(head: bytes, tail: bytes) -> MessageId:
    """The id of an answer that cannot be read, from its ends: ids stand in the envelope, and that is short."""
    found = _ID.search(head)
    if found is None:
        ends = _ID.findall(tail)
        return _id_value(ends[-1]) if ends else None
    return _id_value(found[1])


@dataclass(slots=True)
class _Envelope:
    spans: dict[str, tuple[int, int]] = field(default_factory=lambda: {})
    doubled: set[str] = field(default_factory=set[str])
    inner: dict[str, tuple[int, int]] = field(default_factory=lambda: {})


def _split(data: Bytes, start: int) -> Message:
    by_brackets = partial(value_end, data)
    if len(data) > policy.PARSE_LIMIT_BYTES:
        return _message(data, _envelope(data, start, by_brackets))
    try:
        return _message(data, _envelope(data, start, checked_value_end(data)))
    except RecursionError:
        return _message(data, _envelope(data, start, by_brackets))


def _envelope(data: Bytes, start: int, skip: Callable[[int], int]) -> _Envelope:
    found = _Envelope()

    def inside(key: str, position: int) -> int:
        end = skip(position)
        if key in ("isError", "resultType"):
            found.inner[key] = (position, end)
        return end

    def outside(key: str, position: int) -> int:
        is_object = key == "result" and data[position : position + 1] == b"{"
        end = object_end(data, position, inside) if is_object else skip(position)
        if key in found.spans:
            found.doubled.add(key)
        found.spans[key] = (position, end)
        return end

    end = after_space(data, object_end(data, start, outside))
    if end != len(data):
        raise ValueError(f"something follows the message at byte {end}")
    return found


def _message(data: Bytes, envelope: _Envelope) -> Message:
    spans = envelope.spans
    answers = [key for key in ("result", "error") if key in spans]
    if "method" in spans and not answers:
        return _asked(data, spans)
    identity = _id_value(_cut(data, spans["id"])) if "id" in spans else None
    if envelope.doubled & {"id", "result", "error", "method"}:
        return _illegal(data, identity, "a member of the JSON-RPC envelope stands there twice")
    if not answers and identity is None:
        return Noise(len(data))
    if len(answers) != 1:
        return _illegal(data, identity, "the message has not exactly one of `result` and `error`")
    raw = _cut(data, spans[answers[0]])
    if answers[0] == "error":
        return _answer(identity, "error", raw, is_error=True)
    if raw[:1] != b"{":
        return Response(identity, Answer("illegal", raw, "the `result` is not an object"), is_error=True)
    inner = {key: _cut(data, span) for key, span in envelope.inner.items()}
    kind = inner.get("resultType", b'""')[1:-1].decode("latin-1")
    return _answer(identity, "result", raw, is_error=inner.get("isError") == b"true", result_type=kind)


def _answer(identity: MessageId, kind: AnswerKind, raw: bytes, *, is_error: bool, result_type: str = "") -> Response:
    if not _is_utf8(raw):
        note = f"the `{kind}` is not valid UTF-8"
        return Response(identity, Answer("illegal", raw, note), is_error=True)
    return Response(identity, Answer(kind, raw), is_error, result_type)


def _asked(data: Bytes, spans: dict[str, tuple[int, int]]) -> Message:
    method = json.loads(_cut(data, spans["method"]))
    if not isinstance(method, str):
        return Noise(len(data))
    if "id" in spans:
        return Request(_id_value(_cut(data, spans["id"])), method)
    params = _cut(data, spans["params"]) if "params" in spans else b"null"
    readable = len(params) <= policy.NOTIFICATION_LIMIT_BYTES and _is_utf8(params)
    return Notification(method, json.loads(params) if readable else None)


def _unreadable(data: Bytes, note: str) -> Message:
    head, tail = bytes(data[:_EDGE]), bytes(data[-_EDGE:])
    answer, method = _ANSWER.search(head), _METHOD.search(head)
    if method is not None and (answer is None or method.start() < answer.start()):
        return Noise(len(data))
    identity = recovered_id(head, tail)
    if identity is None and answer is None:
        return Noise(len(data))
    return _illegal(data, identity, note)


def _illegal(data: Bytes, identity: MessageId, note: str) -> Response:
    return Response(identity, Answer("illegal", bytes(data), note), is_error=True)


def _cut(data: Bytes, span: tuple[int, int]) -> bytes:
    with memoryview(data) as view:
        return bytes(view[span[0] : span[1]])


def _id_value(raw: bytes) -> MessageId:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int | str) and not isinstance(value, bool) else None


def _is_utf8(data: bytes) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    step = 1 << 20
    try:
        for start in range(0, len(data), step):
            decoder.decode(data[start : start + step], final=start + step >= len(data))
    except UnicodeDecodeError:
        return False
    return True
