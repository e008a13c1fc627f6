"""What tools mean: an optional sentence-embedding model that travels inside a wheel; imported only when it is there."""

from __future__ import annotations

from slimguard.semantic.learning import Meanings
from slimguard.semantic.model import installed, load
from slimguard.semantic.vectors import vectors_path

__all__ = ["Meanings", "installed", "load", "vectors_path"]
