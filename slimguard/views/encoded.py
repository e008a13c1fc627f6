"""Bytes written as text: data URIs and base64; told by type, size and digest, never decoded further than that."""

from __future__ import annotations

import base64
import binascii
import re

from slimguard.canonical import digest_of
from slimguard.frame import size_text

LEAST_CHARS = 400
_DATA_URI = re.compile(r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w=.+-]+)*;base64,", re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{76,}")
_BODY = re.compile(r"[A-Za-z0-9+/_=\s-]+\Z")
_MAGIC = (
    (b"\x89PNG\r\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"), (b"RIFF", "image/webp"),
    (b"%PDF", "application/pdf"), (b"PK\x03\x04", "application/zip"), (b"\x1f\x8b", "application/gzip"),
    (b"OggS", "audio/ogg"), (b"ID3", "audio/mpeg"), (b"\x00\x00\x00", "video/mp4"), (b"BM", "image/bmp"),
    (b"\x7fELF", "application/x-elf"),
)  # fmt: skip


def encoded_text(text: str) -> str:
    """`image/png as base64, 178.2 KB, blake3 3f2a9c…` for a text that is encoded bytes, else empty."""
    if len(text) < LEAST_CHARS:
        return ""
    uri = _DATA_URI.match(text)
    start = uri.end() if uri else 0
    if not uri and not _BASE64.match(text[:200].replace("\n", "").replace("\r", "")):
        return ""
    head, tail = text[start : start + 4_000], text[-200:]
    if not _BODY.match(head) or not _BODY.match(tail) or (not uri and not _mixed(head)):
        return ""
    data = _decoded(text[start:])
    if data is None:
        return ""
    kind = (uri.group(1) if uri else None) or _magic(data)
    return f"{kind} as base64, {size_text(len(data))}, blake3 {digest_of(data)[:12]}"


def _mixed(text: str) -> bool:
    return (
        any(char.isdigit() for char in text)
        and any(char.isupper() for char in text)
        and any(char.islower() for char in text)
    )


def _decoded(text: str) -> bytes | None:
    body = text.translate(_WEB_SAFE)
    try:
        return base64.b64decode(body + "=" * (-len(body) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


_WEB_SAFE = str.maketrans({"-": "+", "_": "/", "\n": None, "\r": None, " ": None, "\t": None, "=": None})


def _magic(data: bytes) -> str:
    for start, kind in _MAGIC:
        if data.startswith(start):
            return kind
    return "bytes"
