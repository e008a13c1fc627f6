"""The command line by itself: versions, help without a command, output that nobody reads, results without a file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from slimguard import __version__
from slimguard.canonical import make_ref
from slimguard.cli import main, versions


@pytest.fixture
def empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "SLIMGUARD_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_version_stands_alone_on_the_first_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--version"])
    first, *rest = capsys.readouterr().out.splitlines()
    assert (left.value.code, first) == (0, f"slimguard {__version__}")
    said = " ".join(rest)
    assert all(word in said for word in ("SQLite", "mcp", "tokenizer o200k_base: as shipped", sys.platform))


def test_a_damaged_vocabulary_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slimguard.tokens.vocabulary.shipped_asset", lambda: b"damaged")
    assert "damaged" in versions.tokenizer()


def test_no_command_is_answered_with_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "slimguard demo" in capsys.readouterr().err


def test_results_are_listed_without_a_configuration(empty_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["results", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert empty_home.exists()


@pytest.mark.parametrize("action", ["show", "export", "rm"])
@pytest.mark.parametrize(("ref", "word"), [("zzz", "malformed"), (make_ref(bytes(8)), "not found")])
@pytest.mark.usefixtures("empty_home")
def test_a_ref_that_is_none_and_one_that_is_not_there_are_told_apart(
    action: str, ref: str, word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["results", action, ref]) == 1
    said = capsys.readouterr()
    assert word in said.out + said.err


def test_a_configuration_that_was_named_must_exist(empty_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["results", "list", "--config", "none.json"]) == 1
    assert "none.json" in capsys.readouterr().err
    assert empty_home.exists()


@pytest.mark.skipif(os.name != "posix", reason="closes a pipe")
def test_output_that_nobody_reads_is_no_fault(empty_home: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-u", "-m", "slimguard", "completion", "bash"],
        stdout=write,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(write)
    assert (done.returncode, done.stderr, empty_home.exists()) == (0, b"", True)
