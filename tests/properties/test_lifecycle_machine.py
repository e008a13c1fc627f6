"""Calls as a state machine: a real fleet and a real store, under any interleaving of what can happen to a call.

The server is a script in memory that answers when the machine says so. Whatever happens in whatever order, each call
is sent at most once, an answer that came is stored byte for byte, and the ledger's state fits what happened.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anyio.from_thread import start_blocking_portal
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule

from slimguard.canonical import make_ref, value_digest
from slimguard.clock import SystemClock
from slimguard.errors import SlimguardError
from slimguard.model import Execution
from slimguard.settings import ServerConfig, StoreSettings
from slimguard.store import Store
from slimguard.upstream.fleet import Fleet
from slimguard.upstream.framing import split
from slimguard.upstream.session import Hooks, Session

TOOLS = [{"name": "act", "inputSchema": {"type": "object"}}]
OWNER = "me"


@dataclass
class Script:
    """The server: answers the handshake at once and calls when it is told to; its own count of what it was sent."""

    sent: dict[int, int] = field(default_factory=dict)
    asked: dict[int, tuple[Any, int]] = field(default_factory=dict)
    """By call: the connection that it came on, and its id there."""
    inbound: Any = None

    @asynccontextmanager
    async def open(self, config: Any, inbound: Any, at: Any, **_: Any):
        self.inbound = inbound
        yield self
        inbound.closed("closed")

    cancels_by_message = True

    async def send(self, outgoing: Any) -> None:
        message = json.loads(outgoing.body)
        method, identity = message.get("method"), message.get("id")
        if method == "tools/call":
            outgoing.ticket.spend()
            number = message["params"]["arguments"]["n"]
            self.sent[number] = self.sent.get(number, 0) + 1
            self.asked[number] = (self.inbound, identity)
        elif method == "initialize":
            info = {"name": "script", "version": "1"}
            self.say(identity, {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info})
        elif method == "tools/list":
            self.say(identity, {"tools": TOOLS})

    def say(self, identity: Any, result: Any) -> None:
        self.inbound.message(split(json.dumps({"jsonrpc": "2.0", "id": identity, "result": result}).encode()))

    def settled_on(self, version: str) -> None: ...

    async def listen(self) -> None: ...

    def refuses(self, input_schema: Any) -> None: ...

    def call_headers(self, *_: Any) -> dict[str, str]:
        return {}

    def hurry(self) -> None: ...

    def diagnosis(self) -> str:
        return ""


class ScriptedFleet(Fleet):
    """The real fleet, its connections led to the script."""

    script: Script

    def _session(self, config: ServerConfig) -> Session:
        hooks = Hooks(self._swap, self._save, self._at, self._log)
        return Session(config, self.script.open, hooks)


class Lifecycle(RuleBasedStateMachine):
    """What can happen, and what must hold after each step."""

    calls = Bundle("calls")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.portals = start_blocking_portal()
        self.portal = self.portals.__enter__()
        self.script = Script()
        self.refs: dict[int, str] = {}
        self.answers: dict[int, bytes] = {}
        self.lost: set[int] = set()
        """Calls whose answer cannot come any more."""
        self.impatient: set[int] = set()
        self.refused: dict[int, str] = {}
        self.begin()

    # --- the guard ---

    def begin(self) -> None:
        self.store = Store(StoreSettings(path=str(self.folder / "store" / "results.db")), SystemClock())
        ScriptedFleet.script = self.script
        config = ServerConfig(name="up", transport="stdio", command="none", protocol="2025-11-25", fingerprint="f")
        self.fleet = ScriptedFleet({"up": config}, self.store, self.store, SystemClock())
        self.running, _ = self.portal.start_task(self.fleet.run)
        self.portal.call(self.fleet.settle, 60)

    def row(self, number: int) -> Any:
        return self.portal.call(self.store.find, self.refs[number], OWNER)

    def state(self, number: int) -> str:
        row = self.row(number)
        return row.state if row is not None else "-"

    def await_state(self, number: int, *states: str) -> None:
        end = time.monotonic() + 60
        while self.state(number) not in states:
            assert time.monotonic() < end, (number, self.state(number), states)

    @property
    def open_calls(self) -> list[int]:
        return [n for n in self.script.asked if n not in self.answers and n not in self.lost]

    # --- what can happen; few rules, so that every run sees many kinds of events ---

    @rule(
        number=calls,
        event=st.sampled_from(["result", "error", "illegal", "result", "twice", "again", "time", "cancel"]),
        text=st.text(max_size=30),
    )
    def something_happens_to_a_call(self, number: int, event: str, text: str) -> None:
        if event == "twice":
            self.answer_twice(number)
        elif event == "again":
            self.start_again(number)
        elif event == "time":
            self.pass_time(number)
        elif event == "cancel":
            self.cancel(number)
        else:
            self.answer(number, text, event)

    @rule(event=st.sampled_from(["drop", "restart", "crash"]), chance=st.integers(0, 3))
    def something_happens_to_all(self, event: str, chance: int) -> None:
        if chance == 0:
            {"drop": self.drop_connection, "restart": self.restart, "crash": self.crash}[event]()

    @initialize(target=calls)
    def first_calls(self) -> Any:
        return multiple(*(self.start(impatient=False) for _ in range(3)))

    @rule(target=calls, impatient=st.booleans())
    def call(self, impatient: bool) -> Any:
        number = self.start(impatient=impatient)
        return multiple() if number in self.refused else number

    def start(self, *, impatient: bool) -> int:
        number = len(self.refs)
        self.refs[number] = make_ref(os.urandom(8))
        tool = self.fleet.tools()[0]
        now = time.time()
        execution = Execution(
            ref=self.refs[number],
            owner=OWNER,
            scope="s",
            tool=tool,
            arguments={"n": number},
            arguments_digest=value_digest({"n": number}),
            created_at=now,
            expires_at=now + 3600,
            call_seconds=0.02 if impatient else 100.0,
        )
        try:
            self.portal.call(self.fleet.start, execution)
        except SlimguardError as error:
            self.refused[number] = error.ran
            self.lost.add(number)
            return number
        if impatient:
            self.impatient.add(number)
        return number

    def start_again(self, number: int) -> None:
        """The same execution handed over a second time is never sent a second time."""
        tool = self.fleet.tools()[0]
        again = Execution(self.refs[number], OWNER, "s", tool, {"n": number}, "d", 0, time.time() + 3600, 100.0)
        try:
            self.portal.call(self.fleet.start, again)
        except SlimguardError:
            return
        raise AssertionError("a second start of one execution was accepted")

    def answer(self, number: int, text: str, kind: str) -> None:
        if number not in self.open_calls:
            return
        quoted = json.dumps(text)
        raw = {
            "result": '{ "content":[{"type":"text","text":' + quoted + '}] , "x":1.0}',
            "error": '{"code": -32000 ,"message":' + quoted + "}",
            "illegal": f"[{quoted}]",
        }[kind].encode()
        inbound, identity = self.script.asked[number]
        member = "error" if kind == "error" else "result"
        line = b'{"jsonrpc":"2.0","id":%d,"%s":%s}' % (identity, member.encode(), raw)
        self.answers[number] = raw
        self.portal.call(inbound.message, split(line))
        self.await_state(number, "stored")

    def answer_twice(self, number: int) -> None:
        """A server that answers again changes nothing."""
        if number not in self.answers or number in self.lost:
            return
        inbound, identity = self.script.asked[number]
        line = b'{"jsonrpc":"2.0","id":%d,"result":{"content":[],"again":true}}' % identity
        self.portal.call(inbound.message, split(line))

    def pass_time(self, number: int) -> None:
        if number in self.impatient and number in self.open_calls:
            self.await_state(number, "unknown")

    def cancel(self, number: int) -> None:
        self.portal.call(self.fleet.cancel, self.refs[number])

    def drop_connection(self) -> None:
        open_calls = self.open_calls
        self.lost |= set(open_calls)
        self.portal.call(self.script.inbound.closed, "dropped")
        for number in open_calls:
            self.await_state(number, "unknown")

    def restart(self) -> None:
        """The host left, and another guard starts on the same store."""
        open_calls = self.open_calls
        self.lost |= set(self.script.asked) - set(self.answers)
        self.portal.call(self.fleet.shutdown, 0.05)
        self.portal.call(self.store.close)
        self.begin()
        for number in open_calls:
            assert self.state(number) == "unknown"

    def crash(self) -> None:
        """The process dies: nothing is closed and nothing is written; only the lock of its life is let go."""
        open_calls = self.open_calls
        self.lost |= set(self.script.asked) - set(self.answers)
        old = self.store
        self.running.cancel()
        old._presence.release()
        self.begin()
        for number in open_calls:
            assert self.state(number) == "unknown"

    # --- what must hold ---

    @invariant()
    def nothing_was_sent_twice(self) -> None:
        assert all(count == 1 for count in self.script.sent.values())
        assert all(ran == "no" and number not in self.script.sent for number, ran in self.refused.items())

    @invariant()
    def the_ledger_tells_what_happened(self) -> None:
        for number in self.refs:
            state = self.state(number)
            if number in self.answers:
                assert state == "stored"
                assert self.bytes_of(number) == self.answers[number]
            elif number in self.script.sent:
                assert state in ("still running", "unknown")
            else:
                assert state in ("-", "failed", "unknown")

    def bytes_of(self, number: int) -> bytes:
        async def read() -> bytes:
            reader = await self.store.open(self.refs[number], OWNER)
            try:
                return reader.read(0, reader.call.size or 0)
            finally:
                reader.close()

        return self.portal.call(read)

    def teardown(self) -> None:
        self.portal.call(self.fleet.shutdown, 0.05)
        self.portal.call(self.store.close)
        self.portals.__exit__(None, None, None)
        shutil.rmtree(self.folder, ignore_errors=True)


TestLifecycle = Lifecycle.TestCase
TestLifecycle.settings = settings(
    max_examples=15, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
)
