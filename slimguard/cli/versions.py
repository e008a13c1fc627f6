"""What a bug report needs to know of this installation; reads one file, connects to nothing, names no path."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from slimguard import __version__
from slimguard.cli.output import say

LIBRARIES = ("mcp", "tiktoken", "google-re2", "jsonschema-rs")
"""Libraries whose version explains most differences between two machines."""


class ShowVersions(argparse.Action):
    """The `--version` option: print and leave."""

    def __init__(self, option_strings: Sequence[str], dest: str, **_options: Any) -> None:
        words = "print the versions that a bug report needs, and leave"
        super().__init__(option_strings, dest, nargs=0, help=words)

    def __call__(self, parser: argparse.ArgumentParser, *_values: Any) -> None:  # noqa: D102 - argparse's contract
        for line in lines():
            say(line)
        parser.exit()


def lines() -> list[str]:
    """Our version alone on the first line; then Python and platform, libraries, tokenizer."""
    import platform

    return [
        f"slimguard {__version__}",
        f"{platform.python_implementation()} {platform.python_version()}, {sys.platform} {platform.machine()}",
        ", ".join([f"SQLite {_sqlite()}", *(f"{name} {_installed(name)}" for name in LIBRARIES)]),
        f"tokenizer o200k_base: {tokenizer()}",
    ]


def _sqlite() -> str:
    from slimguard.store import engine

    return engine.version()


def _installed(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return "is missing"


def tokenizer() -> str:
    """Whether the shipped vocabulary is whole, without loading it; otherwise what happens instead."""
    import hashlib

    from slimguard.tokens.vocabulary import ASSET_SHA256, shipped_asset

    try:
        whole = hashlib.sha256(shipped_asset()).hexdigest() == ASSET_SHA256
    except OSError:
        return "the vocabulary is missing, so that bytes are counted; install slimguard again"
    return "as shipped" if whole else "the vocabulary is damaged, so that bytes are counted; install slimguard again"
