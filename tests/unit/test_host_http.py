"""Which names a guard that is served over HTTP may be called by."""

from __future__ import annotations

import pytest

from slimguard.host.http import _names_of


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.8.8.8"])
def test_a_loopback_address_has_the_names_of_loopback(host: str) -> None:
    assert _names_of(host) == ["127.0.0.1", "localhost", "[::1]"]


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_a_wildcard_has_the_names_of_this_machine_and_no_others(host: str) -> None:
    names = _names_of(host)
    assert {"127.0.0.1", "localhost"} < set(names)
    assert "evil.example" not in names


def test_another_address_has_its_own_name_alone() -> None:
    assert _names_of("192.0.2.7") == ["192.0.2.7"]
