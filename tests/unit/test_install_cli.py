"""The commands around installing, run as a user runs them in a home of their own; nothing secret is ever printed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from slimguard.cli import COMMANDS, build_parser, main
from slimguard.install.hosts import HOSTS
from slimguard.install.model import Machine

FIXTURES = Path(__file__).parents[2] / "fixtures" / "hosts"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "project").mkdir()
    for name in (
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "SLIMGUARD_CONFIG",
        "CODEX_HOME",
        "CLAUDE_CONFIG_DIR",
        "CLINE_DIR",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


@pytest.fixture
def run(home: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        out, err = capsys.readouterr()
        return code, out, err

    return run


def put(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=2), encoding="utf-8")
    return path


SERVERS = {"mcpServers": {"a": {"command": "true", "env": {"K": "SENTINEL-env"}}, "b": {"command": "false"}}}


def test_init_install_and_rollback_leave_the_host_as_it_was(run: Run, home: Path) -> None:
    path = put(home / "project" / ".mcp.json", SERVERS)
    before = path.read_bytes()
    assert run("init", "--no-connect")[0] == 0
    assert (home / "project" / "slimguard.json").stat().st_mode & 0o777 == 0o600
    code, planned, _ = run("plan", "--host", "claude-code", "--no-connect")
    assert code == 0
    assert path.read_bytes() == before
    code, out, _ = run("install", "--host", "claude-code", "--no-connect")
    assert code == 0
    assert out.splitlines()[: len(planned.splitlines()) - 1] == planned.splitlines()[:-1]
    assert list(json.loads(path.read_text())["mcpServers"]) == ["slimguard"]
    assert run("install", "--host", "claude-code", "--no-connect")[1].endswith(
        "nothing to do\n" + out.splitlines()[-4] + "\n"
    )
    assert run("rollback")[0] == 0
    assert path.read_bytes() == before
    assert run("rollback")[0] == 1


def test_nothing_is_written_on_a_dry_run(run: Run, home: Path) -> None:
    path = put(home / "project" / ".mcp.json", SERVERS)
    before = path.read_bytes()
    assert run("init", "--no-connect", "--dry-run")[0] == 0
    assert not (home / "project" / "slimguard.json").exists()
    run("init", "--no-connect")
    run("install", "--host", "claude-code", "--no-connect", "--dry-run")
    assert path.read_bytes() == before
    run("install", "--host", "claude-code", "--no-connect")
    after = path.read_bytes()
    assert "would be put back" in run("rollback", "--dry-run")[1]
    assert path.read_bytes() == after
    assert not (home / ".local" / "share" / "slimguard" / "results.db").exists()


def test_every_command_speaks_json(run: Run, home: Path) -> None:
    put(home / "project" / ".mcp.json", SERVERS)
    init = json.loads(run("init", "--no-connect", "--json")[1])
    assert [one["name"] for one in init["servers"]] == ["a", "b"]
    assert init["written"]
    assert json.loads(run("validate", "--json")[1])["valid"]
    plan = json.loads(run("plan", "--host", "claude-code", "--no-connect", "--json")[1])
    assert plan["removed"] == ["a", "b"]
    install = json.loads(run("install", "--host", "claude-code", "--no-connect", "--json")[1])
    assert install["installed"]
    assert json.loads(run("config", "show", "--resolved", "--json")[1])["servers"]["a"]["env"] == {"K": "…"}
    doctor = json.loads(run("doctor", "--no-connect", "--json")[1])
    assert {check["about"] for check in doctor["checks"]} >= {"versions", "configuration", "store", "tokenizer"}
    assert json.loads(run("rollback", "--list", "--json")[1])[0]["state"] == "installed"
    assert json.loads(run("rollback", "--json")[1])["rolled_back"][0]["id"] == install["id"]


def test_a_file_edited_after_the_installation_is_refused_with_a_difference_without_values(run: Run, home: Path) -> None:
    path = put(home / "project" / ".mcp.json", SERVERS)
    run("init", "--no-connect")
    run("install", "--host", "claude-code", "--no-connect")
    edited = path.read_text().replace('"mcpServers"', '"other": "SENTINEL-mine",\n  "mcpServers"')
    path.write_text(edited)
    code, out, err = run("rollback")
    assert code == 1
    assert path.read_text() == edited
    assert '+  "other": "…",' in err
    assert "SENTINEL" not in out + err
    refused = json.loads(run("rollback", "--json")[1])["refused"][0]
    assert "SENTINEL" not in json.dumps(refused)
    assert refused["diff"]


def test_no_command_prints_a_secret_from_any_place_of_any_host(run: Run, home: Path, monkeypatch: Any) -> None:
    machine = Machine("linux", {"HOME": str(home)}, home / "project")
    for host in HOSTS.values():
        for source in sorted((FIXTURES / host.name).iterdir()):
            if source.stem in ("typical", "project", "commented", "config", "settings", "v1"):
                put(Path(host.files(machine)[0].path), source.read_text(encoding="utf-8"))
    put(home / "project" / ".env", "API_KEY=SENTINEL-file\n")
    for name in ("TRACKER_TOKEN", "LEVEL", "MY_SERVICE_TOKEN", "API_KEY", "SQLITE_KEY", "FIGMA_TOKEN", "FIGMA_TEAM"):
        monkeypatch.setenv(name, "SENTINEL-variable")
    shown = [*run("init", "--no-connect"), *run("init", "--no-connect", "--json"), *run("validate")]
    shown += [*run("validate", "--json"), *run("config", "show"), *run("config", "show", "--resolved")]
    for name in HOSTS:
        shown += [*run("plan", "--host", name, "--no-connect"), *run("plan", "--host", name, "--no-connect", "--json")]
        shown += run("install", "--host", name, "--no-connect")
    shown += [*run("doctor", "--no-connect"), *run("doctor", "--no-connect", "--json"), *run("rollback", "--list")]
    for name in HOSTS:
        path = Path(HOSTS[name].files(machine)[0].path)
        path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    shown += [*run("rollback", "--all"), *run("rollback", "--all", "--json")]
    text = "\n".join(str(part) for part in shown)
    assert "SENTINEL" not in text
    assert text.count("slimguard") > 100


def test_broken_files_give_one_line_and_no_trace(run: Run, home: Path) -> None:
    put(home / "project" / "slimguard.json", '{"mcpServers": {"a": {"command": "x", "env": {"K": "SENTINEL"')
    for command in (["validate"], ["config", "show"], ["plan", "--host", "codex"], ["init", "--no-connect"]):
        code, out, err = run(*command)
        assert code == 1
        assert "Traceback" not in err
        assert "SENTINEL" not in out + err
        assert "slimguard.json" in err
    code, out, _ = run("doctor", "--no-connect")
    assert code == 1
    assert "problem  configuration" in out


def test_validate_lists_problems_notes_and_unavailable_servers(run: Run, home: Path) -> None:
    put(home / "project" / "slimguard.json", {"mcpServers": {"a": {"command": "${NOPE_NOT_SET}", "timeout": 1}}})
    code, out, _ = run("validate")
    assert code == 1
    assert "NOPE_NOT_SET is not set" in out
    assert "timeout is not used" in out
    put(home / "project" / "slimguard.json", {"slimguard": {"mod": 1}})
    assert json.loads(run("validate", "--json")[1])["valid"] is False


def test_doctor_names_a_missing_command_and_the_path_that_was_searched(run: Run, home: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("PATH", "/nowhere/bin")
    put(home / "project" / "slimguard.json", {"mcpServers": {"a": {"command": "no-such-server"}}})
    code, out, _ = run("doctor", "--no-connect")
    assert code == 1
    assert "command not found: no-such-server; searched PATH: /nowhere/bin" in out


def test_doctor_sees_a_host_entry_whose_program_is_gone(run: Run, home: Path) -> None:
    entry = {"command": "/gone/slimguard", "args": ["serve", "--config", "/gone/slimguard.json"]}
    put(home / "project" / ".mcp.json", {"mcpServers": {"slimguard": entry, "other": {"command": "x"}}})
    out = run("doctor", "--no-connect")[1]
    assert "starts /gone/slimguard, which is not found" in out
    assert "also starts other without slimguard" in out


def test_a_host_that_is_not_known_and_a_scope_that_it_has_not_are_said(run: Run, home: Path) -> None:
    put(home / "project" / "slimguard.json", SERVERS)
    assert "the hosts are claude-code" in run("init", "--host", "emacs")[2]
    assert "has user" in run("plan", "--host", "windsurf", "--scope", "project")[2]
    with pytest.raises(SystemExit):
        main(["plan", "--host", "emacs"])


def test_codex_gets_the_names_of_the_variables_and_bare_hosts_a_note(run: Run, home: Path) -> None:
    put(home / "project" / "slimguard.json", {"mcpServers": {"a": {"command": "x", "env": {"K": "${SOME_TOKEN}"}}}})
    codex = run("plan", "--host", "codex", "--no-connect")[1]
    assert '+env_vars = ["SOME_TOKEN"]' in codex
    assert "write SOME_TOKEN into the entry's env by hand" in run("plan", "--host", "claude-desktop", "--no-connect")[1]


def test_completion_knows_every_command_and_option(run: Run) -> None:
    for shell in ("bash", "zsh", "fish"):
        script = run("completion", shell)[1]
        for name in COMMANDS:
            assert name in script
        assert "claude-code" not in script or shell
        assert "no-connect" in script
    bash = run("completion", "bash")[1]
    checked = subprocess.run(
        ["bash", "-c", f'{bash}\nCOMP_WORDS=(slimguard config show --res); COMP_CWORD=3; _slimguard; echo "${{COMPREPLY[@]}}"'],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert checked.stdout.strip() == "--resolved"


def test_every_command_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    build_parser()
    for name in COMMANDS:
        with pytest.raises(SystemExit) as left:
            main([name, "--help"])
        assert left.value.code == 0
        assert len(capsys.readouterr().out.splitlines()) > 3


def test_colours_are_for_terminals_only(run: Run, home: Path) -> None:
    put(home / "project" / "slimguard.json", SERVERS)
    assert "\033" not in "".join(str(part) for part in run("validate"))


def test_the_module_runs_as_a_program(home: Path) -> None:
    put(home / "project" / "slimguard.json", SERVERS)
    done = subprocess.run(
        [sys.executable, "-m", "slimguard", "validate"],
        capture_output=True,
        text=True,
        env=dict(os.environ),
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_literal_values_make_the_configuration_private_and_doctor_sees_when_it_is_not(run: Run, home: Path) -> None:
    path = put(home / "project" / "slimguard.json", {"mcpServers": {}})
    path.chmod(0o644)
    put(home / "project" / ".mcp.json", SERVERS)
    run("init", "--no-connect")
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o644)
    assert f"chmod 600 {path}" in run("doctor", "--no-connect")[1]


OFFERING = """
import json, sys
answers = {
    "initialize": {
        "protocolVersion": "2025-11-25", "serverInfo": {"name": "offering", "version": "1"},
        "capabilities": {"tools": {}, "prompts": {}, "resources": {}},
    },
    "tools/list": {"tools": [{"name": "act", "description": "Act\\u200b now.", "inputSchema": {"type": "object"}}]},
    "prompts/list": {"prompts": [{"name": "one"}]},
    "resources/list": {"resources": []},
}
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    known = message["method"] in answers
    outcome = {"result": answers[message["method"]]} if known else {"error": {"code": -32601, "message": "no"}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome}), flush=True)
