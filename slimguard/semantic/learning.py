"""Learns a catalog in a thread of its own, finds the nearest tools (port `Embedder`); its failure harms no search."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from slimguard import policy
from slimguard.model import Tool
from slimguard.semantic.model import Encode
from slimguard.semantic.texts import texts_of
from slimguard.semantic.vectors import key_of, read_vectors, write_vectors


@dataclass(frozen=True, slots=True)
class _Known:
    """A catalog and its vectors, a row a tool."""

    tools: Sequence[Tool]
    rows: Any


class Meanings:
    """The tools of one guard by what they mean; `close` ends its thread after the batch at hand."""

    def __init__(self, load: Callable[[], Encode], model: str, path: Path, log: Callable[[str], None]) -> None:
        self._load = load
        self._model = model
        self._path = path
        self._log = log
        self._state = threading.Lock()
        self._encoding = threading.Lock()
        self._encode: Encode | None = None
        self._wanted: Sequence[Tool] | None = None
        self._thread: threading.Thread | None = None
        self._known: _Known | None = None
        self._closed = threading.Event()

    def learn(self, tools: Sequence[Tool]) -> None:
        """Begin to learn `tools` and return at once; a later catalog takes the place of an earlier one."""
        with self._state:
            known = self._known
            if self._closed.is_set() or (known is not None and known.tools is tools):
                return
            self._wanted = tools
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="slimguard-meaning", daemon=True)
                self._thread.start()

    def nearest(self, query: str, tools: Sequence[Tool], count: int) -> Sequence[int] | None:
        """Places in `tools` of the `count` nearest, nearest first; None until exactly this catalog is learned."""
        known, encode = self._known, self._encode
        if known is None or encode is None or known.tools is not tools or not query:
            return None
        try:
            numpy: Any = import_module("numpy")
            with self._encoding:
                asked = encode([query])[0]
            # Not `@`: the threads of a matrix product would be started and ended for every query.
            near = numpy.round(numpy.einsum("ij,j->i", known.rows, asked), 4)
            places: list[int] = numpy.argsort(-near, kind="stable")[:count].tolist()
        except Exception as error:  # noqa: BLE001 - an optimisation never turns an answer into an error
            self._give_up(error)
            return None
        return places

    def settle(self, seconds: float) -> None:
        """Wait until there is nothing more to learn, at most `seconds`."""
        with self._state:
            thread = self._thread
        if thread is not None:
            thread.join(seconds)

    def close(self) -> None:
        """Stop learning; what was saved stays."""
        self._closed.set()

    def _run(self) -> None:
        """Learn what is wanted until nothing is."""
        while True:
            with self._state:
                tools, self._wanted = self._wanted, None
                if tools is None or self._closed.is_set():
                    self._thread = None
                    return
            try:
                self._known = self._learned(tools)
            except Exception as error:  # noqa: BLE001 - without it the words alone answer
                self._give_up(error)

    def _learned(self, tools: Sequence[Tool]) -> _Known | None:
        """The vectors of `tools`, read or made; None when there are none or too many, or another catalog is wanted."""
        if not tools or len(tools) > policy.MEANING_TOOLS:
            return None
        numpy: Any = import_module("numpy")
        encode = self._encode = self._encode or self._load()
        vectors = read_vectors(self._path, self._model)
        wanted = {key_of(tool): tool for tool in tools}
        missing = sorted(wanted.keys() - vectors.keys())
        for start in range(0, len(missing), policy.MEANING_BATCH):
            if self._closed.is_set() or self._wanted is not None:
                self._save(vectors, wanted)
                return None
            batch = missing[start : start + policy.MEANING_BATCH]
            began = time.monotonic()
            vectors.update(zip(batch, self._rows(encode, [wanted[key] for key in batch]), strict=True))
            if start % policy.MEANING_SAVED_EVERY == 0:
                self._save(vectors, wanted)
            # As long as it worked it leaves the processor and the interpreter to the answers.
            self._closed.wait(time.monotonic() - began)
        if missing:
            self._save(vectors, wanted)
        return _Known(tools, numpy.array([vectors[key_of(tool)] for tool in tools], dtype=numpy.float32))

    def _rows(self, encode: Encode, tools: Sequence[Tool]) -> Any:
        """One row a tool, the mean of its two texts, rounded as it is kept: warm and cold rank the same."""
        numpy: Any = import_module("numpy")
        with self._encoding:
            made = encode([text for tool in tools for text in texts_of(tool)])
        return ((made[0::2] + made[1::2]) / 2).astype(numpy.float16)

    def _save(self, vectors: dict[str, Any], wanted: dict[str, Tool]) -> None:
        """Keep what this catalog needs, and what fits beside it of others that share the store."""
        room = max(0, 2 * policy.MEANING_TOOLS - len(wanted))
        others = sorted(vectors.keys() - wanted.keys())[:room]
        kept = {key: vectors[key] for key in (*wanted, *others) if key in vectors}
        try:
            write_vectors(self._path, self._model, kept)
        except OSError as error:
            self._log(f"what tools mean is not kept for the next start: {error.strerror or type(error).__name__}")

    def _give_up(self, error: Exception) -> None:
        """Say once what went wrong, and answer by words alone from here on."""
        if not self._closed.is_set():
            self._log(f"find_tool ranks by words alone: the model failed ({type(error).__name__})")
        self._known = None
        self._closed.set()
