"""Every host's file: what we make of the vendor's documented form, read by a parser of the format, and undone."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest
import yaml

from slimguard.install import applying, journal
from slimguard.install.hosts import HOSTS
from slimguard.install.masking import difference, masked
from slimguard.install.model import Entry, Host, HostFile, HostFileRefused, Machine
from slimguard.install.planning import plan, servers

FIXTURES = Path(__file__).parents[2] / "fixtures" / "hosts"
GOLDEN = sorted(path for path in FIXTURES.glob("*/*") if path.suffix != ".after")
MACHINE = Machine("linux", {"HOME": "/home/user"}, PurePosixPath("/home/user/project"))
ENTRY = Entry("/opt/slimguard/bin/slimguard", ("serve", "--config", "/home/user/project/slimguard.json"), ("TOKEN",))


def case(path: Path) -> tuple[Host, HostFile, str]:
    host = HOSTS[path.parent.name]
    files = host.files(MACHINE)
    scope = "user" if path.stem == "user" else files[0].scope
    file = next(file for file in files if file.scope == scope)
    return host, file, path.read_bytes().decode("utf-8")


def installed(path: Path) -> str:
    host, file, text = case(path)
    found = servers(host, file, text, MACHINE)
    return plan(host, file, text, ENTRY, remove=[one.name for one in found if not one.unsupported])


def parsed(text: str, file: HostFile) -> object:
    """Read by another parser than the one that made the edit."""
    text = text.removeprefix("\ufeff")
    if file.format == "toml":
        return tomllib.loads(text)
    if file.format == "yaml":
        return yaml.safe_load(text)
    pieces = re.findall(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|[^"/]+|/', text, re.DOTALL)
    bare = "".join(piece for piece in pieces if not piece.startswith(("//", "/*")))
    return json.loads(re.sub(r",(\s*[}\]])", r"\1", bare))


def entry_in(value: object, file: HostFile) -> dict[str, object]:
    places = [file.where, (*file.where, "servers")]
    for place in places:
        found = value
        for key in place:
            found = found.get(key) if isinstance(found, dict) else None
        if isinstance(found, list):
            found = {item["name"]: item for item in found}
        if isinstance(found, dict) and "slimguard" in found:
            return found["slimguard"]
    raise AssertionError("no entry of ours")


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_plan_is_the_golden_file(path: Path) -> None:
    after = installed(path).encode()
    golden = path.with_name(path.name + ".after")
    if os.environ.get("SLIMGUARD_WRITE_GOLDEN"):
        golden.write_bytes(after)
    assert after == golden.read_bytes()


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_parser_of_the_format_finds_our_entry_and_the_rest_unchanged(path: Path) -> None:
    host, file, text = case(path)
    after = plan(host, file, text, ENTRY)
    entry = entry_in(parsed(after, file), file)
    words = [entry.get("command", entry.get("cmd"))]
    flat = words[0] if isinstance(words[0], list) else [words[0], *entry["args"]]
    assert flat == [ENTRY.command, *ENTRY.args]
    if text.strip("\ufeff \r\n") and path.stem != "only-comments":
        before, now = parsed(text, file) or {}, parsed(after, file)
        for key, value in before.items():
            if key != file.where[0]:
                assert now[key] == value
        names = [one.name for one in servers(host, file, text, MACHINE)]
        assert [one.name for one in servers(host, file, after, MACHINE) if one.name != "slimguard"] == names


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_line_outside_our_entry_and_the_removed_servers_is_kept(path: Path) -> None:
    host, file, text = case(path)
    after = plan(host, file, text, ENTRY)
    kept, at = after.splitlines(keepends=True), 0
    for line in text.splitlines(keepends=True):
        plain = line.rstrip("\r\n").rstrip(",}{ []")
        while at < len(kept) and not kept[at].startswith(plain):
            at += 1
        assert at < len(kept), f"lost: {plain}"
    if "\r\n" in text:
        assert after.count("\n") == after.count("\r\n")
    assert after.startswith("\ufeff") == text.startswith("\ufeff")


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_installing_again_changes_nothing_and_an_update_replaces_only_our_entry(path: Path) -> None:
    host, file, _ = case(path)
    after = installed(path)
    assert plan(host, file, after, ENTRY) == after
    moved = plan(host, file, after, Entry("/new/slimguard", ENTRY.args, ENTRY.variables))
    assert moved.count("/new/slimguard") == 1
    assert plan(host, file, moved, ENTRY) == after


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_install_then_rollback_restores_the_exact_bytes_and_mode(path: Path, tmp_path: Path) -> None:
    host, file, _text = case(path)
    target = tmp_path / "there" / path.name
    target.parent.mkdir()
    target.write_bytes(path.read_bytes())
    target.chmod(0o640)
    before = applying.read_file(target)
    new = installed(path)
    record = applying.install(tmp_path / "journal", host, file, before, new, removed=(), identity="one", now=1.0)
    assert target.read_bytes() == new.encode()
    assert target.stat().st_mode & 0o777 == 0o640
    undone = applying.rollback(tmp_path / "journal", record, lambda _old, _now: HostFileRefused("edited"))
    assert target.read_bytes() == path.read_bytes()
    assert target.stat().st_mode & 0o777 == 0o640
    assert undone.state == "rolled back"
    assert [one.state for one in journal.records(tmp_path / "journal")] == ["rolled back"]
    assert sorted(one.name for one in target.parent.iterdir()) == [path.name]


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_difference_and_no_masked_file_shows_a_value(path: Path) -> None:
    _host, file, text = case(path)
    lines = difference(text, installed(path), file.format, "file")
    shown = "\n".join([*lines, masked(text, file.format)])
    assert "SENTINEL" not in shown
    assert "slimguard" in shown
    assert len(masked(text, file.format).splitlines()) == len(text.splitlines())


@pytest.mark.parametrize("host", HOSTS.values(), ids=lambda host: host.name)
def test_a_missing_file_becomes_one_that_holds_only_our_entry(host: Host) -> None:
    for file in host.files(MACHINE):
        after = plan(host, file, "", ENTRY)
        assert entry_in(parsed(after, file), file)
        assert after.endswith("\n")
        assert [one.ours for one in servers(host, file, after, MACHINE)] == [True]


def imported(name: str) -> dict[str, object]:
    path = FIXTURES / name
    host, file, text = case(path)
    return {one.name: one for one in servers(host, file, text, MACHINE)}


def test_claude_codes_variables_are_ours() -> None:
    found = imported("claude-code/project.json")
    assert found["git"].entry["args"][-1] == "${REPO:-.}"
    assert found["tracker"].entry["type"] == "http"
    assert found["tracker"].entry["headers"]["Authorization"] == "Bearer ${TRACKER_TOKEN}"


def test_a_host_that_replaces_nothing_keeps_its_literals() -> None:
    assert imported("claude-desktop/typical.json")["weather"].entry["args"][-1] == "$${NOT_REPLACED_HERE}"


def test_codex_passes_variables_by_name_and_headers_from_them() -> None:
    found = imported("codex/typical.toml")
    assert found["context7"].entry["env"] == {"LOCAL_TOKEN": "${LOCAL_TOKEN}", "REMOTE_TOKEN": "${REMOTE_TOKEN}"}
    assert found["context7"].start_seconds == 20
    assert found["weather"].entry["disabled"] is True
    assert found["weather"].deny == ("set_weather",)
    assert found["figma files"].entry["headers"] == {
        "X-Figma-Region": "SENTINEL-header",
        "X-Team": "${FIGMA_TEAM}",
        "Authorization": "Bearer ${FIGMA_TOKEN}",
    }
    assert imported("codex/dotted.toml")["inline"].entry == {"command": "uvx", "args": ["mcp-server-time"]}


def test_editors_variables_become_ours_with_a_note_for_what_must_be_set() -> None:
    cursor = imported("cursor/typical.json")
    assert cursor["local"].entry["args"] == ["/home/user/project/tools/mcp_server.py", "--home", "/home/user"]
    assert cursor["local"].entry["env"] == {"API_KEY": "${API_KEY}"}
    assert cursor["local"].env_file == ".env"
    vscode = imported("vscode/commented.json")
    assert vscode["Perplexity"].entry["env"] == {"PERPLEXITY_API_KEY": "${PERPLEXITY_KEY}"}
    assert any("PERPLEXITY_KEY" in note for note in vscode["Perplexity"].notes)
    windsurf = imported("windsurf/typical.json")
    assert windsurf["github"].entry["env"] == {"GITHUB_PERSONAL_ACCESS_TOKEN": "${GITHUB_TOKEN}"}
    assert windsurf["github"].deny == ("delete_repository",)
    assert windsurf["remote"].entry["headers"] == {"API_KEY": "Bearer ${API_KEY}"}
    assert windsurf["remote"].entry["disabled"] is True


def test_gemini_tells_its_two_kinds_of_address_apart() -> None:
    found = imported("gemini-cli/typical.json")
    assert found["streaming"].entry["type"] == "http"
    assert found["events"].entry["type"] == "sse"
    assert found["streaming"].allow == ("search", "get")
    assert found["pythonTools"].deny == ("drop_table",)
    assert found["pythonTools"].entry["env"] == {
        "DATABASE_URL": "${DB_CONNECTION_STRING}",
        "API_KEY": "${EXTERNAL_API_KEY}",
    }


def test_both_layouts_of_opencode_are_read_and_written() -> None:
    v1, v2 = imported("opencode/v1.jsonc"), imported("opencode/v2.jsonc")
    assert v1["everything"].entry["command"] == "npx"
    assert v1["everything"].entry["args"] == ["-y", "@modelcontextprotocol/server-everything"]
    assert v1["context7"].entry["headers"] == {"CONTEXT7_API_KEY": "${CONTEXT7_API_KEY}", "Other": "${OTHER}"}
    assert v1["context7"].entry["disabled"] is True
    assert v2["my-server"].entry["disabled"] is True
    assert "timeout" in (FIXTURES / "opencode" / "v1.jsonc.after").read_text()
    assert "timeout" not in (FIXTURES / "opencode" / "v2.jsonc.after").read_text()


def test_what_a_host_runs_itself_stays_with_it() -> None:
    assert imported("zed/settings.json")["postgres-context-server"].unsupported
    assert imported("zed/settings.json")["older"].entry["command"] == "/path/to/server"
    goose = imported("goose/config.yaml")
    assert goose["developer"].unsupported
    assert goose["filesystem"].entry["env"] == {"FILES_KEY": "${FILES_KEY}", "LEVEL": "SENTINEL-env"}
    assert goose["remote-tools"].allow == ("search",)
    assert imported("continue/config.yaml")["SQLite MCP"].entry["env"] == {"SQLITE_KEY": "${SQLITE_KEY}"}


@pytest.mark.parametrize(
    ("host", "text"),
    [
        ("claude-code", '{"mcpServers": {'),
        ("claude-code", "[]"),
        ("claude-code", '{"mcpServers": []}'),
        ("claude-code", '{"mcpServers": {}, "mcpServers": {}}'),
        ("claude-code", '{"mcpServers": {"slimguard": {}, "slimguard": {}}}'),
        ("codex", "[mcp_servers\n"),
        ("codex", 'mcp_servers = "none"'),
        ("codex", "mcp_servers = { a = { command = 'x' } }"),
        ("goose", "a: [1\n"),
        ("goose", "- a\n"),
        ("goose", "a: 1\n---\nb: 2\n"),
        ("goose", "extensions: {a: {type: builtin}}\n"),
        ("goose", "extensions: text\n"),
        ("goose", "a: !!python/object:os.system {}\n"),
        ("continue", "mcpServers: {}\nmcpServers: []\n"),
    ],
)
def test_a_broken_or_unusual_file_is_refused_without_quoting_it(host: str, text: str) -> None:
    file = next(file for file in HOSTS[host].files(MACHINE) if file.scope == "user")
    with pytest.raises(HostFileRefused) as caught:
        plan(HOSTS[host], file, text.replace("none", "SENTINEL"), ENTRY)
    assert "SENTINEL" not in str(caught.value)


@pytest.mark.parametrize(
    ("host", "platform", "environment", "cwd", "expected"),
    [
        ("claude-desktop", "linux", {"HOME": "/h"}, "/p", "/h/.config/Claude/claude_desktop_config.json"),
        (
            "claude-desktop",
            "darwin",
            {"HOME": "/h"},
            "/p",
            "/h/Library/Application Support/Claude/claude_desktop_config.json",
        ),
        (
            "claude-desktop",
            "win32",
            {"USERPROFILE": "C:\\U", "APPDATA": "C:\\U\\R"},
            "C:\\P",
            "C:\\U\\R\\Claude\\claude_desktop_config.json",
        ),
        ("claude-code", "win32", {"USERPROFILE": "C:\\U"}, "C:\\P", "C:\\U\\.claude.json"),
        ("codex", "linux", {"HOME": "/h", "CODEX_HOME": "/c"}, "/p", "/c/config.toml"),
        ("vscode", "darwin", {"HOME": "/h"}, "/p", "/h/Library/Application Support/Code/User/mcp.json"),
        ("vscode", "linux", {"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, "/p", "/x/Code/User/mcp.json"),
        ("windsurf", "win32", {"USERPROFILE": "C:\\U"}, "C:\\P", "C:\\U\\.codeium\\windsurf\\mcp_config.json"),
        ("zed", "darwin", {"HOME": "/h"}, "/p", "/h/.config/zed/settings.json"),
        ("zed", "win32", {"USERPROFILE": "C:\\U", "APPDATA": "C:\\R"}, "C:\\P", "C:\\R\\Zed\\settings.json"),
        (
            "goose",
            "win32",
            {"USERPROFILE": "C:\\U", "APPDATA": "C:\\R"},
            "C:\\P",
            "C:\\R\\Block\\goose\\config\\config.yaml",
        ),
        ("opencode", "linux", {"HOME": "/h"}, "/p", "/h/.config/opencode/opencode.json"),
        ("cline", "linux", {"HOME": "/h"}, "/p", "/h/.cline/data/settings/cline_mcp_settings.json"),
    ],
)
def test_files_lie_where_the_vendors_say(
    host: str, platform: str, environment: dict[str, str], cwd: str, expected: str
) -> None:
    path = PureWindowsPath(cwd) if platform == "win32" else PurePosixPath(cwd)
    files = HOSTS[host].files(Machine(platform, environment, path))
    assert expected in [str(file.path) for file in files]


@pytest.mark.parametrize("host", HOSTS.values(), ids=lambda host: host.name)
def test_the_page_of_a_host_shows_what_is_written_and_its_files(host: Host) -> None:
    page = (FIXTURES.parents[1] / "docs" / "how-to" / "hosts" / f"{host.name}.md").read_text(encoding="utf-8")
    entry = Entry("/path/to/slimguard", ("serve", "--config", "/path/to/slimguard.json"), ("GITHUB_TOKEN",))
    file = host.files(MACHINE)[0]
    assert plan(host, file, "", entry).rstrip() in page
    assert host.restart in page
    for one in host.files(MACHINE):
        assert one.path.name.removesuffix("c") in page
        assert f"`{one.scope}`" in page
