"""`slimguard doctor`: one line for each thing that must work, with what to do where it does not."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from slimguard.cli.connecting import add_seconds
from slimguard.cli.helping import command
from slimguard.cli.output import add_config, add_json, colour, counted, say, say_json

if TYPE_CHECKING:
    from slimguard.settings import ServerConfig, Settings

State = Literal["ok", "warning", "problem"]

_MODES = (0o700, 0o600)

DESCRIPTION = """\
Check versions, configuration, each server (it is started, and asked for its tools), store, tokenizer and the
hosts' entries. One line each, and below it what to do where something is wrong. No tool is run and no file is
changed. Exit code 1 when there is a problem."""
EXAMPLES = (
    ("slimguard doctor", ""),
    ("slimguard doctor --no-connect", "start no server"),
    ("slimguard doctor --json", "for a bug report"),
)
THEN = "next: slimguard analyze shows the tools and what they cost; slimguard find WORDS what find_tool answers"


@dataclass(frozen=True, slots=True)
class Check:
    """One line: what was looked at, how it is, what was found, and what to do."""

    about: str
    state: State
    found: str
    todo: str = ""


def add(commands: Any) -> None:
    """Register the command."""
    summary = "say what works and what does not, and what to do"
    parser = command(commands, "doctor", summary, DESCRIPTION, examples=EXAMPLES, then=THEN)
    parser.add_argument("--no-connect", action="store_true", help="do not start or reach the servers")
    add_seconds(parser)
    add_config(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print every check; exit code 1 when there is a problem."""
    checks: list[Check] = []
    for check in _all(options):
        checks.append(check)
        if not options.json:
            tint = {"ok": "green", "warning": "yellow", "problem": "red"}[check.state]
            say(f"{colour(check.state.ljust(8), tint)} {check.about}: {check.found}")
            if check.todo:
                say(f"{' ' * 9}{check.todo}")
    bad = any(check.state == "problem" for check in checks)
    if options.json:
        say_json({"ok": not bad, "checks": [asdict(check) for check in checks]})
    return 1 if bad else 0


def _all(options: argparse.Namespace) -> Iterator[Check]:
    yield _versions()
    settings, checks = _configuration(options)
    yield from checks
    if settings is not None:
        yield from _servers(settings, options)
        yield from _guarded(lambda: _store(settings), "store")
    yield from _guarded(lambda: [_tokenizer()], "tokenizer")
    yield from _guarded(lambda: [_meaning()], "meaning")
    yield from _guarded(_hosts, "hosts")


def _versions() -> Check:
    from slimguard.cli import versions

    return Check("versions", "ok", ", ".join(versions.lines()[:-1]))


def _configuration(options: argparse.Namespace) -> tuple[Settings | None, list[Check]]:
    from slimguard import config
    from slimguard.errors import ConfigurationError

    try:
        loaded = config.load_with_notes(options.config, os.environ, str(Path.cwd()))
    except ConfigurationError as error:
        lines = [error.message, *error.detail.splitlines()]
        return None, [Check("configuration", "problem", line, error.next_call) for line in lines]
    count = len(loaded.settings.servers)
    checks = [Check("configuration", "ok", f"{loaded.found.path} ({loaded.found.reason}), {counted(count, 'server')}")]
    checks += [Check("configuration", "warning", note) for note in loaded.notes]
    if _holds_literals(loaded.written) and loaded.found.path.stat().st_mode & 0o077:
        words = "others may read the file, and env or headers hold literal values"
        checks.append(Check("configuration", "warning", words, f"chmod 600 {loaded.found.path}"))
    if not count:
        checks.append(Check("configuration", "problem", "no server in mcpServers", "add one: slimguard init"))
    return loaded.settings, checks


def _holds_literals(written: Any) -> bool:
    """Whether a value of env or headers is written out instead of naming a variable."""
    entries = (entry for entry in written.get("mcpServers", {}).values())
    values = (value for entry in entries for key in ("env", "headers") for value in entry.get(key, {}).values())
    return any("${" not in value for value in values)


def _servers(settings: Settings, options: argparse.Namespace) -> Iterator[Check]:
    from slimguard.cli.connecting import missing_command, survey

    usable: dict[str, ServerConfig] = {}
    for name, server in settings.servers.items():
        missing = missing_command(server, os.environ)
        if server.disabled:
            yield Check(f"server {name}", "ok", "disabled")
        elif server.problem:
            yield Check(f"server {name}", "problem", server.problem, "set it in the environment of the host")
        elif missing:
            yield Check(f"server {name}", "problem", missing, "install it, or give its absolute path as command")
        else:
            usable[name] = server
    if options.no_connect or not usable:
        return
    found = survey(usable, max(0.1, float(options.seconds)))
    for status in found.statuses:
        about = f"server {status.name}"
        if status.state != "ready":
            reason = status.reason or f"not ready after {options.seconds:g} s"
            yield Check(about, "problem", f"{status.state}: {reason}", "run its command by hand to see what it says")
            continue
        said = f"{status.title} {status.version}".strip()
        yield Check(about, "ok", f"{status.tools} tools, protocol {status.protocol}{', ' + said if said else ''}")
        for line in status.skipped:
            yield Check(about, "warning", line, "only this tool is left out; tell the server's author")
        if status.name in found.beyond:
            yield Check(
                about, "warning", f"its {' and '.join(found.beyond[status.name])} do not pass through slimguard yet"
            )


