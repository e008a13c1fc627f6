"""The o200k_base vocabulary that is shipped as package data; never downloads, and never fails for a damaged copy."""

from __future__ import annotations

import hashlib
import re
import threading
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

ASSET_NAME = "o200k_base.lp.gz"

ASSET_SHA256 = "591e503dbb4e3c1682205fbad667c78f5e00dcad009e70673b368ea1e401581a"
"""SHA-256 of the shipped file, checked on every load."""

ORIGINAL_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""SHA-256 of the original vocabulary text, as tiktoken declares it; a test rebuilds that text from the asset."""

VOCABULARY_SIZE = 199_998
"""Ordinary tokens of o200k_base; a token's rank is its place."""

SPECIAL_TOKENS = {"<|endoftext|>": 199_999, "<|endofprompt|>": 200_018}
"""Declared with the encoding; text is counted as ordinary text, so that they never occur in a count."""

_WORD_END = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"

SPLIT_PATTERN = "|".join(
    (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + _WORD_END,
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + _WORD_END,
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)
"""How o200k_base splits text into pieces before it merges bytes; `cuts` follows from it."""

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Token numbers of a text (`encode`) and the UTF-8 length of each token (`lengths`, by number).

    A lone surrogate is taken as U+FFFD, which has the same length. `damage` is empty, or one sentence of why every
    byte is taken for a token, which is never fewer than there are.
    """

    encode: Callable[[str], Sequence[int]]
    lengths: bytes
    damage: str = ""


def shipped_asset() -> bytes:
    """The bytes of the shipped vocabulary; raises `OSError` when it is missing."""
    from importlib import resources  # noqa: PLC0415  a start must not pay for it

    return resources.files("slimguard").joinpath("data", ASSET_NAME).read_bytes()


def unpack(asset: bytes) -> tuple[bytes, list[bytes]]:
    """Lengths and bytes of all tokens in the order of their ranks; raises `ValueError` when the asset is damaged."""
    if hashlib.sha256(asset).hexdigest() != ASSET_SHA256:
        raise ValueError(f"{ASSET_NAME} is damaged: its SHA-256 is not the declared one")
    packed = zlib.decompress(asset, wbits=31)
    lengths, body = packed[:VOCABULARY_SIZE], packed[VOCABULARY_SIZE:]
    ends = list(accumulate(lengths, initial=0))
    return lengths, [body[start:end] for start, end in pairwise(ends)]


def open_vocabulary(read: Callable[[], bytes] = shipped_asset) -> Vocabulary:
    """Verify and load a vocabulary: about 0.4 s of processor time, for much of which no other thread runs.

    Never raises for what is wrong with the asset or with tiktoken: then each byte counts as a token, and `damage`
    says why.
    """
    try:
        lengths, tokens = unpack(read())
        return Vocabulary(_encoder(tokens), lengths)
    except (OSError, ValueError, ImportError) as error:
        return Vocabulary(_bytes_of, b"\1" * 256, f"tokens are counted as bytes: {error}")


def _encoder(tokens: list[bytes]) -> Callable[[str], Sequence[int]]:
    from tiktoken import Encoding  # noqa: PLC0415  a start must not pay for it

    ranks = dict(zip(tokens, range(len(tokens)), strict=True))
    encoding = Encoding("o200k_base", pat_str=SPLIT_PATTERN, mergeable_ranks=ranks, special_tokens=dict(SPECIAL_TOKENS))
    single = [ranks[bytes((value,))] for value in range(256)]
    ranks.clear()  # the encoder has its own copy: some 20 MB that nobody reads again

    def encode(text: str) -> Sequence[int]:
        text = _encodable(text)
        try:
            return encoding.encode_ordinary(text)
        except BaseException as error:
            if type(error).__name__ != "PanicException":  # the Rust side gave up; its type has no public name
                raise
            return [single[value] for value in text.encode("utf-8")]

    return encode


def _encodable(text: str) -> str:
    """`text` with each surrogate as U+FFFD, so that lengths and places stay the same."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text


def _bytes_of(text: str) -> Sequence[int]:
    return text.encode("utf-8", "surrogatepass")


_lock = threading.Lock()
_shared: list[Vocabulary] = []


def shared_vocabulary() -> Vocabulary:
    """The shipped vocabulary, loaded once a process whoever asks first; safe from any thread."""
    if not _shared:
        with _lock:
            if not _shared:
                _shared.append(open_vocabulary())
    return _shared[0]
