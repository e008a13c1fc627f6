"""The audit record: private, appended, bounded, and never in the way."""

from __future__ import annotations

import json
import stat

from slimguard.audit import FileAudit, audit_path


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_an_event_is_one_line_with_its_time_in_a_private_file(tmp_path):
    path = audit_path(tmp_path / "results.db")
    audit = FileAudit(path, lambda: 1_700_000_000.25)
    audit.record("flow", **{"from": "a/x", "to": "b/y"}, bytes=3)
    audit.record("call", tool="é\nx")
    assert path.name == "results.audit.jsonl"
    first, second = lines(path)
    assert (first["at"], first["event"], first["from"], first["to"], first["bytes"]) == (
        "2023-11-14T22:13:20.250Z", "flow", "a/x", "b/y", 3,
    )  # fmt: skip
    assert second["tool"] == "é\nx"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_full_file_becomes_the_one_old_file(tmp_path):
    path = tmp_path / "a.jsonl"
    audit = FileAudit(path, lambda: 0.0, limit=200)
    for number in range(10):
        audit.record("call", number=number)
    assert sorted(item.name for item in tmp_path.iterdir()) <= ["a.jsonl", "a.jsonl.1"]
    kept = [item for name in ("a.jsonl.1", "a.jsonl") if (tmp_path / name).exists() for item in lines(tmp_path / name)]
    assert kept[-1]["number"] == 9
    assert sum(item.stat().st_size for item in tmp_path.iterdir()) < 800


def test_what_cannot_be_written_is_dropped(tmp_path):
    FileAudit(tmp_path / "missing" / "a.jsonl", lambda: 0.0).record("call")
    (tmp_path / "target").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    FileAudit(tmp_path / "link", lambda: 0.0).record("call")
    assert (tmp_path / "target").read_text() == ""
    FileAudit(tmp_path / "b", lambda: float("inf")).record("call")
    assert not (tmp_path / "b").exists()
