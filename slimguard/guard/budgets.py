"""Budgets of one host under the current settings: profile, then configuration, then tool; numbers are policy.py's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from slimguard import policy
from slimguard.model import Budget, Tool
from slimguard.ports import TokenCounter
from slimguard.settings import BudgetSettings, Settings, ToolSettings
from slimguard.tokens import HostTokens


@dataclass(frozen=True, slots=True)
class Budgets:
    """Views and pages for one host, and the counter that counts its tokens."""

    settings: Settings
    profile: policy.HostProfile
    counter: TokenCounter

    @classmethod
    def of(cls, settings: Settings, host: str, counter: TokenCounter) -> Budgets:
        """Budgets for a profile's name; an unknown name gets the default profile."""
        profile = policy.HOSTS.get(host, policy.HOSTS["default"])
        scaled = counter if profile.token_factor == 1.0 else HostTokens(counter, profile.token_factor)
        return cls(settings, profile, scaled)

    def view(self, tool: Tool | None = None) -> Budget:
        """Budget of a first view or inline result of `tool`."""
        base = policy.EXTREME_VIEW_BUDGET if self.settings.mode == "extreme" else policy.VIEW_BUDGET
        budget = _with(base, self.settings.budget)
        return budget if tool is None else _with(budget, self.tool(tool).budget)

    def inline(self, tool: Tool | None = None) -> Budget:
        """What an exact delivery may cost; the same in every mode, since an exact small result is never dearer."""
        budget = _with(policy.VIEW_BUDGET, self.settings.budget)
        return budget if tool is None else _with(budget, self.tool(tool).budget)

    def page(self) -> Budget:
        """Budget of a page that someone asked for."""
        base = policy.STRICT_PAGE_BUDGET if self.profile.strict else policy.PAGE_BUDGET
        fixed = self.settings.budget
        larger = replace(
            fixed,
            tokens=fixed.tokens and max(fixed.tokens, base.tokens),
            bytes=fixed.bytes and max(fixed.bytes, base.bytes),
        )
        return _with(base, larger if not self.profile.strict else fixed)

    def tool(self, tool: Tool) -> ToolSettings:
        """The settings of `tool`: its exact id first, then the first glob that matches."""
        named = self.settings.tools.get(tool.id)
        if named is not None:
            return named
        globs = (found for glob, found in self.settings.tools.items() if fnmatchcase(tool.id, glob))
        return next(globs, ToolSettings())

    def soft_seconds(self, tool: Tool | None = None) -> float:
        """How long a request may wait for an upstream: the smaller of 45 s and the host's timeout less 10 s."""
        own = self.tool(tool).timeouts.soft_seconds if tool else None
        server = self.settings.servers.get(tool.server) if tool else None
        own = own if own is not None else (server.timeouts.soft_seconds if server else None)
        if own is None:
            own = self.settings.timeouts.soft_seconds
        if own is not None:
            return own
        host = self.profile.call_seconds
        limit = policy.SOFT_SECONDS if host is None else min(policy.SOFT_SECONDS, host - policy.HOST_MARGIN_SECONDS)
        return max(1.0, limit)

    def call_seconds(self, tool: Tool) -> float:
        """How long the upstream may take before the outcome is `unknown`."""
        server = self.settings.servers.get(tool.server)
        for value in (
            self.tool(tool).timeouts.call_seconds,
            server.timeouts.call_seconds if server else None,
            self.settings.timeouts.call_seconds,
        ):
            if value is not None:
                return value
        return policy.CALL_SECONDS


def _with(budget: Budget, fixed: BudgetSettings) -> Budget:
    return Budget(
        fixed.tokens if fixed.tokens is not None else budget.tokens,
        fixed.bytes if fixed.bytes is not None else budget.bytes,
        fixed.lines if fixed.lines is not None else budget.lines,
        fixed.line_chars if fixed.line_chars is not None else budget.line_chars,
    )
