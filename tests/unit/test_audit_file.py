"""The audit record's file: private, kept open, put aside when it is full, found again when somebody else did that."""

from __future__ import annotations

import json
from pathlib import Path

from slimguard.audit import FileAudit, audit_path


class Time:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_events_are_appended_to_a_private_file(tmp_path: Path) -> None:
    path = tmp_path / "results.audit.jsonl"
    audit = FileAudit(path, Time())
    audit.record("call", tool="a/b", ms=3)
    audit.record("find", matches=2)
    assert [line["event"] for line in lines(path)] == ["call", "find"]
    assert path.stat().st_mode & 0o077 == 0


def test_a_full_file_becomes_the_one_old_file(tmp_path: Path) -> None:
    path = tmp_path / "results.audit.jsonl"
    audit = FileAudit(path, Time(), limit=400)
    for number in range(12):
        audit.record("call", number=number)
    kept = [*lines(audit_path(path, old=True)), *lines(path)]
    assert kept[-1]["number"] == 11
    assert path.stat().st_size <= 500


def test_a_file_that_somebody_else_put_aside_is_begun_anew(tmp_path: Path) -> None:
    path, time = tmp_path / "results.audit.jsonl", Time()
    audit = FileAudit(path, time)
    audit.record("call", number=1)
    path.rename(audit_path(path, old=True))
    time.now += 60
    audit.record("call", number=2)
    assert [line["number"] for line in lines(path)] == [2]


def test_what_cannot_be_written_is_dropped(tmp_path: Path) -> None:
    FileAudit(tmp_path / "missing" / "results.audit.jsonl", Time()).record("call")
