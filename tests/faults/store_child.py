"""A process that works on a store, for tests that kill it, starve it or race it: `store_child.py COMMAND PATH …`.

Every line that it prints was printed after the store had acknowledged what the line says.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import sys
import time
from pathlib import Path

from slimguard import canonical
from slimguard.clock import SystemClock
from slimguard.errors import SlimguardError
from slimguard.model import Answer, Execution, Tool
from slimguard.settings import StoreSettings
from slimguard.store import Store

DEFINITION = {"name": "pay"}


def execution() -> Execution:
    tool = Tool("bank", "pay", DEFINITION, canonical.definition_digest(DEFINITION))
    ref = canonical.make_ref(os.urandom(canonical.REF_RANDOM_BYTES))
    return Execution(ref, "ada", "here", tool, {}, "0" * 64, time.time(), time.time() + 3600, 60.0)


def content(ref: str, size: int) -> bytes:
    """The bytes that belong to a ref, so that a reader can tell them without having been told."""
    return (ref.encode() * (size // len(ref) + 1))[:size]


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


async def keep(store: Store, ref: str, raw: bytes) -> None:
    await store.keep(ref, Answer("result", raw), durable=True, is_error=False, finished_at=time.time())


async def write(path: str, count: str, size: str) -> None:
    store = Store(StoreSettings(path), SystemClock())
    for _ in range(int(count)):
        call = execution()
        await store.open_call(call)
        say("open", call.ref)
        await keep(store, call.ref, content(call.ref, int(size)))
        say("kept", call.ref)
    await store.close()


async def die(path: str, point: str, size: str) -> None:
    def at(where: str) -> None:
        if where == point:
            os.kill(os.getpid(), signal.SIGKILL)

    store = Store(StoreSettings(path), SystemClock(), at=at)
    call = execution()
    say("ref", call.ref)
    await store.open_call(call)
    say("open", call.ref)
    await keep(store, call.ref, content(call.ref, int(size)))
    say("kept", call.ref)


async def hold(path: str) -> None:
    store = Store(StoreSettings(path), SystemClock())
    call = execution()
    await store.open_call(call)
    say("open", call.ref)
    sys.stdin.readline()


async def lock(path: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    say("locked")
    sys.stdin.readline()
    time.sleep(1.5)
    connection.execute("ROLLBACK")


async def attempt(path: str, ref: str) -> None:
    """Read `ref`, then try to write; one JSON line of how both went."""
    store = Store(StoreSettings(path), SystemClock(), busy_seconds=0.5)
    told: dict[str, object] = {}
    try:
        reader = await store.open(ref, "ada")
        told["read"] = reader.read(0, reader.call.size or 0) == content(ref, reader.call.size or 0)
        reader.close()
    except SlimguardError as error:
        told["read"] = error.message
    try:
        await store.open_call(execution())
        told["write"] = True
    except SlimguardError as error:
        told["write"] = error.message
    say(json.dumps(told))
    await store.close()


async def fill(path: str, size: str) -> None:
    """Write results until the disk is full, then make room; one JSON line: results kept, results intact, the reason."""
    store = Store(StoreSettings(path), SystemClock())
    await store.secret()
    ballast = Path(path).with_name("ballast")
    ballast.write_bytes(b"x" * (4 << 20))
    kept: list[str] = []
    reason, ran = "", ""
    for _ in range(1000):
        call = execution()
        try:
            await store.open_call(call)
            await keep(store, call.ref, content(call.ref, int(size)))
        except SlimguardError as error:
            reason, ran = error.message, error.ran
            break
        kept.append(call.ref)
    intact = 0
    for ref in kept:
        reader = await store.open(ref, "ada")
        intact += reader.read(0, int(size)) == content(ref, int(size))
        reader.close()
    ballast.unlink()
    call = execution()
    await store.open_call(call)
    await keep(store, call.ref, content(call.ref, int(size)))
    say(json.dumps({"kept": len(kept), "intact": intact, "reason": reason, "ran": ran}))
    await store.close()


if __name__ == "__main__":
    if "AS_USER" in os.environ:
        os.setgroups([])
        os.setgid(int(os.environ["AS_USER"]))
        os.setuid(int(os.environ["AS_USER"]))
    command = {"write": write, "die": die, "hold": hold, "lock": lock, "attempt": attempt, "fill": fill}[sys.argv[1]]
    asyncio.run(command(*sys.argv[2:]))
