"""The configuration: what is found, accepted, refused, and what no error may show."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slimguard import config
from slimguard.config import files
from slimguard.errors import ConfigurationError
from slimguard.settings import BudgetSettings, Timeouts

SENTINELS = ["SENTINEL-env", "SENTINEL-arg", "SENTINEL-header", "SENTINEL-user", "SENTINEL-default"]


def written(folder: Path, content: object, name: str = "slimguard.json") -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def loaded(folder: Path, content: object, **environment: str):
    path = written(folder, content)
    return config.load(str(path), {"HOME": str(folder), **environment}, str(folder))


def refused(folder: Path, content: object, **environment: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        loaded(folder, content, **environment)
    error = caught.value
    return "\n".join([error.message, error.detail, error.next_call])


def server(**entry: object) -> dict[str, object]:
    return {"mcpServers": {"one": {"command": "run", **entry}}}


def test_every_key_reaches_the_settings(tmp_path: Path) -> None:
    settings = loaded(
        tmp_path,
        {
            "mcpServers": {
                "local": {"command": "run", "args": ["-x"], "env": {"A": "1"}, "cwd": "sub", "disabled": True},
                "remote": {"url": "https://h.example/mcp", "headers": {"X-Key": "k"}},
            },
            "slimguard": {
                "mode": "native",
                "host": "codex",
                "budget": {"tokens": 900, "bytes": 4000, "lines": 50, "line_chars": 300},
                "tools": {
                    "allow": ["local/*"],
                    "deny": ["*/delete_*"],
                    "settings": {
                        "local/a": {"view": "exact", "budget": {"tokens": 500}, "timeouts": {"call_seconds": 5}},
                        "remote/*": {"view": {"select": "items[].name"}},
                    },
                },
                "store": {"path": "kept/r.db", "ttl_seconds": 60, "quota_bytes": 1000},
                "timeouts": {"start_seconds": 1.5, "soft_seconds": 2, "call_seconds": 3},
                "calls": {"join_within_ms": 20},
                "servers": {"remote": {"protocol": "2025-11-25", "timeouts": {"start_seconds": 9}}},
            },
        },
    )
    local, remote = settings.servers["local"], settings.servers["remote"]
    assert (local.transport, local.command, local.args, local.env) == ("stdio", "run", ("-x",), {"A": "1"})
    assert local.cwd == str(tmp_path / "sub")
    assert local.disabled
    assert (remote.transport, remote.url, remote.headers) == ("http", "https://h.example/mcp", {"X-Key": "k"})
    assert (remote.protocol, remote.timeouts) == ("2025-11-25", Timeouts(start_seconds=9))
    assert (settings.mode, settings.host) == ("native", "codex")
    assert settings.budget == BudgetSettings(900, 4000, 50, 300)
    assert (settings.allow, settings.deny) == (("local/*",), ("*/delete_*",))
    assert settings.tools["local/a"].view == "exact"
    assert settings.tools["local/a"].budget.tokens == 500
    assert settings.tools["remote/*"].select == "items[].name"
    assert settings.store.path == str(tmp_path / "kept" / "r.db")
    assert (settings.store.ttl_seconds, settings.store.quota_bytes) == (60, 1000)
    assert settings.timeouts == Timeouts(1.5, 2, 3)
    assert settings.join_within_ms == 20
    assert settings.source == str(tmp_path / "slimguard.json")


def test_an_empty_object_is_a_configuration_with_defaults(tmp_path: Path) -> None:
    settings = loaded(tmp_path, {})
    assert settings.servers == {}
    assert (settings.mode, settings.allow, settings.deny) == ("compact", ("*",), ())


@pytest.mark.parametrize(
    ("entry", "transport"),
    [
        ({"command": "x"}, "stdio"),
        ({"type": "stdio", "command": "x"}, "stdio"),
        ({"url": "http://h/mcp"}, "http"),
        ({"url": "http://h/sse"}, "sse"),
        ({"type": "http", "url": "http://h/sse"}, "http"),
        ({"type": "sse", "url": "http://h/x"}, "sse"),
        ({"type": "streamable-http", "url": "http://h/x"}, "http"),
        ({"type": "streamableHttp", "url": "http://h/x"}, "http"),
    ],
)
def test_the_transport_follows_from_type_command_or_address(tmp_path: Path, entry: object, transport: str) -> None:
    assert loaded(tmp_path, {"mcpServers": {"s": entry}}).servers["s"].transport == transport


def test_comments_trailing_commas_a_byte_order_mark_and_crlf_are_read(tmp_path: Path) -> None:
    text = '\ufeff// a note\r\n{ /* b */ "mcpServers": {"s": {"command": "x", "args": ["//no", ],},\r\n}, }\r\n'
    assert loaded(tmp_path, text).servers["s"].args == ("//no",)


def test_files_are_searched_in_the_documented_order(tmp_path: Path) -> None:
    for name in ("flag", "variable", "here", "home"):
        (tmp_path / name).mkdir()
        written(tmp_path / name, {"mcpServers": {name: {"command": "x"}}})
    (tmp_path / "home" / ".config" / "slimguard").mkdir(parents=True)
    written(tmp_path / "home" / ".config" / "slimguard", {"mcpServers": {"home": {"command": "x"}}})
    environment = {"HOME": str(tmp_path / "home"), "SLIMGUARD_CONFIG": str(tmp_path / "variable" / "slimguard.json")}
    here, empty = str(tmp_path / "here"), str(tmp_path)

    def chosen(path: str | None, cwd: str) -> list[str]:
        return list(config.load(path, environment, cwd).servers)

    assert chosen("../flag/slimguard.json", here) == ["flag"]
    assert chosen(None, here) == ["variable"]
    del environment["SLIMGUARD_CONFIG"]
    assert chosen(None, here) == ["here"]
    assert chosen(None, empty) == ["home"]


def test_a_file_that_was_asked_for_must_exist_and_nothing_else_is_taken(tmp_path: Path) -> None:
    written(tmp_path, {})
    with pytest.raises(ConfigurationError, match=r"other\.json: no such file"):
        config.load("other.json", {"HOME": str(tmp_path)}, str(tmp_path))
    with pytest.raises(ConfigurationError, match=r"SLIMGUARD_CONFIG"):
        config.load(None, {"HOME": str(tmp_path), "SLIMGUARD_CONFIG": "other.json"}, str(tmp_path))


def test_no_file_at_all_says_where_it_looked_and_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        config.load(None, {"HOME": str(tmp_path)}, str(tmp_path))
    assert str(tmp_path / "slimguard.json") in caught.value.message
    assert "slimguard init" in caught.value.next_call


@pytest.mark.parametrize(
    ("platform", "environment", "config_dir", "data_dir"),
    [
        ("linux", {"HOME": "/h"}, "/h/.config/slimguard", "/h/.local/share/slimguard"),
        ("linux", {"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "/d"}, "/c/slimguard", "/d/slimguard"),
        ("linux", {"HOME": "/h", "XDG_DATA_HOME": "relative"}, "/h/.config/slimguard", "/h/.local/share/slimguard"),
        (
            "darwin",
            {"HOME": "/h"},
            "/h/Library/Application Support/slimguard",
            "/h/Library/Application Support/slimguard",
        ),
        (
            "win32",
            {"USERPROFILE": "C:\\U", "APPDATA": "C:\\U\\R", "LOCALAPPDATA": "C:\\U\\L"},
            "C:\\U\\R\\slimguard",
            "C:\\U\\L\\slimguard",
        ),
        ("win32", {"USERPROFILE": "C:\\U"}, "C:\\U\\AppData\\Roaming\\slimguard", "C:\\U\\AppData\\Local\\slimguard"),
    ],
)
def test_directories_follow_each_platform(
    platform: str, environment: dict[str, str], config_dir: str, data_dir: str
) -> None:
    assert str(files.user_config_dir(environment, platform)) == config_dir
    assert str(files.user_data_dir(environment, platform)) == data_dir


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"slimguard": {"budget": {"tokns": 5}}}, ["$.slimguard.budget.tokns", 'did you mean "tokens"?']),
        ({"slimguard": {"stor": {}}}, ["$.slimguard.stor", '"store"']),
        ({"slimguard": {"tokens": 5}}, ["slimguard.budget.tokens"]),
        ({"slimguard": {"zzz": 5}}, ["nearest known one", "mode, host, budget"]),
        ({"mcpserver": {}}, ['"mcpServers"']),
        ({"servers": {}}, ['"mcpServers"']),
        (server(arg=[]), ["$.mcpServers.one.arg", '"args"']),
        (server(httpUrl="https://x"), ["write url"]),
        (server(excludeTools=["x"]), ["slimguard.tools.deny"]),
        (server(enabled=False), ["disabled"]),
        ({"slimguard": {"mode": "compct"}}, ["one of compact, extreme, native", '"compact"']),
        ({"slimguard": {"host": "claude"}}, ["auto", "claude-code"]),
        ({"slimguard": {"budget": {"tokens": "many"}}}, ["must be a whole number, not a string"]),
        ({"slimguard": {"budget": {"tokens": 1}}}, ["at least 100"]),
        ({"slimguard": {"budget": {"tokens": True}}}, ["not true or false"]),
        ({"slimguard": {"timeouts": {"call_seconds": 0}}}, ["above 0"]),
        ({"slimguard": {"store": []}}, ["must be an object, not a list"]),
        ({"slimguard": {"store": {"path": " "}}}, ["must not be empty"]),
        ({"slimguard": {"tools": {"deny": ["delete_repo"]}}}, ['"*/delete_repo"']),
        ({"slimguard": {"tools": {"settings": {"delete_repo": {}}}}}, ['"*/delete_repo"']),
        ({"slimguard": {"tools": {"settings": {"a/b": {"view": "all"}}}}}, ['"auto", "exact"']),
        ({"slimguard": {"tools": {"settings": {"a/b": {"view": {"select": "a["}}}}}}, ["JMESPath"]),
        ({"slimguard": {"servers": {"twoo": {}}}, "mcpServers": {"two": {"command": "x"}}}, ['did you mean "two"?']),
        ({"mcpServers": {"my server": {"command": "x"}}}, ["my-server"]),
        ({"mcpServers": {"one": {}}}, ['needs "command"']),
        ({"mcpServers": {"one": {"type": "http"}}}, ['needs "url"']),
        ({"mcpServers": {"one": {"command": "x", "url": "http://h"}}}, ["keep one"]),
        (server(command=""), ["must not be empty"]),
        (server(args="x"), ["must be a list of strings"]),
        (server(env={"PORT": 1}), ['"PORT" must be a string']),
        (server(headers={"a": "b"}), ["no meaning for a local server"]),
        ({"mcpServers": {"one": {"url": "ftp://h"}}}, ["http://"]),
        ({"mcpServers": {"one": {"url": "http://h", "headers": {"a b": "x"}}}}, ["name that HTTP does not allow"]),
        ("[]", ["must be an object"]),
    ],
)
def test_a_wrong_file_is_refused_with_the_place_and_what_would_be_right(
    tmp_path: Path, content: object, words: list[str]
) -> None:
    text = refused(tmp_path, content)
    assert str(tmp_path / "slimguard.json") in text
    for word in words:
        assert word in text


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{\n  "mcpServers": {\n    "a": {"command": "x"}\n    "b": {}\n  }\n}', ":4:5:"),
        ('{"a": tru}', ":1:7:"),
        ('{"a": "never closed}', ":1:7:"),
        ("", ":1:1:"),
        ("{} x", ":1:4:"),
        ('{"a": /* x', ":1:7:"),
        ("[" * 500, "nested deeper"),
        ('{"a": ' + "9" * 5000 + "}", "number is too long"),
    ],
)
def test_a_syntax_error_has_line_and_column(tmp_path: Path, text: str, place: str) -> None:
    assert place in refused(tmp_path, text)


def test_all_problems_are_listed_at_once_in_their_order(tmp_path: Path) -> None:
    text = refused(tmp_path, '{\n"mcpServers": {"a": {"comand": "x"}},\n"slimguard": {"mod": 1, "budgett": {}}}')
    assert text.index("comand") < text.index('"mod"') < text.index("budgett")


def test_a_server_or_key_written_twice_is_an_error(tmp_path: Path) -> None:
    text = refused(
        tmp_path, '{"mcpServers": {"a": {"command": "x"},\n"a": {"command": "y", "env": {"K": "1", "K": "2"}}}}'
    )
    assert ":2:1: $.mcpServers.a: appears twice" in text
    assert "$.mcpServers.a.env.K: appears twice" in text


def test_variables_and_defaults_expand_everywhere_they_may(tmp_path: Path) -> None:
    settings = loaded(
        tmp_path,
        {
            "mcpServers": {
                "l": {
                    "command": "${BIN}/x",
                    "args": ["${A:-one}", "$${A}", "$A"],
                    "env": {"T": "${TOKEN}"},
                    "cwd": "${D}",
                },
                "r": {"url": "http://${HOST}/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
            },
            "slimguard": {"store": {"path": "${D}/r.db"}},
        },
        BIN="/bin",
        TOKEN="t",
        D="/d",
        HOST="h",
        A="",
    )
    local, remote = settings.servers["l"], settings.servers["r"]
    assert (local.command, local.args, local.env, local.cwd) == ("/bin/x", ("one", "${A}", "$A"), {"T": "t"}, "/d")
    assert (remote.url, remote.headers) == ("http://h/mcp", {"Authorization": "Bearer t"})
    assert settings.store.path == "/d/r.db"


@pytest.mark.parametrize(
    ("entry", "place", "words"),
    [
        ({"command": "${NOPE}"}, "$.mcpServers.bad.command", "NOPE is not set"),
        ({"command": "x", "args": ["a", "${NOPE}"]}, "$.mcpServers.bad.args[1]", "NOPE is not set"),
        ({"command": "x", "env": {"K": "${NOPE}"}}, "$.mcpServers.bad.env.K", "NOPE is not set"),
        ({"command": "x", "cwd": "${NOPE}"}, "$.mcpServers.bad.cwd", "NOPE is not set"),
        ({"url": "https://${NOPE}"}, "$.mcpServers.bad.url", "NOPE is not set"),
        ({"url": "https://h", "headers": {"A": "${NOPE}"}}, "$.mcpServers.bad.headers.A", "NOPE is not set"),
        ({"command": "x", "args": ["${env:NOPE}"]}, "$.mcpServers.bad.args[0]", "write ${NOPE}"),
        ({"command": "x", "args": ["${input:api-key}"]}, "$.mcpServers.bad.args[0]", "write ${api_key}"),
        ({"command": "x", "args": ["${x"]}, "$.mcpServers.bad.args[0]", "never closed"),
        ({"command": "x", "args": ["${A:-${B}}"]}, "$.mcpServers.bad.args[0]", "plain text"),
        ({"url": "${EMPTY}"}, "$.mcpServers.bad.url", "http://"),
        ({"url": "http://h", "headers": {"A": "${BROKEN}"}}, "$.mcpServers.bad.headers.A", "line break"),
        ({"command": "${EMPTY}"}, "$.mcpServers.bad.command", "empty"),
    ],
)
def test_a_bad_variable_makes_only_its_server_unavailable(
    tmp_path: Path, entry: object, place: str, words: str
) -> None:
    settings = loaded(
        tmp_path, {"mcpServers": {"good": {"command": "x"}, "bad": entry}}, EMPTY="", BROKEN="secret\nvalue"
    )
    problem = settings.servers["bad"].problem
    assert place in problem
    assert words in problem
    assert "secret" not in problem
    assert settings.servers["good"].problem == ""
    bad = settings.servers["bad"]
    assert "${" not in "".join([bad.command, *bad.args, *bad.env.values(), bad.url, *bad.headers.values()])


def test_a_placeholder_that_the_host_passed_on_counts_as_not_set(tmp_path: Path) -> None:
    for value in ("${T}", "${env:T}", "{env:T}", "$T"):
        settings = loaded(tmp_path, server(env={"A": "${T}", "B": "${T:-x}"}), T=value)
        assert "T is not set" in settings.servers["one"].problem


def test_the_variables_that_a_configuration_needs_are_listed_by_name(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        {
            "mcpServers": {
                "a": {"command": "x", "env": {"K": "${T}"}, "args": ["${U:-1}${T}", "$${NOT}"]},
                "b": {"command": "x", "env": {"K": "${OFF}"}, "disabled": True},
            },
            "slimguard": {"store": {"path": "${D}/x"}},
        },
    )
    assert config.variables(str(path), {"HOME": "/h"}, "/") == ("T", "U", "D")


def test_an_unset_variable_of_the_store_is_an_error(tmp_path: Path) -> None:
    assert "NOPE is not set" in refused(tmp_path, {"slimguard": {"store": {"path": "${NOPE}/r.db"}}})


def test_no_error_shows_a_secret(tmp_path: Path) -> None:
    entries: list[object] = [
        {"command": "x", "args": ["SENTINEL-arg", 5], "env": {"K": "SENTINEL-env"}},
        {"command": "x", "env": {"K": ["SENTINEL-env"]}},
        {"url": "https://user:SENTINEL-user@", "headers": {"A": "SENTINEL-header"}},
        {"url": "SENTINEL-user://h"},
        {"url": "https://SENTINEL-user@[h"},
        {"url": "https://SENTINEL-user@h:port/"},
        {"url": "https://h", "headers": {"A": {"x": "SENTINEL-header"}}},
        {"command": "x", "env": {"K": "SENTINEL-env\0"}},
        {"type": "SENTINEL-arg", "command": "x"},
    ]
    for entry in entries:
        assert "SENTINEL" not in refused(tmp_path, {"mcpServers": {"s": entry}})
    for text in ('{"mcpServers": {"s": {"env": {"K": "SENTINEL-env}}}}', '{"K": SENTINEL-env}'):
        assert "SENTINEL" not in refused(tmp_path, text)


def test_problems_and_reprs_of_a_server_show_no_secret(tmp_path: Path) -> None:
    settings = loaded(
        tmp_path,
        {
            "mcpServers": {
                "a": {"command": "x", "env": {"K": "SENTINEL-env", "L": "${N:-SENTINEL-default${"}},
                "b": {"url": "https://user:SENTINEL-user@h/${NOPE}", "headers": {"A": "SENTINEL-header"}},
                "c": {"url": "https://u:${P}@h", "headers": {"A": "SENTINEL-header\u00e9"}},
            }
        },
        P="SENTINEL-user",
    )
    assert all(entry.problem for entry in settings.servers.values())
    assert "SENTINEL" not in repr(settings)


def test_a_server_without_a_file_is_taken_from_the_command_line_as_it_is() -> None:
    settings = config.for_command("tool", ["run", "${X}", "-y"], {"HOME": "/h", "TOKEN": "t"})
    one = settings.servers["tool"]
    assert one.env == {"HOME": "/h", "TOKEN": "t"}
    with pytest.raises(ConfigurationError, match="letters, digits"):
        config.for_command("my tool", ["run"], {"HOME": "/h"})
    assert (one.command, one.args, one.transport) == ("run", ("${X}", "-y"), "stdio")
    assert settings.source == ""
    assert settings.store.path.endswith("results.db")
    assert settings.scope != config.for_command("tool", ["run"], {"HOME": "/h"}).scope
    with pytest.raises(ConfigurationError):
        config.for_command("tool", [], {"HOME": "/h"})


def test_the_scope_is_the_file_and_the_fingerprint_is_the_entry_as_written(tmp_path: Path) -> None:
    first = loaded(tmp_path, server(env={"K": "${V}"}), V="1")
    again = loaded(tmp_path, {**server(env={"K": "${V}"}), "slimguard": {"mode": "native"}}, V="2")
    changed = loaded(tmp_path, server(env={"K": "${W}"}), W="1")
    assert first.scope == again.scope == config.scope_of(str(tmp_path / "slimguard.json"))
    assert first.servers["one"].fingerprint == again.servers["one"].fingerprint
    assert first.servers["one"].fingerprint != changed.servers["one"].fingerprint


def test_keys_of_hosts_are_taken_with_a_note(tmp_path: Path) -> None:
    path = written(tmp_path, {**server(timeout=5, _why="x"), "slimguard": {"tools": {"deny": ["gone/*"]}}})
    result = config.load_with_notes(str(path), {"HOME": str(tmp_path)}, str(tmp_path))
    assert len(result.notes) == 2
    assert "$.mcpServers.one.timeout is not used" in result.notes[0]
    assert "$.slimguard.tools.deny[0] matches no configured server" in result.notes[1]


def test_an_unreadable_file_a_directory_and_other_bytes_are_errors_not_traces(tmp_path: Path) -> None:
    (tmp_path / "dir.json").mkdir()
    (tmp_path / "latin.json").write_bytes(b'{"a": "\xe9"}')
    for name, words in (("dir.json", "cannot be read"), ("latin.json", "not UTF-8")):
        with pytest.raises(ConfigurationError, match=words):
            config.load(name, {"HOME": str(tmp_path)}, str(tmp_path))
