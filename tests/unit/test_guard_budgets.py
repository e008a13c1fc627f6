"""Budgets and deadlines: profile, then configuration, then server, then tool."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slimguard import policy
from slimguard.guard.budgets import Budgets
from slimguard.model import Tool
from slimguard.settings import BudgetSettings, ServerConfig, Settings, StoreSettings, Timeouts, ToolSettings
from slimguard.tokens import Tokens

COUNTER = Tokens()
SETTINGS = Settings(servers={}, store=StoreSettings(path="unused"))


def tool(name: str = "read_log", server: str = "shop") -> Tool:
    return Tool(server=server, name=name, definition={"name": name, "inputSchema": {}}, digest="0" * 64)


def budgets(host: str = "default", **changes: object) -> Budgets:
    return Budgets.of(replace(SETTINGS, **changes), host, COUNTER)


def test_without_settings_the_numbers_are_those_of_the_policy() -> None:
    found = budgets()
    assert (found.view(), found.inline(), found.page()) == (
        policy.VIEW_BUDGET,
        policy.VIEW_BUDGET,
        policy.PAGE_BUDGET,
    )
    assert found.counter is COUNTER


def test_an_unknown_host_gets_the_default_profile() -> None:
    assert budgets("nobody knows").profile is policy.HOSTS["default"]


def test_a_host_whose_model_makes_more_tokens_counts_more() -> None:
    text = "several words of a text " * 20
    assert budgets("claude-code").counter.count(text) > COUNTER.count(text)


def test_extreme_mode_shortens_views_and_not_exact_results() -> None:
    found = budgets(mode="extreme")
    assert found.view() == policy.EXTREME_VIEW_BUDGET
    assert found.inline() == policy.VIEW_BUDGET


def test_a_strict_host_gets_pages_of_a_view() -> None:
    assert budgets("codex").page() == policy.STRICT_PAGE_BUDGET


def test_a_configured_budget_shrinks_views_and_never_pages_that_were_asked_for() -> None:
    found = budgets(budget=BudgetSettings(tokens=300))
    assert found.view() == replace(policy.VIEW_BUDGET, tokens=300)
    assert found.page().tokens == policy.PAGE_BUDGET.tokens
    assert budgets(budget=BudgetSettings(tokens=9_000)).page().tokens == 9_000


def test_a_tool_is_named_exactly_before_a_glob_counts() -> None:
    settings = {
        "shop/*": ToolSettings(budget=BudgetSettings(tokens=500)),
        "shop/read_log": ToolSettings(budget=BudgetSettings(tokens=200)),
    }
    found = budgets(tools=settings)
    assert found.view(tool()).tokens == 200
    assert found.view(tool("list_orders")).tokens == 500
    assert found.view(tool(server="other")).tokens == policy.VIEW_BUDGET.tokens
    assert found.view().tokens == policy.VIEW_BUDGET.tokens


@pytest.mark.parametrize("host", policy.HOSTS)
def test_the_soft_deadline_leaves_the_host_a_margin(host: str) -> None:
    limit = policy.HOSTS[host].call_seconds
    seconds = budgets(host).soft_seconds()
    assert 1 <= seconds <= policy.SOFT_SECONDS
    if limit is not None:
        assert seconds <= limit - policy.HOST_MARGIN_SECONDS


def test_deadlines_go_from_the_tool_to_the_server_to_all() -> None:
    server = ServerConfig(
        name="shop", transport="stdio", command="x", timeouts=Timeouts(soft_seconds=8, call_seconds=80)
    )
    everyone = Timeouts(soft_seconds=9, call_seconds=90)
    named = {"shop/read_log": ToolSettings(timeouts=Timeouts(soft_seconds=7, call_seconds=70))}
    found = budgets(servers={"shop": server}, timeouts=everyone, tools=named)
    assert (found.soft_seconds(tool()), found.call_seconds(tool())) == (7, 70)
    assert (found.soft_seconds(tool("other")), found.call_seconds(tool("other"))) == (8, 80)
    assert (found.soft_seconds(tool(server="b")), found.call_seconds(tool(server="b"))) == (9, 90)
    assert budgets().call_seconds(tool()) == policy.CALL_SECONDS