def _store(settings: Settings) -> Iterator[Check]:
    import anyio

    from slimguard.clock import SystemClock
    from slimguard.store import Store

    if not Path(settings.store.path).exists():
        yield Check("store", "ok", f"{settings.store.path} does not exist yet; the first call makes it")
        return

    async def statistics() -> Any:
        store = Store(settings.store, SystemClock())
        try:
            return await store.statistics()
        finally:
            await store.close()

    found = anyio.run(statistics)
    used, quota = found.stored_bytes, found.quota_bytes
    counts = ", ".join(f"{count} {state}" for state, count in found.rows.items()) or "empty"
    size = f"{used:,} of {quota:,} bytes, {counts}, schema {found.schema}, {found.guards_alive} running"
    yield Check("store", "ok", f"{found.path}: {size}")
    if found.check != "ok":
        yield Check("store", "problem", f"SQLite: {found.check}", "find what is damaged: slimguard results verify")
    if os.name == "posix" and (found.directory_mode, found.file_mode) != _MODES:
        modes = f"directory {found.directory_mode:o}, file {found.file_mode:o}"
        yield Check("store", "problem", modes, f"chmod 700 {Path(found.path).parent} && chmod 600 {found.path}")
    if used > quota * 0.9:
        yield Check("store", "warning", "over nine tenths of the quota", "raise slimguard.store.quota_bytes")


def _tokenizer() -> Check:
    from slimguard.tokens import Tokens

    counter = Tokens()
    count = counter.count("slimguard counts tokens")
    if counter.damage:
        return Check("tokenizer", "problem", counter.damage, "answers stay within budget; install slimguard again")
    return Check("tokenizer", "ok", f"o200k_base, shipped vocabulary ({count} tokens in a sample)")


def _meaning() -> Check:
    from slimguard.semantic import installed, load

    version = installed()
    if not version:
        return Check("meaning", "ok", "not installed, find_tool ranks by words; slimguard[semantic] adds it")
    try:
        load()(["slimguard knows what tools mean"])
    except Exception as error:  # noqa: BLE001 - whatever the model raises, words alone rank
        words = f"version {version} does not work ({type(error).__name__}), find_tool ranks by words"
        return Check("meaning", "warning", words, "install slimguard[semantic] again")
    return Check("meaning", "ok", f"active, version {version}: find_tool ranks by words and meaning")


def _hosts() -> Iterator[Check]:
    from slimguard.cli.asking import this_machine
    from slimguard.cli.install import journal_directory
    from slimguard.install import journal
    from slimguard.install.discovering import discover

    for one in discover(this_machine()):
        about = f"host {one.host.name}"
        if one.problem:
            yield Check(about, "warning", f"{one.file.path} cannot be read: {one.problem}")
            continue
        for server in (server for server in one.servers if server.ours):
            yield _entry(about, str(one.file.path), server.entry)
        others = [server.name for server in one.servers if not server.ours and not server.unsupported]
        if one.has_us and others:
            yield Check(about, "warning", f"{one.file.path} also starts {', '.join(others)} without slimguard")
    active = [record for record in journal.records(journal_directory()) if record.state != "rolled back"]
    for record in active:
        yield Check("installed", "ok", f"{record.path}; back with: slimguard rollback --id {record.id}")


def _entry(about: str, path: str, entry: Any) -> Check:
    """Whether what the host starts is there: the program and the configuration."""
    import shutil

    command, args = str(entry.get("command", "")), [str(item) for item in entry.get("args", ())]
    if not shutil.which(command):
        return Check(about, "problem", f"{path} starts {command}, which is not found", "run slimguard install again")
    named = args[args.index("--config") + 1] if "--config" in args[:-1] else ""
    if named and not Path(named).exists():
        return Check(about, "problem", f"{path} names {named}, which does not exist", "run slimguard install again")
    return Check(about, "ok", f"{path} starts slimguard")


def _guarded(checks: Callable[[], Any], about: str) -> Iterator[Check]:
    """Checks of one part, whose failure is a line like any other."""
    from slimguard.errors import SlimguardError

    try:
        yield from checks()
    except SlimguardError as error:
        yield Check(about, "problem", error.message, error.next_call)
    except Exception as error:  # noqa: BLE001 - the doctor must get to its end
        yield Check(about, "problem", f"{type(error).__name__}", "please report this with `slimguard doctor --json`")
