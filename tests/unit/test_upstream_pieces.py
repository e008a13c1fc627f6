"""Small parts of the upstream edge that need no server: tickets, the stderr tail, the environment, held answers."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import pytest

from slimguard import policy
from slimguard.model import Answer, Execution, Tool
from slimguard.settings import ServerConfig
from slimguard.upstream.calls import call_params
from slimguard.upstream.framing import Notification, Response
from slimguard.upstream.peer import Peer
from slimguard.upstream.process import StderrTail, child_environment, secrets_of
from slimguard.upstream.run import Run
from slimguard.upstream.shelf import Shelf
from slimguard.upstream.warden import Warden
from slimguard.upstream.wire import SentTwice, Ticket

pytestmark = pytest.mark.anyio


def execution(ref: str) -> Execution:
    tool = Tool("s", "t", {"name": "t"}, "0" * 64)
    return Execution(
        ref=ref,
        owner="me",
        scope="",
        tool=tool,
        arguments={},
        arguments_digest="",
        created_at=0,
        expires_at=1,
        call_seconds=1,
    )


def test_a_ticket_is_good_for_one_send() -> None:
    ticket = Ticket("r")
    ticket.spend()

    with pytest.raises(SentTwice):
        ticket.spend()


def test_the_stderr_tail_is_bounded_printable_and_without_secrets() -> None:
    tail = StderrTail(secrets=("hunter2hunter2",))
    for number in range(10_000):
        tail.feed(f"line {number}\n".encode())
    tail.feed(b"\x1b[31mtoken hunter2hunter2\xff\n" + b"x" * 1_000_000)
    text = tail.text()

    assert len(text) <= policy.STDERR_BYTES
    assert "hunter2" not in text
    assert "\x1b" not in text
    assert "line 0\n" not in text


def test_a_tail_that_is_cut_between_two_reads_joins_its_lines() -> None:
    tail = StderrTail()
    tail.feed(b"first li")
    tail.feed(b"ne\nsecond")

    assert tail.text() == "first line\nsecond"


def test_a_child_inherits_six_names_and_no_shell_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "() { :; }")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "sentinel")
    environment = child_environment({"GIVEN": "1", "PATH": "/only"})

    assert environment["GIVEN"] == "1"
    assert environment["PATH"] == "/only"
    assert not {"TERM", "AWS_SECRET_ACCESS_KEY"} & environment.keys()


def test_secrets_are_the_longer_values_of_environment_and_headers() -> None:
    config = ServerConfig(
        name="s", transport="http", env={"A": "short", "B": "long-enough"}, headers={"C": "a-longer-token"}
    )

    assert secrets_of(config) == ("a-longer-token", "long-enough")


def test_params_hold_the_arguments_themselves_and_meta_only_when_there_is_some() -> None:
    assert call_params(execution("r")) == {"name": "t", "arguments": {}}


async def test_stored_answers_leave_the_memory_before_held_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "RETAINED_BYTES", 250)
    monkeypatch.setattr(policy, "HELD_BYTES", 250)
    shelf = Shelf()
    for number in range(6):
        run = Run(execution(f"r{number}"))
        run.answer = Answer("result", b"x" * 100)
        run.delivered = True
        run.finish("stored" if number % 2 else "held", "yes", "")
        shelf.runs[run.execution.ref] = run
        shelf.kept(run)
    states = [run.state for run in shelf.runs.values()]

    assert states == ["failed", "stored", "held", "stored", "held", "stored"]
    assert [run.answer is not None for run in shelf.runs.values()] == [False, False, True, True, True, True]


async def test_old_runs_are_forgotten_many_at_once_so_that_few_calls_look_through_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(policy, "REMEMBERED_RUNS", 16)
    shelf, sizes = Shelf(), list[int]()
    for number in range(100):
        run = Run(execution(f"r{number}"))
        run.finish("stored", "yes", "")
        shelf.runs[run.execution.ref] = run
        shelf.kept(run)
        sizes.append(len(shelf.runs))
        assert run.execution.ref in shelf.runs

    assert max(sizes) == 16
    assert sum(later < earlier for earlier, later in pairwise(sizes)) <= 30


async def test_a_run_that_somebody_waits_for_keeps_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "HELD_BYTES", 0)
    monkeypatch.setattr(policy, "RETAINED_BYTES", 0)
    shelf = Shelf()
    run = Run(execution("r"))
    run.waiting, run.answer = 1, Answer("result", b"{}")
    run.finish("held", "yes", "")
    shelf.runs["r"] = run
    shelf.kept(run)

    assert run.answer is not None


async def test_an_answer_that_nobody_waits_for_and_a_broken_progress_do_no_harm() -> None:
    peer = Peer(lambda _: None, lambda: None)
    peer.message(Response(7, Answer("result", b"{}")))
    peer.message(Response("seven", Answer("result", b"{}")))
    peer.message(Notification("notifications/progress", {"progressToken": {"a": 1}}))
    peer.message(Notification("notifications/progress", [1]))
    peer.failed(None, "gone", "unknown")

    assert peer.noise == 4


@pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX's")
def test_the_warden_ends_what_is_on_its_list_and_nothing_else() -> None:
    command = [sys.executable, "-c", "import signal,time;signal.signal(15,signal.SIG_IGN);time.sleep(60)"]
    kept, ended = (subprocess.Popen(command, start_new_session=True) for _ in range(2))
    warden = Warden()
    for child in (kept, ended):
        warden.watch(child.pid)
    warden.forget(kept.pid)
    try:
        warden.dismiss()
        assert ended.wait(60) < 0
        assert kept.poll() is None
    finally:
        kept.kill()
        kept.wait()
        ended.kill()
        ended.wait()
