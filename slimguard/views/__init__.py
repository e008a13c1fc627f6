"""Compact, deterministic views of results: one file a content kind, a registry, a total fallback; never an edit."""

from slimguard.views.model import View
from slimguard.views.render import render

__all__ = ["View", "render"]
