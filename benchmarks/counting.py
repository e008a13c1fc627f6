"""Tokens as every figure of the benchmarks counts them: o200k_base over compact JSON; the accounting of a task."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchmarks.wire import Answer, Peer, compact
from slimguard.tokens import Tokens

COUNTER = "o200k_base (the vocabulary that slimguard ships, SHA-256 446a9538…1a2d)"
_tokens = Tokens()


def tokens(value: Any) -> int:
    """Tokens of a text, or of a value's compact JSON."""
    return _tokens.count(value if isinstance(value, str) else compact(value))


@dataclass(slots=True)
class Account:
    """What passed between host and server, by kind."""

    prompts: int = 0
    lists: int = 0
    finds: int = 0
    calls: int = 0
    reads: int = 0
    answers: list[Answer] = field(default_factory=list)

    @property
    def total(self) -> int:
        """Everything together."""
        return self.prompts + self.lists + self.finds + self.calls + self.reads

    def prompt(self, text: str) -> None:
        """What the user said."""
        self.prompts += tokens(text)

    def listed(self, peer: Peer) -> list[dict[str, Any]]:
        """Pay for a `tools/list`, and give the tools."""
        result = peer.request("tools/list").result
        self.lists += tokens({"method": "tools/list"}) + tokens(result)
        return result["tools"]

    def call(self, peer: Peer, name: str, arguments: dict[str, Any], kind: str = "calls") -> Answer:
        """Pay for a `tools/call`, request and result."""
        answer = peer.call(name, arguments)
        spent = tokens({"name": name, "arguments": arguments}) + tokens(answer.result)
        setattr(self, kind, getattr(self, kind) + spent)
        self.answers.append(answer)
        return answer

    def row(self) -> dict[str, int]:
        """The figures."""
        kinds = ("prompts", "lists", "finds", "calls", "reads")
        return {**{kind: getattr(self, kind) for kind in kinds}, "total": self.total}
