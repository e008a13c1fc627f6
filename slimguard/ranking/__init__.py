"""Ranking: which tools answer a query in any words and language; pure, local, deterministic, no input or output."""

from __future__ import annotations

from slimguard.ranking.answer import Confidence, Found, Match, Reason, search
from slimguard.ranking.index import Index, build
from slimguard.ranking.overview import Area, map_of
from slimguard.ranking.suspicion import suspicious

__all__ = ["Area", "Confidence", "Found", "Index", "Match", "Reason", "build", "map_of", "search", "suspicious"]
