"""The page about storage names its tests; a renamed or deleted one must be noticed."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_test_that_the_page_about_storage_names_exists():
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs/explanation/storage.md").read_text("utf-8")))
    suites = [ROOT / "tests/faults/test_storage_faults.py", ROOT / "tests/contracts/test_ledger_contract.py"]
    suites.append(ROOT / "tests/unit/test_store.py")
    defined = {name for path in suites for name in re.findall(r"def (test_\w+)", path.read_text("utf-8"))}
    assert len(named) > 20
    assert named <= defined
