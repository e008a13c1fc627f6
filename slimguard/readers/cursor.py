"""Cursors: where an answer goes on, authenticated and bound to result, query and owner; short, and never data.

Bytes: version and number of positions, two bytes each that name refs and query, the positions as varints, five
bytes of keyed BLAKE3 over it all and the owner; base64url. Every version ends with these five bytes.
"""

from __future__ import annotations

import binascii
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence

from blake3 import blake3

from slimguard.errors import QueryRejected

VERSION = 1
_TAG = 2
_MAC = 5
_HEAD = 1 + 2 * _TAG
_ALPHABET = re.compile(r"[A-Za-z0-9_-]+\Z")


def make_cursor(secret: bytes, owner: str, refs: str, query: str, positions: Sequence[int]) -> str:
    """The cursor that continues `query` on `refs` at `positions` (at most 15 numbers from 0)."""
    if len(positions) > 15 or any(position < 0 for position in positions):
        raise ValueError("a cursor holds up to 15 numbers from 0")
    body = bytes([VERSION << 4 | len(positions)]) + _tag(secret, b"ref", refs) + _tag(secret, b"query", query)
    body += b"".join(_varint(position) for position in positions)
    return urlsafe_b64encode(body + _mac(secret, owner, body)).rstrip(b"=").decode("ascii")


def open_cursor(secret: bytes, owner: str, refs: str, query: str, cursor: str) -> tuple[int, ...]:
    """The positions in `cursor`; raises `QueryRejected` with code `cursor_truncated`, `cursor_stale`,
    `cursor_forged`, `cursor_foreign` or `cursor_query`, and says what to do."""
    data = _decoded(cursor.strip().strip("\"'"))
    if data[0] >> 4 != VERSION:
        if data[-_MAC:] == _mac(secret, owner, data[:-_MAC]):
            raise _error("stale", "the cursor is stale: it was made by another version", refs, query)
        raise _error("forged", "the cursor is forged or altered: no answer printed it", refs, query)
    positions, end = _positions(data, refs, query)
    if len(data) < end + _MAC:
        raise _error("truncated", "the cursor is truncated", refs, query)
    body, mac = data[:end], data[end:]
    if mac != _mac(secret, owner, body):
        raise _error("forged", "the cursor is forged or altered: no answer printed it", refs, query)
    if body[1 : 1 + _TAG] != _tag(secret, b"ref", refs):
        raise _error("foreign", "the cursor is foreign: it belongs to another result_ref", refs, query)
    if body[1 + _TAG : _HEAD] != _tag(secret, b"query", query):
        raise _error("query", "the cursor is foreign: it belongs to another query of this result", refs, query)
    return positions


def stale(refs: str, query: str) -> QueryRejected:
    """The error for an authentic cursor whose place does not exist in what is stored now."""
    return _error("stale", "the cursor is stale: its place does not exist in this result", refs, query)


def _decoded(cursor: str) -> bytes:
    if not _ALPHABET.match(cursor):
        raise _error("forged", "the cursor is forged or altered: no cursor has such characters", "", "")
    try:
        data = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    except (binascii.Error, ValueError) as error:
        raise _error("truncated", "the cursor is truncated", "", "") from error
    if urlsafe_b64encode(data).rstrip(b"=").decode("ascii") != cursor:
        raise _error("truncated", "the cursor is truncated or altered at its end", "", "")
    return data


def _positions(data: bytes, refs: str, query: str) -> tuple[tuple[int, ...], int]:
    place = _HEAD
    positions: list[int] = []
    for _ in range(data[0] & 15):
        number = shift = 0
        while True:
            if place >= len(data):
                raise _error("truncated", "the cursor is truncated", refs, query)
            byte = data[place]
            place += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128 or shift > 63:
                break
        positions.append(number)
    return tuple(positions), place


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def _tag(secret: bytes, kind: bytes, text: str) -> bytes:
    data = b"slimguard cursor %s\n" % kind + text.encode("utf-8", "surrogatepass")
    return blake3(data, key=secret).digest(length=_TAG)


def _mac(secret: bytes, owner: str, body: bytes) -> bytes:
    data = b"slimguard cursor mac\n" + owner.encode("utf-8", "surrogatepass") + b"\n" + body
    return blake3(data, key=secret).digest(length=_MAC)


def _error(code: str, message: str, refs: str, query: str) -> QueryRejected:
    where = f' of result_ref="{refs}"' if refs else ""
    what = "the same query" if query else "no query"
    return QueryRejected(
        message,
        code=f"cursor_{code}",
        next_call=f"copy the cursor whole from the last answer{where}, send it with {what}; or read without a cursor",
    )
