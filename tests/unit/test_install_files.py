"""Discovering, choosing, applying and taking back: a user's file is never harmed, and nothing of it is shown."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from slimguard import config
from slimguard.install import applying, choosing, discovering, journal
from slimguard.install.hosts import HOSTS
from slimguard.install.model import Entry, HostFile, HostFileRefused, Machine

ENTRY = Entry("/bin/slimguard", ("serve", "--config", "/x/slimguard.json"))
CLAUDE = HOSTS["claude-code"]
SERVERS = {
    "mcpServers": {
        "git": {"command": "uvx", "args": ["mcp-server-git"]},
        "time": {"command": "uvx", "args": ["mcp-server-time"], "env": {"K": "SENTINEL-env"}},
    }
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path


def machine(home: Path) -> Machine:
    return Machine("linux", {"HOME": str(home)}, home / "project")


def put(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=2), encoding="utf-8")
    return path


def project_file(home: Path) -> HostFile:
    return CLAUDE.files(machine(home))[0]


def planned(home: Path, configured: Any = None, **options: Any) -> choosing.Planned:
    configured = SERVERS["mcpServers"] if configured is None else configured
    return choosing.plan_install(CLAUDE, project_file(home), machine(home), ENTRY, configured, **options)


def apply(home: Path, change: choosing.Planned, identity: str = "one") -> journal.Record:
    return applying.install(
        home / "journal", change.host, change.file, change.before, change.text,
        removed=change.removed, identity=identity, now=1.0,
    )  # fmt: skip


def refusing(_old: str, _now: str) -> HostFileRefused:
    return HostFileRefused("edited since")


def test_guarded_servers_are_replaced_and_others_stay_with_the_reason(home: Path) -> None:
    extra = {"mcpServers": {**SERVERS["mcpServers"], "new": {"command": "other"}}}
    put(home / "project" / ".mcp.json", extra)
    change = planned(home)
    assert change.removed == ("git", "time")
    assert change.kept == (("new", "not in the configuration; add it there with: slimguard init"),)
    assert list(json.loads(change.text)["mcpServers"]) == ["new", "slimguard"]


def test_keep_and_leave_let_servers_stay(home: Path) -> None:
    put(home / "project" / ".mcp.json", SERVERS)
    assert planned(home, keep=True).removed == ()
    assert planned(home, leave=["git"]).removed == ("time",)


def test_the_difference_shows_no_value_of_the_user(home: Path) -> None:
    put(home / "project" / ".mcp.json", SERVERS)
    lines = planned(home).diff()
    assert any(line.startswith("-") and '"git"' in line for line in lines)
    assert any(line.startswith("+") and "/bin/slimguard" in line for line in lines)
    assert "SENTINEL" not in "\n".join(lines)


def test_rollback_of_a_new_file_takes_it_and_its_directory_away(home: Path) -> None:
    file = HOSTS["cursor"].files(machine(home))[0]
    change = choosing.plan_install(HOSTS["cursor"], file, machine(home), ENTRY, {})
    record = apply(home, change)
    assert Path(file.path).exists()
    applying.rollback(home / "journal", record, refusing)
    assert not Path(file.path).parent.exists()


def test_an_edit_after_the_installation_is_refused_and_kept(home: Path) -> None:
    path = put(home / "project" / ".mcp.json", SERVERS)
    record = apply(home, planned(home))
    edited = path.read_text().replace("slimguard", "mine")
    path.write_text(edited)
    with pytest.raises(HostFileRefused, match="edited since"):
        applying.rollback(home / "journal", record, refusing)
    assert path.read_text() == edited
    assert journal.records(home / "journal")[0].state == "installed"


def test_a_deleted_file_has_nothing_to_roll_back(home: Path) -> None:
    path = put(home / "project" / ".mcp.json", SERVERS)
    record = apply(home, planned(home))
    path.unlink()
    with pytest.raises(HostFileRefused, match="deleted"):
        applying.rollback(home / "journal", record, refusing)
    assert not path.exists()


def test_a_damaged_backup_is_never_written_back(home: Path) -> None:
    path = put(home / "project" / ".mcp.json", SERVERS)
    record = apply(home, planned(home))
    after = path.read_bytes()
    (home / "journal" / "one.backup").write_bytes(b"{}")
    with pytest.raises(HostFileRefused, match="digest mismatch"):
        applying.rollback(home / "journal", record, refusing)
    assert path.read_bytes() == after


def test_backup_and_journal_are_for_their_owner_only_and_the_journal_holds_no_content(home: Path) -> None:
    put(home / "project" / ".mcp.json", SERVERS)
    apply(home, planned(home))
    assert (home / "journal").stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in (home / "journal").iterdir()} == {0o600}
    assert "SENTINEL" not in (home / "journal" / "one.json").read_text()


@pytest.mark.parametrize("change", ["edited", "deleted", "created"])
def test_a_file_changed_between_reading_and_writing_is_left_alone(home: Path, change: str) -> None:
    path = home / "project" / ".mcp.json"
    if change != "created":
        put(path, SERVERS)
    plan = planned(home)
    if change == "deleted":
        path.unlink()
    else:
        put(path, '{"somebody": "else"}')
    with pytest.raises(HostFileRefused, match="meanwhile"):
        apply(home, plan)
    assert path.exists() is (change != "deleted")
    assert not path.exists() or path.read_text() == '{"somebody": "else"}'
    assert [one.name for one in path.parent.iterdir()] == ([] if change == "deleted" else [".mcp.json"])


def test_a_crash_before_the_write_leaves_a_record_that_rolls_back_to_what_is_there(home: Path) -> None:
    path = put(home / "project" / ".mcp.json", SERVERS)
    before = path.read_bytes()
    plan = planned(home)
    put(path, '{"other": 1}')
    with pytest.raises(HostFileRefused):
        apply(home, plan)
    path.write_bytes(before)
    (record,) = journal.records(home / "journal")
    assert record.state == "prepared"
    assert applying.rollback(home / "journal", record, refusing).state == "rolled back"
    assert path.read_bytes() == before


def test_a_link_of_the_users_own_is_followed_and_stays_a_link(home: Path) -> None:
    real = put(home / "dotfiles" / "mcp.json", SERVERS)
    (home / "project" / ".mcp.json").symlink_to(real)
    record = apply(home, planned(home))
    assert (home / "project" / ".mcp.json").is_symlink()
    assert "slimguard" in real.read_text()
    applying.rollback(home / "journal", record, refusing)
    assert json.loads(real.read_text()) == SERVERS


def test_files_that_are_no_safe_ground_are_refused_and_not_touched(home: Path) -> None:
    path = home / "project" / ".mcp.json"
    cases: list[tuple[str, Any]] = [
        ("leads nowhere", lambda: path.symlink_to(home / "missing")),
        ("not a plain file", path.mkdir),
        ("read-only", lambda: (put(path, SERVERS), path.chmod(0o444))),
        ("not UTF-8", lambda: path.write_bytes(b'{"a": "\xe9"}')),
        ("not valid JSON", lambda: put(path, '{"mcpServers": {"SENTINEL"')),
        ("not a JSON object", lambda: put(path, "[]")),
        ("second name", lambda: os.link(put(path, SERVERS), home / "project" / "other")),
    ]
    for words, make in cases:
        make()
        before = None if path.is_dir() or path.is_symlink() else path.read_bytes()
        with pytest.raises(HostFileRefused) as caught:
            planned(home)
        assert words in str(caught.value)
        assert str(path) in str(caught.value)
        assert "SENTINEL" not in str(caught.value)
        assert before is None or path.read_bytes() == before
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()


def test_the_file_is_the_one_that_holds_guarded_servers_then_one_that_exists(home: Path) -> None:
    def chosen(configured: Any, *, project: bool, scope: Any = None) -> str:
        return choosing.choose(CLAUDE, machine(home), configured, scope=scope, project=project).scope

    assert chosen({}, project=False) == "user"
    assert chosen({}, project=True) == "project"
    put(home / ".claude.json", SERVERS)
    assert chosen(SERVERS["mcpServers"], project=True) == "user"
    put(home / "project" / ".mcp.json", SERVERS)
    assert chosen(SERVERS["mcpServers"], project=False) == "project"
    assert chosen(SERVERS["mcpServers"], project=True, scope="local") == "local"
    with pytest.raises(HostFileRefused, match="has user"):
        choosing.choose(HOSTS["windsurf"], machine(home), {}, scope="project", project=True)


def everything(home: Path) -> list[discovering.Discovered]:
    fixtures = Path(__file__).parents[2] / "fixtures" / "hosts"
    here = machine(home)
    for host in HOSTS.values():
        for source in sorted((fixtures / host.name).iterdir()):
            file = host.files(here)[0]
            if source.suffix != ".after" and source.stem in (
                "typical",
                "project",
                "commented",
                "config",
                "settings",
                "v1",
            ):
                put(Path(file.path), source.read_text(encoding="utf-8"))
    put(home / "project" / ".env", "# SENTINEL=no\nexport API_KEY=SENTINEL-file\nOTHER_KEY='SENTINEL-file'\n")
    return discovering.discover(here)


def test_the_servers_of_every_host_become_one_valid_configuration(home: Path) -> None:
    found = everything(home)
    assert {one.host.name for one in found} == set(HOSTS)
    assert not any(one.problem for one in found)
    selection = discovering.select(found)
    text, notes = discovering.configuration("", selection)
    path = put(home / "project" / "slimguard.json", text)
    loaded = config.load_with_notes(str(path), {"HOME": str(home)}, str(home))
    assert set(loaded.settings.servers) == set(selection.servers)
    assert loaded.settings.servers["context7"].transport == "stdio"
    assert loaded.settings.servers["context7-opencode"].disabled
    assert loaded.settings.servers["figma-files"].transport == "http"
    assert "weather-codex/set_weather" in loaded.settings.deny
    assert "streaming/search" in loaded.settings.allow
    assert "git/*" in loaded.settings.allow
    assert loaded.settings.servers["context7"].timeouts.start_seconds == 20
    assert loaded.settings.servers["local"].problem.startswith("$.mcpServers.local.env.API_KEY: the variable API_KEY")
    assert json.loads(text)["mcpServers"]["local"]["env"] == {"API_KEY": "${API_KEY}", "OTHER_KEY": "${OTHER_KEY}"}
    assert {one.name for one in selection.left} == {"postgres-context-server", "developer"}
    shown = "\n".join([*notes, *selection.notes, repr(selection), repr(found)])
    assert "SENTINEL" not in shown
    assert discovering.literal_values(selection) > 0


def test_every_imported_server_would_be_replaced_in_its_host(home: Path) -> None:
    selection = discovering.select(everything(home))
    text, _notes = discovering.configuration("", selection)
    configured = json.loads(text)["mcpServers"]
    for name, host in HOSTS.items():
        file = host.files(machine(home))[0]
        change = choosing.plan_install(host, file, machine(home), ENTRY, configured)
        stays = {"zed": ["postgres-context-server"], "goose": ["developer"]}.get(name, [])
        assert [one for one, _ in change.kept] == stays
        assert change.changes


def test_a_configuration_that_exists_is_added_to_and_keeps_its_comments(home: Path) -> None:
    put(home / "project" / ".mcp.json", SERVERS)
    selection = discovering.select(discovering.discover(machine(home)))
    old = '{\n  // mine\n  "mcpServers": {\n    "git": {"command": "my-git"}, // kept\n  }\n}\n'
    text, notes = discovering.configuration(old, selection)
    assert "// mine" in text
    assert '"git": {"command": "my-git"}, // kept' in text
    assert '"time": {' in text
    assert notes == ["git: the configuration already has a server of this name; it was kept"]
    again, _ = discovering.configuration(text, selection)
    assert again == text


def test_servers_of_one_name_that_differ_are_both_kept(home: Path) -> None:
    put(home / "project" / ".mcp.json", {"mcpServers": {"a b": {"command": "x"}, "c": {"command": "same"}}})
    put(home / ".claude.json", {"mcpServers": {"a b": {"command": "y"}, "c": {"command": "same"}}})
    selection = discovering.select(discovering.discover(machine(home)))
    assert set(selection.servers) == {"a-b", "c", "a-b-claude-code"}
    assert 'a-b: is "a b" in claude-code' in selection.notes


def test_an_entry_of_ours_is_seen_and_never_imported(home: Path) -> None:
    entry = {"command": "uvx", "args": ["slimguard", "serve"]}
    put(home / "project" / ".mcp.json", {"mcpServers": {"guard": entry}})
    (found,) = discovering.discover(machine(home))
    assert found.has_us
    assert discovering.select([found]).servers == {}


def test_a_file_that_cannot_be_read_is_reported_and_the_others_still_count(home: Path) -> None:
    put(home / "project" / ".mcp.json", '{"mcpServers": SENTINEL')
    put(home / ".cursor" / "mcp.json", SERVERS)
    found = discovering.discover(machine(home))
    assert [bool(one.problem) for one in found] == [True, False]
    assert "SENTINEL" not in found[0].problem
    assert re.search(r"line 1, column \d+", found[0].problem)


def test_gemini_says_when_its_own_list_keeps_us_out(home: Path) -> None:
    host = HOSTS["gemini-cli"]
    file = host.files(machine(home))[0]
    put(Path(file.path), {"mcp": {"allowed": ["git"]}})
    change = choosing.plan_install(host, file, machine(home), ENTRY, {})
    assert any("mcp.allowed" in note for note in change.notes)
