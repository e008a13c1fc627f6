"""What has been learned, kept beside the store by definition digest; a damaged file is as good as none."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from slimguard.model import Tool

_FORM = "slimguard-meaning-1"


def vectors_path(store: Path) -> Path:
    """Where the vectors of a store stand: `results.db` has `results.meaning.npz`."""
    return store.with_name(f"{store.stem}.meaning.npz")


def key_of(tool: Tool) -> str:
    """What a vector depends on: the definition, and the server by whose name it is known."""
    return f"{tool.server}/{tool.digest}"


def read_vectors(path: Path, model: str) -> dict[str, Any]:
    """Vectors by key as `write_vectors` left them; none of another model, none when the file cannot be read."""
    numpy: Any = import_module("numpy")
    try:
        with numpy.load(path, allow_pickle=False) as kept:
            if kept["about"].tolist() != [_FORM, model]:
                return {}
            return dict(zip(kept["keys"].tolist(), kept["rows"], strict=True))
    except Exception:  # noqa: BLE001 - whatever a damaged file makes numpy raise: it is learned again
        return {}


def write_vectors(path: Path, model: str, vectors: Mapping[str, Any]) -> None:
    """Replace the file in one step, readable by its owner only. Raises OSError."""
    numpy: Any = import_module("numpy")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            keys = sorted(vectors)
            numpy.savez(
                file,
                about=numpy.array([_FORM, model]),
                keys=numpy.array(keys),
                rows=numpy.array([vectors[key] for key in keys]),
            )
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
