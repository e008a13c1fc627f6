"""`slimguard results`: list, show, export, verify, clean up and remove stored results; never runs a tool."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from slimguard.cli.helping import command, group
from slimguard.cli.output import add_config, add_json, colour, complain, counted, say, say_json, table

if TYPE_CHECKING:
    from slimguard.model import StoredCall
    from slimguard.store import Store

ACTIONS: dict[str, tuple[str, str, str, str]] = {
    "list": (
        "list stored results, newest first",
        "List the stored results of this configuration and user, newest first: ref, tool, state, size, age.",
        "slimguard results list --limit 5",
        "the last five",
    ),
    "show": (
        "show what is known of one result",
        "Show what the ledger knows of one call: tool, state, size, digest, times. Nothing of its content.",
        "slimguard results show REF",
        "",
    ),
    "export": (
        "write the exact stored bytes to standard output",
        "Write the exact bytes of a stored result to standard output. Fails when one of its digests does not match.",
        "slimguard results export REF > result.json",
        "",
    ),
    "verify": (
        "read every stored byte and compare its digests",
        "Read every stored byte and compare its digests. Exit code 1 when one does not match.",
        "slimguard results verify --json",
        "for scripts",
    ),
    "gc": (
        "remove what has expired or is over the quota",
        "Remove what has expired or is over the quota, now instead of in a while.",
        "slimguard results gc",
        "",
    ),
    "rm": (
        "remove results for good",
        "Remove results for good. Their refs are `not found` from then on.",
        "slimguard results rm REF --dry-run",
        "only say what would go",
    ),
}
"""Summary, description, and an example with its meaning, for each action."""


def add(commands: Any) -> None:
    """Register the command and its actions."""
    summary = "list, show, export, verify and remove stored results"
    actions = group(commands, "results", summary, "Work with what is stored. No tool is run.")
    listing = _action(actions, "list", run_list)
    listing.add_argument("--limit", type=int, metavar="N", default=50, help="at most so many (default: 50)")
    listing.add_argument("--all", action="store_true", help="of every owner and configuration")
    show = _action(actions, "show", run_show)
    show.add_argument("ref", metavar="REF", help="a result_ref")
    export = _action(actions, "export", run_export, as_json=False)
    export.add_argument("ref", metavar="REF", help="a result_ref")
    _action(actions, "verify", run_verify)
    _action(actions, "gc", run_gc)
    remove = _action(actions, "rm", run_remove)
    remove.add_argument("refs", metavar="REF", nargs="+", help="result_refs")
    remove.add_argument("--dry-run", action="store_true", help="only say what would be removed")


def _action(actions: Any, name: str, run: Any, *, as_json: bool = True) -> argparse.ArgumentParser:
    summary, description, example, words = ACTIONS[name]
    parser = command(actions, name, summary, description, examples=[(example, words)])
    add_config(parser)
    if as_json:
        add_json(parser)
    parser.set_defaults(run=run)
    return parser


def with_store(options: argparse.Namespace, work: Callable[[Store, str, str], Awaitable[int]]) -> int:
    """Open the configured store and do `work(store, owner, scope)`."""
    import anyio

    from slimguard.cli.stored import settings_of
    from slimguard.clock import SystemClock, os_user
    from slimguard.store import Store

    settings = settings_of(options)

    async def main() -> int:
        store = Store(settings.store, SystemClock())
        try:
            return await work(store, os_user(), settings.scope)
        finally:
            await store.close()

    return anyio.run(main)


def run_list(options: argparse.Namespace) -> int:
    """List stored results."""

    async def work(store: Store, owner: str, scope: str) -> int:
        # Without a configuration there is no scope of its own: everything of this user is listed.
        chosen = (None, None) if options.all else (owner, scope or None)
        calls = await store.list_calls(*chosen, max(1, int(options.limit)))
        if options.json:
            say_json([as_json(call) for call in calls])
            return 0
        rows = [
            (
                call.ref,
                f"{call.server}/{call.tool}",
                call.state,
                _size(call),
                _age(call),
                "error" if call.is_error else "",
            )
            for call in calls
        ]
        table(("result_ref", "tool", "state", "size", "age", ""), rows)
        return 0

    return with_store(options, work)


def run_show(options: argparse.Namespace) -> int:
    """Show one row of the ledger."""

    async def work(store: Store, owner: str, _scope: str) -> int:
        call = await store.find(options.ref, owner)
        if call is None:
            complain(f"slimguard: {options.ref}: {'not found' if _well_formed(options.ref) else 'malformed'}")
            return 1
        known = as_json(call)
        if options.json:
            say_json(known)
            return 0
        for key, value in known.items():
            say(f"{colour(key.ljust(14), 'bold')} {value}")
        return 0

    return with_store(options, work)


def run_export(options: argparse.Namespace) -> int:
    """Write the exact stored bytes to standard output."""

    async def work(store: Store, owner: str, _scope: str) -> int:
        if not _well_formed(options.ref):
            complain(f"slimguard: {options.ref[:60]}: malformed")
            return 1
        await store.export(options.ref, owner, sys.stdout.buffer.write)
        sys.stdout.buffer.flush()
        return 0

    return with_store(options, work)


def run_verify(options: argparse.Namespace) -> int:
    """Compare every digest; exit code 1 when one does not match."""

    def progress(done: int, total: int) -> None:
        if sys.stderr.isatty() and not options.json:
            sys.stderr.write(f"\r{done * 100 // max(1, total)} % of {total} bytes ")
            sys.stderr.flush()

    async def work(store: Store, _owner: str, _scope: str) -> int:
        checked = await store.verify(progress)
        damaged = [item for item in checked if item.fault]
        if options.json:
            say_json(
                {
                    "checked": len(checked),
                    "damaged": [{"ref": item.ref, "digest": item.digest, "fault": item.fault} for item in damaged],
                }
            )
            return 1 if damaged else 0
        size, intact = sum(item.size for item in checked), len(checked) - len(damaged)
        say(f"{counted(len(checked), 'result')}, {size} bytes: {intact} intact")
        for item in damaged:
            say(colour(f"{item.ref}: digest mismatch: {item.fault}", "red"))
        return 1 if damaged else 0

    return with_store(options, work)


def run_gc(options: argparse.Namespace) -> int:
    """Remove what may go."""
    from dataclasses import asdict

    async def work(store: Store, _owner: str, _scope: str) -> int:
        done = asdict(await store.gc())
        if options.json:
            say_json(done)
            return 0
        say(", ".join(f"{key} {value}" for key, value in done.items()))
        return 0

    return with_store(options, work)


def run_remove(options: argparse.Namespace) -> int:
    """Remove results; exit code 1 when one of them is not there."""

    async def work(store: Store, owner: str, _scope: str) -> int:
        outcome: dict[str, str] = {}
        for ref in options.refs:
            if not _well_formed(ref):
                outcome[ref] = "malformed"
            elif options.dry_run:
                outcome[ref] = "not found" if await store.find(ref, owner) is None else "would be removed"
            else:
                outcome[ref] = "removed" if await store.remove(ref, owner) else "not found"
        if options.json:
            say_json(outcome)
        else:
            for ref, words in outcome.items():
                say(f"{ref}: {words}")
        return 1 if {"not found", "malformed"} & set(outcome.values()) else 0

    return with_store(options, work)


def as_json(call: StoredCall) -> dict[str, Any]:
    """One row as `--json` prints it; times are seconds since the epoch."""
    return {
        "result_ref": call.ref,
        "server": call.server,
        "tool": call.tool,
        "state": call.state,
        "kind": call.kind,
        "is_error": call.is_error,
        "size": call.size,
        "digest": call.digest,
        "created_at": call.created_at,
        "finished_at": call.finished_at,
        "expires_at": call.expires_at,
        "note": call.note,
    }


def _well_formed(ref: str) -> bool:
    from slimguard.canonical import is_ref

    return is_ref(ref)


def _size(call: StoredCall) -> str:
    from slimguard.frame import size_text

    return "" if call.size is None else size_text(call.size)


def _age(call: StoredCall) -> str:
    seconds = max(0, int(time.time() - call.created_at))
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{seconds // length} {unit}"
    return f"{seconds} s"
