"""Servers start, fail, change, come back and end: each on its own, never with a process left behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import anyio
import psutil
import pytest

from raw_host import PATIENCE, eventually, is_alive
from slimguard import policy
from slimguard.errors import RequestRejected, UpstreamFailed
from slimguard.settings import ServerConfig, Timeouts

pytestmark = pytest.mark.anyio
PLAIN = b'{"content":[{"type":"text","text":"x"}]}'


def children() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


@pytest.mark.parametrize(
    ("mode", "protocol", "expected"),
    [
        ("", "auto", "2025-11-25"),
        ("modern", "auto", "2026-07-28"),
        ("exit-on-probe", "auto", "2025-11-25"),
        ("ignore-probe", "auto", "2025-11-25"),
        ("exit-on-probe", "2025-11-25", "2025-11-25"),
        ("modern", "2026-07-28", "2026-07-28"),
    ],
)
async def test_the_era_is_negotiated_with_servers_of_every_kind(
    mode: str, protocol: str, expected: str, upstream_kit: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "PROBE_SECONDS", 0.3)
    async with upstream_kit.running(upstream_kit.raw_stdio(mode=mode, protocol=protocol)) as rig:
        (status,) = rig.fleet.statuses()
        outcome = await rig.call("plain")

    assert (status.state, status.protocol, status.reason) == ("ready", expected, "")
    assert outcome.answer.raw == PLAIN


async def test_a_server_that_the_probe_silences_for_good_is_started_again(
    upstream_kit: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "PROBE_SECONDS", 0.2)
    config = upstream_kit.raw_stdio(mode="wedge-on-probe", timeouts=Timeouts(start_seconds=8))
    async with upstream_kit.running(config) as rig:
        (status,) = rig.fleet.statuses()

    assert (status.state, status.protocol) == ("ready", "2025-11-25")


async def test_a_cancelled_fleet_leaves_no_child(upstream_kit: ModuleType) -> None:
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as tasks:
            rig = upstream_kit.Fleet(
                {"deaf": upstream_kit.raw_stdio("deaf", mode="deaf")},
                upstream_kit.MemoryLedger(),
                upstream_kit.MemoryKeeper(),
                upstream_kit.SystemClock(),
            )
            await tasks.start(rig.run)
            await rig.settle(PATIENCE)
            assert children() != []
            scope.cancel()

    assert scope.cancelled_caught
    assert children() == []


async def test_the_era_is_remembered_for_the_next_start(upstream_kit: ModuleType, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    config = upstream_kit.raw_stdio(mode="exit-on-probe", env={"RAW_STARTS": str(starts)})
    async with upstream_kit.running(config) as rig:
        await rig.call("crash")
        await rig.call("plain")

    assert len(starts.read_text().split()) == 3, "probe, legacy, and after the crash legacy at once"


async def test_a_slow_server_is_waited_for_by_nobody_else(upstream_kit: ModuleType) -> None:
    slow = upstream_kit.raw_stdio("slow", env={"RAW_DELAY": "600"})
    async with upstream_kit.running(slow, upstream_kit.raw_stdio(), settle=0) as rig:
        with anyio.fail_after(PATIENCE):
            while not rig.fleet.tools():
                await anyio.sleep(0.01)
        outcome = await rig.call("plain")
        assert [status.state for status in rig.fleet.statuses()] == ["connecting", "ready"]
        assert outcome.answer.raw == PLAIN
    assert children() == []


async def test_a_server_that_starts_slower_than_the_probe_is_still_understood(
    upstream_kit: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "PROBE_SECONDS", 0.1)
    slow = [upstream_kit.raw_stdio(mode or "legacy", mode=mode, env={"RAW_DELAY": "0.6"}) for mode in ("", "modern")]
    async with upstream_kit.running(*slow) as rig:
        assert [status.protocol for status in rig.fleet.statuses()] == ["2025-11-25", "2026-07-28"]


async def test_a_server_that_does_not_start_in_time_says_so(upstream_kit: ModuleType) -> None:
    slow = upstream_kit.raw_stdio(env={"RAW_DELAY": "600"}, timeouts=Timeouts(start_seconds=0.5))
    async with upstream_kit.running(slow) as rig:
        (status,) = rig.fleet.statuses()

    assert status.state == "unavailable"
    assert "within 0.5 s" in status.reason
    assert children() == []


async def test_a_dead_server_explains_itself(upstream_kit: ModuleType) -> None:
    config = upstream_kit.raw_stdio(mode="fail-start", env={"TOKEN": "sentinel-secret"})
    missing = ServerConfig(name="missing", transport="stdio", command="no-such-command-at-all")
    nowhere = replace(upstream_kit.raw_stdio("nowhere"), cwd="/no/such/folder")
    unset = replace(upstream_kit.raw_stdio("unset"), problem="the variable TOKEN is not set")
    off = replace(upstream_kit.raw_stdio("off"), disabled=True)
    async with upstream_kit.running(config, missing, nowhere, unset, off) as rig:
        failed, gone, lost, broken, disabled = rig.fleet.statuses()
        assert [status.state for status in rig.fleet.statuses()] == ["unavailable"] * 4 + ["disabled"]
        assert "exit code 7" in failed.reason
        assert "missing API key" in failed.reason
        assert "no-such-command-at-all" in gone.reason
        assert f"PATH={os.environ['PATH']}" in gone.reason
        assert "/no/such/folder" in lost.reason
        assert broken.reason == "the variable TOKEN is not set"
        assert disabled.reason == "disabled in the configuration"


async def test_a_secret_of_the_configuration_that_stderr_repeats_is_blanked(upstream_kit: ModuleType) -> None:
    config = ServerConfig(
        name="leaky",
        transport="stdio",
        command=sys.executable,
        args=("-c", "import os,sys;sys.exit('bad token '+os.environ['TOKEN'])"),
        env={"TOKEN": "sentinel-secret"},
    )
    async with upstream_kit.running(config) as rig:
        (status,) = rig.fleet.statuses()

    assert "bad token [redacted]" in status.reason
    assert "sentinel-secret" not in repr(rig.logged)


async def test_a_child_gets_only_the_named_environment(
    upstream_kit: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_HOST", "sentinel")
    code = "import os,sys;sys.exit(repr(sorted(os.environ)))"
    config = ServerConfig(name="env", transport="stdio", command=sys.executable, args=("-c", code), env={"GIVEN": "1"})
    async with upstream_kit.running(config) as rig:
        (status,) = rig.fleet.statuses()

    assert "'GIVEN'" in status.reason
    assert "'PATH'" in status.reason
    assert "SECRET_OF_THE_HOST" not in status.reason


async def test_a_bad_definition_costs_only_itself(upstream_kit: ModuleType) -> None:
    async with upstream_kit.running(upstream_kit.raw_stdio(mode="bad-definitions")) as rig:
        (status,) = rig.fleet.statuses()
        names = {tool.name for tool in rig.fleet.tools()}
        outcome = await rig.call("plain")

    assert status.state == "ready"
    assert {"plain", "echo", "surrogate"} <= names
    assert not {"digits", "deep", "bytes"} & names
    assert len(status.skipped) == 7
    for word in ("digits", "deep", "bytes", "tab", "no name", "not an object", "defined twice"):
        assert any(word in line for line in status.skipped), word
    assert outcome.answer.raw == PLAIN


@pytest.mark.parametrize("mode", ["stuck-cursor", "endless-cursor"])
async def test_a_cursor_that_never_advances_ends_the_listing(mode: str, upstream_kit: ModuleType) -> None:
    async with upstream_kit.running(upstream_kit.raw_stdio(mode=mode)) as rig:
        (status,) = rig.fleet.statuses()

    assert status.state == "ready"
    assert status.tools > 100


@pytest.mark.parametrize("mode", ["", "modern"])
async def test_a_changed_listing_is_read_again(mode: str, upstream_kit: ModuleType, tmp_path: Path) -> None:
    config = upstream_kit.raw_stdio(mode=mode, env={"RAW_EXTRA_TOOL": str(tmp_path / "extra")})
    changed, seen = anyio.Event(), []
    async with upstream_kit.running(config, on_change=lambda: seen.append(changed.set())) as rig:
        before = rig.fleet.tools()
        await rig.call("change")
        with anyio.fail_after(PATIENCE):
            while "extra" not in {tool.name for tool in rig.fleet.tools()}:
                changed = anyio.Event()
                await changed.wait()
        outcome = await rig.call("extra")

    assert "extra" not in {tool.name for tool in before}, "a captured catalog does not change"
    assert outcome.answer.raw == PLAIN


async def test_the_kept_catalog_serves_until_the_server_answers(upstream_kit: ModuleType, tmp_path: Path) -> None:
    keeper = upstream_kit.MemoryKeeper()
    async with upstream_kit.running(upstream_kit.raw_stdio(), keeper=keeper) as rig:
        kept = rig.fleet.tools()
    slow = upstream_kit.raw_stdio(env={"RAW_HOLD": str(tmp_path / "go")})
    async with upstream_kit.running(slow, keeper=keeper, settle=0.2) as rig:
        (status,) = rig.fleet.statuses()
        assert (status.state, rig.fleet.tools()) == ("connecting", kept)
        (tmp_path / "go").touch()
        outcome = await rig.call("plain")
    dead = upstream_kit.raw_stdio(mode="fail-start")
    async with upstream_kit.running(dead, keeper=keeper) as rig:
        (status,) = rig.fleet.statuses()
        assert (status.state, rig.fleet.tools()) == ("unavailable", kept)
        with pytest.raises(UpstreamFailed, match="missing API key") as failed:
            await rig.call("plain")

    assert outcome.answer.raw == PLAIN
    assert failed.value.ran == "no"


async def test_a_call_of_a_changed_definition_is_refused_before_it_is_sent(
    upstream_kit: ModuleType, tmp_path: Path
) -> None:
    log = tmp_path / "executed"
    async with upstream_kit.running(upstream_kit.raw_stdio(log=log)) as rig:
        tool = rig.tool("echo")
        with pytest.raises(RequestRejected, match="has changed"):
            await rig.fleet.start(rig.execution(replace(tool, digest="0" * 64)))
        with pytest.raises(RequestRejected, match="no longer offered"):
            await rig.fleet.start(rig.execution(replace(tool, name="gone")))

    assert not log.exists()
    assert rig.ledger.events == []


async def test_a_changed_configuration_touches_only_the_changed_servers(
    upstream_kit: ModuleType, tmp_path: Path
) -> None:
    log = tmp_path / "executed"
    stays, changes = upstream_kit.raw_stdio("stays"), upstream_kit.raw_stdio("changes", log=log)
    async with upstream_kit.running(stays, changes, upstream_kit.raw_stdio("goes")) as rig:
        go = tmp_path / "go"
        running = rig.execution(rig.tool("sleep", "changes"), {"seconds": 0, "until": str(go)})
        await rig.fleet.start(running)
        pids = {child.pid for child in children()}
        changed = upstream_kit.raw_stdio("changes", mode="modern")
        await rig.fleet.reload({"stays": stays, "changes": changed, "new": upstream_kit.raw_stdio("new")})
        await rig.fleet.settle(PATIENCE)
        assert rig.fleet.state(running.ref) == "running"
        go.touch()
        outcome = await rig.fleet.wait(running.ref, PATIENCE)
        statuses = {status.name: (status.state, status.protocol) for status in rig.fleet.statuses()}
        with pytest.raises(UpstreamFailed):
            await rig.fleet.start(rig.execution(replace(rig.tool("plain", "stays"), server="goes")))
        kept = pids & {child.pid for child in children()}

    assert outcome.state == "stored", "a call in flight outlives the change of its server's entry"
    assert statuses == {
        "stays": ("ready", "2025-11-25"),
        "changes": ("ready", "2026-07-28"),
        "new": ("ready", "2025-11-25"),
    }
    assert len(kept) >= 1


async def test_a_call_that_waits_for_a_server_is_refused_when_the_server_is_removed(upstream_kit: ModuleType) -> None:
    keeper = upstream_kit.MemoryKeeper()
    async with upstream_kit.running(upstream_kit.raw_stdio(), keeper=keeper):
        pass
    slow = upstream_kit.raw_stdio(env={"RAW_DELAY": "600"})
    async with upstream_kit.running(slow, keeper=keeper, settle=0.2) as rig:
        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as tasks:
                refused: list[UpstreamFailed] = []

                async def call() -> None:
                    try:
                        await rig.call("echo")
                    except UpstreamFailed as error:
                        refused.append(error)

                tasks.start_soon(call)
                await anyio.wait_all_tasks_blocked()
                await rig.fleet.reload({})

    assert [error.ran for error in refused] == ["no"]
    assert rig.ledger.events == []


async def test_children_that_are_deaf_to_everything_are_gone_in_two_seconds(
    upstream_kit: ModuleType, tmp_path: Path
) -> None:
    pids = tmp_path / "pids"
    deaf = [upstream_kit.raw_stdio(name, mode="deaf") for name in ("a", "b", "c")]
    family = upstream_kit.raw_stdio("family", mode="grandchild", env={"RAW_PIDS": str(pids)})
    took: list[float] = []
    while len(took) < 3 and min(took, default=9) >= 2.2:  # a busy machine only ever adds to a duration
        async with upstream_kit.running(*deaf, family) as rig:
            execution = rig.execution(rig.tool("sleep", "a"), {"seconds": 600})
            await rig.fleet.start(execution)
            began = time.monotonic()
            await rig.fleet.shutdown()
            took.append(time.monotonic() - began)
        assert children() == []
        assert not any(is_alive(int(pid)) for pid in pids.read_text().split())
        assert rig.ledger.rows[execution.ref].state == "unknown"

    assert min(took) < 2.2


async def test_a_call_in_flight_may_finish_while_the_guard_shuts_down(upstream_kit: ModuleType) -> None:
    async with upstream_kit.running(upstream_kit.raw_stdio()) as rig:
        execution = rig.execution(rig.tool("sleep"), {"seconds": 0.2})
        await rig.fleet.start(execution)
        await rig.fleet.shutdown()

    assert rig.ledger.rows[execution.ref].state == "stored"


async def test_a_crash_loop_is_slowed_down_and_a_call_still_gets_its_answer(upstream_kit: ModuleType) -> None:
    async with upstream_kit.running(upstream_kit.raw_stdio()) as rig:
        for _ in range(2):
            assert (await rig.call("crash")).state == "unknown"
        assert (await rig.call("plain")).state == "stored"


@pytest.mark.skipif(sys.platform != "linux", reason="PR_SET_PDEATHSIG is Linux's")
def test_a_killed_guard_leaves_no_child(upstream_kit: ModuleType, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    script = (
        "import sys,anyio;sys.path.insert(0,sys.argv[1]);import kit\n"
        "async def main():\n"
        "    config=kit.raw_stdio(mode='deaf,grandchild',env={'RAW_PIDS':sys.argv[2]})\n"
        "    async with kit.running(config):\n"
        "        print('ready',flush=True)\n"
        "        await anyio.sleep(600)\n"
        "anyio.run(main)\n"
    )
    command = [sys.executable, "-c", script, str(upstream_kit.HERE), str(pids)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as guard:
        assert guard.stdout is not None
        assert guard.stdout.readline() == b"ready\n"
        family = [psutil.Process(int(pid)) for pid in pids.read_text().split()]
        os.kill(guard.pid, signal.SIGKILL)
    try:
        eventually(lambda: not any(is_alive(process.pid) for process in family), what="the end of the family")
    finally:
        for process in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