"""


def test_what_a_server_really_offers_beyond_tools_is_said_and_it_can_stay_where_it_is(run: Run, home: Path) -> None:
    script = put(home / "offering.py", OFFERING)
    put(home / "project" / ".mcp.json", {"mcpServers": {"one": {"command": sys.executable, "args": [str(script)]}}})
    report = json.loads(run("init", "--json", "--dry-run")[1])
    assert report["servers"][0]["offers_beyond_tools"] == ["prompts"]
    assert "one: its prompts do not pass through slimguard yet; --leave one" in run("init")[1]
    assert json.loads(run("plan", "--host", "claude-code", "--json")[1])["offers_beyond_tools"] == {"one": ["prompts"]}
    left = json.loads(run("plan", "--host", "claude-code", "--leave", "one", "--json")[1])
    assert left["removed"] == []
    assert left["kept"] == [{"name": "one", "reason": "kept, as asked"}]
    analysis = json.loads(run("analyze", "--json")[1])
    assert analysis["servers"][0]["tools"] == 1
    assert analysis["findings"]["offer_more_than_tools"] == {"one": ["prompts"]}
    assert analysis["findings"]["without_annotations"] == ["one/act"]
    assert analysis["findings"]["suspicious_texts"] == {
        "one/act": ["hidden characters (zero-width or direction marks) in its text"]
    }
    assert "1 tools, protocol 2025-11-25, offering 1" in run("doctor")[1]


def test_a_second_installation_finds_the_first_one_wherever_it_is(run: Run, home: Path) -> None:
    user = put(home / ".config" / "zed" / "settings.json", {"context_servers": {"a": {"command": "true", "args": []}}})
    assert run("init", "--yes", "--no-connect", "--host", "zed")[0] == 0
    assert run("install", "--host", "zed", "--yes", "--no-connect")[0] == 0
    installed = user.read_bytes()
    code, out, _ = run("install", "--host", "zed", "--yes", "--no-connect")
    assert code == 0 and "already there" in out
    assert user.read_bytes() == installed
    assert not (home / "project" / ".zed").exists()


def test_init_says_that_it_wrote_only_when_it_did(run: Run, home: Path) -> None:
    code, out, _ = run("init", "--yes", "--json", "--no-connect")
    assert code == 1 and json.loads(out)["written"] is False
    assert not (home / "project" / "slimguard.json").exists()
    put(home / "project" / ".mcp.json", SERVERS)
    code, out, _ = run("init", "--yes", "--json", "--no-connect")
    assert code == 0 and json.loads(out)["written"] is True
    assert (home / "project" / "slimguard.json").exists()
    code, out, _ = run("init", "--yes", "--json", "--no-connect")
    assert code == 0 and json.loads(out)["written"] is False
