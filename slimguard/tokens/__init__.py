"""Token counts and page ends of o200k_base, from a vocabulary that is shipped; never downloads anything."""

from __future__ import annotations

from slimguard.tokens.counter import HostTokens, Tokens

__all__ = ["HostTokens", "Tokens"]
