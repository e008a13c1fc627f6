"""Signs of life: who looks, and who buries, never changes who is taken for alive."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from slimguard.store import files
from slimguard.store.guards import Presence


def test_a_guard_that_is_being_buried_is_not_taken_for_alive(tmp_path: Path) -> None:
    database = tmp_path / "results.db"
    dead = Presence(database, "dead")
    dead.file_of("dead").touch(mode=0o600)
    burier = files.try_lock(dead.file_of("dead"), shared=True)
    assert burier is not None
    assert not Presence(database, "other").alive("dead")
    os.close(burier)


def test_a_living_guard_is_alive_and_cannot_be_buried(tmp_path: Path) -> None:
    living = Presence(tmp_path / "results.db", "living")
    living.hold()
    assert Presence(tmp_path / "results.db", "other").alive("living")
    assert files.try_lock(living.file_of("living"), shared=True) is None
    living.release()
    assert not Presence(tmp_path / "results.db", "other").alive("living")


def test_a_guard_gets_its_lock_although_somebody_looks_at_that_instant(tmp_path: Path) -> None:
    guard = Presence(tmp_path / "results.db", "new")
    looking = files.try_lock(guard.file_of("new"), shared=True)
    assert looking is not None
    holding = threading.Thread(target=guard.hold)
    holding.start()
    os.close(looking)
    holding.join()
    assert Presence(tmp_path / "results.db", "other").alive("new")
    guard.release()
