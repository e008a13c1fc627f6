"""A page of a result above the parse limit verifies what it touches; an export verifies everything."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

LINES = 360_000
"""About 17 MB."""


def _flip(path: Path, number: int) -> None:
    """Change one bit of a stored chunk, past the triggers that forbid it."""
    with contextlib.closing(sqlite3.connect(path, timeout=30)) as connection:
        connection.executescript("DROP TRIGGER IF EXISTS chunks_never_change")
        identity, data = connection.execute("SELECT id, data FROM chunks ORDER BY id").fetchall()[number]
        changed = bytearray(data)
        changed[100] ^= 1
        connection.execute("UPDATE chunks SET data = ? WHERE id = ?", (bytes(changed), identity))
        connection.commit()


def _export(config: Path, ref: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "slimguard", "results", "export", ref, "--config", str(config)]
    return subprocess.run(command, capture_output=True, check=False)


def test_a_flipped_bit_is_found_by_the_page_that_touches_it_and_by_an_export(guard: Any, bench: Any, helpers: Any):
    host = guard()
    ref = helpers.ref_of(host.tool("count/big", {"lines": LINES}))
    exact = _export(bench.config, ref).stdout.decode()
    pages = host.pages(ref, "raw:")
    assert exact.startswith(next(pages))
    path = Path(bench.section["store"]["path"])
    _flip(path, 200)
    second = next(pages)
    assert second and second in exact
    whole = host.read(ref, "lines:1-2")
    assert whole["isError"] and "digest mismatch" in helpers.text_of(whole)
    failed = _export(bench.config, ref)
    assert failed.returncode != 0 and b"digest mismatch" in failed.stderr
    _flip(path, 1)
    page = host.read(ref)
    assert page["isError"] and "digest mismatch" in helpers.text_of(page)
