"""Bytes, digests and refs: how a value is canonically written, hashed and named; never I/O or randomness."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from blake3 import blake3

from slimguard.model import Json, JsonObject
from slimguard.policy import CHUNK_BYTES

REF_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base 32 in lower case: no i, l, o, u, so that a ref survives being read aloud."""

REF_PREFIX = "r"
REF_RANDOM_CHARS = 12
REF_CHECK_CHARS = 2
REF_RANDOM_BYTES = 8
"""Random bytes that `make_ref` needs; 60 of their bits are used."""


def dump(value: Json) -> str:
    """Compact JSON with keys in their order and text unescaped; lone surrogates are escaped, never an error."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"))
    return text


def survives(value: Json) -> bool:
    """Whether a parsed value can be sent as JSON and be the same: no NaN, no infinity, no lone surrogate."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (ValueError, RecursionError):
        return False
    return True


def canonical(value: Json) -> bytes:
    """The bytes that digests of values are made over: compact, keys sorted, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")


def digest_of(data: bytes) -> str:
    """Hex BLAKE3 (256 bits) of `data`."""
    return blake3(data).hexdigest()


def value_digest(value: Json) -> str:
    """Hex BLAKE3 of a JSON value's canonical form."""
    return digest_of(canonical(value))


def definition_digest(definition: JsonObject) -> str:
    """Digest that pins a tool definition; `_meta` and `icons` do not change what a tool does and are left out."""
    return value_digest({key: value for key, value in definition.items() if key not in ("_meta", "icons")})


def chunks(data: bytes, size: int = CHUNK_BYTES) -> Iterator[bytes]:
    """`data` in chunks of `size` bytes; an empty value has no chunk."""
    view = memoryview(data)
    for start in range(0, len(data), size):
        yield bytes(view[start : start + size])


def manifest_digest(size: int, chunk_digests: Iterable[bytes]) -> str:
    """Hex BLAKE3 over a snapshot's length and the digests of its chunks, in order."""
    hasher = blake3(b"slimguard snapshot 1\n" + size.to_bytes(8, "big"))
    for item in chunk_digests:
        hasher.update(item)
    return hasher.hexdigest()


def make_ref(random: bytes) -> str:
    """A new `result_ref` from `REF_RANDOM_BYTES` random bytes: 60 random bits and 10 bits of checksum."""
    if len(random) < REF_RANDOM_BYTES:
        raise ValueError(f"a ref needs {REF_RANDOM_BYTES} random bytes")
    number = int.from_bytes(random[:REF_RANDOM_BYTES], "big")
    body = "".join(REF_ALPHABET[(number >> (5 * place)) & 31] for place in range(REF_RANDOM_CHARS))
    return REF_PREFIX + body + _check(body)


def is_ref(text: str) -> bool:
    """Whether `text` has the form of a ref and its checksum is right; says nothing about whether it exists."""
    if len(text) != 1 + REF_RANDOM_CHARS + REF_CHECK_CHARS or not text.startswith(REF_PREFIX):
        return False
    body, check = text[1 : 1 + REF_RANDOM_CHARS], text[1 + REF_RANDOM_CHARS :]
    return all(char in REF_ALPHABET for char in body) and check == _check(body)


def _check(body: str) -> str:
    number = int.from_bytes(blake3(b"slimguard ref 1\n" + body.encode("ascii")).digest(length=2), "big")
    return REF_ALPHABET[number & 31] + REF_ALPHABET[(number >> 5) & 31]
