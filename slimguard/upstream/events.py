"""Server-sent events out of a byte stream, their data byte for byte; pure, linear, bounded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from slimguard import policy
from slimguard.upstream.framing import LineFramer, Oversized
from slimguard.upstream.spans import Bytes

_BOM = b"\xef\xbb\xbf"
_MAX_RETRY_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Event:
    """One event; `data` is its data lines joined by newlines, or what is left of one that was over the cap."""

    name: str
    data: Bytes | Oversized


@dataclass(slots=True)
class EventParser:
    """Takes chunks, gives events; `last_id` and `retry_seconds` are what the stream said last."""

    limit: int = field(default_factory=lambda: policy.MESSAGE_LIMIT_BYTES)
    last_id: str = ""
    retry_seconds: float | None = None
    _lines: LineFramer = field(init=False)
    _data: list[Bytes] = field(default_factory=lambda: [])
    _size: int = 0
    _oversized: Oversized | None = None
    _name: str = ""
    _after_cr: bool = False
    _begun: bool = False

    def __post_init__(self) -> None:
        self._lines = LineFramer(self.limit)

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """The events that `chunk` completes."""
        if self._after_cr and chunk[:1] == b"\n":
            chunk = chunk[1:]
        self._after_cr = chunk[-1:] == b"\r"
        if b"\r" in chunk:
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        for line in self._lines.feed(chunk):
            event = self._take(line)
            if event is not None:
                yield event

    def _take(self, line: Bytes | Oversized) -> Event | None:
        if isinstance(line, Oversized):
            self._oversized = line
            return None
        if not self._begun:
            self._begun = True
            line = line[3:] if line[:3] == _BOM else line
        if not line:
            return self._dispatch()
        name, value = _field(line)
        if name == b"data":
            self._keep(value)
        elif name == b"event":
            self._name = bytes(value).decode("utf-8", "replace")
        elif name == b"id" and b"\0" not in value:
            self.last_id = bytes(value).decode("utf-8", "replace")
        elif name == b"retry" and value.isdigit() and len(value) <= _MAX_RETRY_DIGITS:
            self.retry_seconds = int(value) / 1000
        return None

    def _keep(self, value: Bytes) -> None:
        self._size += len(value) + 1
        if self._size > self.limit:
            head = bytes(self._data[0][:300]) if self._data else bytes(value[:300])
            self._oversized = Oversized(head, bytes(value[-300:]), self._size)
            self._data = []
            return
        self._data.append(value)

    def _dispatch(self) -> Event | None:
        data, oversized, name = self._data, self._oversized, self._name
        self._data, self._size, self._oversized, self._name = [], 0, None, ""
        if oversized is not None:
            return Event(name or "message", oversized)
        if not data:
            return None
        return Event(name or "message", data[0] if len(data) == 1 else b"\n".join(data))


def _field(line: Bytes) -> tuple[bytes, Bytes]:
    colon = line.find(b":", 0, 16)
    if colon < 0:
        return bytes(line[:16]), b""
    name = bytes(line[:colon])
    start = colon + 2 if line[colon + 1 : colon + 2] == b" " else colon + 1
    if isinstance(line, bytearray):
        # The line is ours alone: cutting its front off costs no copy of a large value.
        del line[:start]
        return name, line
    return name, line[start:]
