"""Which finished executions stay in memory, and with which bytes; never drops a run that somebody waits for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from slimguard import policy
from slimguard.upstream.run import Run

_DROPPED = "the answer could not be stored, and there was no room left to hold it in memory"


@dataclass(slots=True)
class Shelf:
    """All executions of this process that are still answered for from memory, oldest first, by ref."""

    runs: dict[str, Run] = field(default_factory=lambda: {})
    """More than one ref may lead to one run: joined duplicates."""

    _bytes: int = 0
    """At least the bytes of the answers in memory."""

    def kept(self, run: Run) -> None:
        """An execution has its answer."""
        self._bytes += run.size
        self.trim()

    def in_flight(self) -> Iterator[Run]:
        """Those without an end."""
        return (run for run in dict.fromkeys(self.runs.values()) if not run.done.is_set())

    def trim(self) -> None:
        """Let go of what is over the caps: stored answers first delivered, then held ones, oldest first."""
        if self._bytes <= min(policy.RETAINED_BYTES, policy.HELD_BYTES) and len(self.runs) <= policy.REMEMBERED_RUNS:
            return
        finished = [run for run in dict.fromkeys(self.runs.values()) if run.done.is_set() and not run.waiting]
        self._drop_stored([run for run in finished if run.state == "stored"])
        self._drop_held([run for run in finished if run.state == "held"])
        surplus = len(self.runs) - _below(policy.REMEMBERED_RUNS) if len(self.runs) > policy.REMEMBERED_RUNS else 0
        for ref, run in list(self.runs.items()) if surplus > 0 else []:
            if surplus <= 0:
                break
            if run.done.is_set() and not run.waiting and run.state != "held":
                del self.runs[ref]
                surplus -= 1

        self._bytes = sum(run.size for run in dict.fromkeys(self.runs.values()))

    def _drop_stored(self, runs: list[Run]) -> None:
        room = _below(policy.RETAINED_BYTES)
        for run in reversed(runs):
            room -= run.size
            if room < 0:
                run.answer = None

    def _drop_held(self, runs: list[Run]) -> None:
        over = sum(run.size for run in runs) - policy.HELD_BYTES
        for run in sorted(runs, key=lambda run: not run.delivered):
            if over <= 0 or (run is runs[-1] and not run.delivered):
                break
            over -= run.size
            run.answer = None
            run.finish("failed", run.ran, _DROPPED)


def _below(cap: int) -> int:
    """So much is left when a cap is passed: going through all runs is for once in many calls, not for each."""
    return cap - cap // 8
