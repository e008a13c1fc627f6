"""Implementations that the contract suites run on, and the values that they are given."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from slimguard import canonical
from slimguard.model import Execution, Tool

DEFINITION = {"name": "read_log", "inputSchema": {"type": "object"}}


@pytest.fixture
def execution(clock: Any) -> Callable[..., Execution]:
    """Make an intended call of `owner` in `scope` that lives for `ttl` seconds."""

    def make(owner: str = "ada", scope: str = "here", ttl: float = 1000.0) -> Execution:
        tool = Tool("logs", "read_log", DEFINITION, canonical.definition_digest(DEFINITION))
        return Execution(
            ref=canonical.make_ref(os.urandom(canonical.REF_RANDOM_BYTES)),
            owner=owner,
            scope=scope,
            tool=tool,
            arguments={"path": "/x"},
            arguments_digest="0" * 64,
            created_at=clock.now(),
            expires_at=clock.now() + ttl,
            call_seconds=60.0,
        )

    return make


@pytest.fixture(params=["sqlite"])
def open_store(request: pytest.FixtureRequest, open_store: Callable[..., Any]) -> Callable[..., Any]:
    """Another implementation joins the suite with a name in `params` and its opener here."""
    return {"sqlite": open_store}[request.param]
