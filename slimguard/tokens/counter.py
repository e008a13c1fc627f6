"""Token counters: of o200k_base, and scaled to a host's model; never read the vocabulary before a count needs it."""

from __future__ import annotations

import math
from collections.abc import Callable

from slimguard.policy import (
    ESTIMATE_EXACT_CHARS,
    ESTIMATE_WINDOW_CHARS,
    ESTIMATE_WINDOWS,
    TOKEN_CHUNK_CHARS,
    TOKEN_MAX_BYTES,
)
from slimguard.ports import TokenCounter
from slimguard.tokens import cuts, pages
from slimguard.tokens.vocabulary import Vocabulary, shared_vocabulary

_WANTED_CHARS = TOKEN_CHUNK_CHARS * 3 // 4
_FIRST_CHARS = 2_048
_GOLDEN = (math.sqrt(5) - 1) / 2


class Tokens:
    """Counts tokens of o200k_base as text of a message, special tokens being ordinary text; from any thread.

    Counts are exact, except that a run of more than 64 K characters without any exact cut (see `cuts`) is counted in
    parts, which may differ by a token or two a part. Lone surrogates count as U+FFFD. Nothing raises for what a text
    contains, nor for a damaged vocabulary: then every byte counts as a token and `damage` says why.
    """

    def __init__(self, vocabulary: Callable[[], Vocabulary] = shared_vocabulary) -> None:
        self._open = vocabulary
        self._vocabulary: Vocabulary | None = None

    def load(self) -> None:
        """Load the vocabulary now, about 0.3 s once a process; meant for a worker thread after the start."""
        self._loaded()

    @property
    def damage(self) -> str:
        """Empty while the vocabulary is sound or not loaded yet, else one sentence of what is wrong with it."""
        return self._vocabulary.damage if self._vocabulary is not None else ""

    def count(self, text: str) -> int:
        """Exact number of tokens of `text`; 50 to 80 ms of processor time a megabyte."""
        if not text:
            return 0
        encode = self._loaded().encode
        total = start = 0
        while start < len(text):
            end, _ = cuts.next_cut(text, start, len(text), wanted=_WANTED_CHARS, most=TOKEN_CHUNK_CHARS)
            total += len(encode(text[start:end]))
            start = end
        return total

    def within(self, text: str, limit: int) -> bool:
        """Whether `text` has at most `limit` tokens; counts only as far as it needs, often nothing at all."""
        if limit < 0 or len(text) > limit * TOKEN_MAX_BYTES:
            return False
        if _bytes_fit(text, limit):
            return True
        encode = self._loaded().encode
        start, left, wanted = 0, limit, max(_FIRST_CHARS, limit * 4)
        while start < len(text):
            wanted = min(wanted, _WANTED_CHARS)
            end, _ = cuts.next_cut(text, start, len(text), wanted=wanted, most=TOKEN_CHUNK_CHARS)
            left -= len(encode(text[start:end]))
            start = end
            if len(text) - start > max(0, left) * TOKEN_MAX_BYTES:
                return False
        return left >= 0

    def estimate(self, text: str) -> int:
        """Number of tokens: exact up to 16 K characters, above from samples, within a few per cent as a rule.

        The same text gives the same number; 10 MB take no longer than 100 KB.
        """
        if len(text) <= ESTIMATE_EXACT_CHARS:
            return self.count(text)
        encode = self._loaded().encode
        stride = len(text) / ESTIMATE_WINDOWS
        window = min(ESTIMATE_WINDOW_CHARS, int(stride))
        tokens = chars = 0
        for index in range(ESTIMATE_WINDOWS):
            # a different place in each stride, so that a period in the text is not met in step
            place = int((index + index * _GOLDEN % 1) * stride)
            begin = min(place, len(text) - window)
            start, _ = cuts.next_cut(text, begin, begin + window, wanted=0, most=window // 2)
            end, _ = cuts.next_cut(text, start, len(text), wanted=window, most=window * 2)
            tokens += len(encode(text[start:end]))
            chars += end - start
        return round(tokens * len(text) / chars)

    def page_end(
        self,
        text: str,
        start: int,
        limit: int,
        *,
        cut_lines: bool = True,
        max_bytes: int | None = None,
        max_lines: int | None = None,
    ) -> int:
        """End of the longest page of `text[start:]` within `limit` tokens, `max_bytes` and `max_lines`; see the port.

        Encodes about one page's worth of text, however long the rest is, and nothing when its bytes decide.
        """
        if start >= len(text):
            return len(text)
        bound = pages.outer_bound(text, start, limit, max_bytes, max_lines)
        if bound <= start:
            return cuts.whole_character(text, start, start + 1)
        if bound - start <= limit and _bytes_fit(text[start:bound], limit):
            return pages.fitting_end(text, start, bound, cut_lines=cut_lines)
        return pages.find_end(self._loaded(), text, start, bound, limit, cut_lines=cut_lines)

    def _loaded(self) -> Vocabulary:
        if self._vocabulary is None:
            self._vocabulary = self._open()
        return self._vocabulary


class HostTokens:
    """Tokens of a host's model, which makes `factor` times as many of the same text as `counter` counts.

    `factor` is taken in thousandths; counts are rounded up and limits down, so that `within(text, count(text))` holds
    and no page is over its limit.
    """

    def __init__(self, counter: TokenCounter, factor: float) -> None:
        self._counter = counter
        self._thousandths = round(factor * 1000)
        if self._thousandths < 1:
            raise ValueError(f"a token factor must be positive, not {factor}")

    def count(self, text: str) -> int:
        """Number of the host's tokens of `text`, rounded up."""
        return self._scaled(self._counter.count(text))

    def within(self, text: str, limit: int) -> bool:
        """Whether `count(text)` is at most `limit`; counts only as far as it needs."""
        return self._counter.within(text, self._limit(limit))

    def estimate(self, text: str) -> int:
        """Approximate number of the host's tokens of `text`."""
        return self._scaled(self._counter.estimate(text))

    def page_end(
        self,
        text: str,
        start: int,
        limit: int,
        *,
        cut_lines: bool = True,
        max_bytes: int | None = None,
        max_lines: int | None = None,
    ) -> int:
        """End of the longest page of `text[start:]` within `limit` of the host's tokens; see the port."""
        return self._counter.page_end(
            text, start, self._limit(limit), cut_lines=cut_lines, max_bytes=max_bytes, max_lines=max_lines
        )

    def _scaled(self, tokens: int) -> int:
        return -(-tokens * self._thousandths // 1000)

    def _limit(self, tokens: int) -> int:
        return tokens * 1000 // self._thousandths


def _bytes_fit(text: str, limit: int) -> bool:
    """Whether `text` has at most `limit` bytes of UTF-8, which are never fewer than its tokens."""
    if len(text) > limit:
        return False
    if len(text) * 4 <= limit or text.isascii():
        return True
    return len(text.encode("utf-8", "surrogatepass")) <= limit
