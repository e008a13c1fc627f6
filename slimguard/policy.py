"""Every number of the product, each with a sentence of why; never logic beyond looking one up."""

from __future__ import annotations

from dataclasses import dataclass

from slimguard.model import Budget

VIEW_BUDGET = Budget(tokens=2_000, bytes=8_000, lines=200, line_chars=2_000)
"""Inline results and first views: the strictest hosts cut at 10 KB or 256 lines with the middle lost."""

EXTREME_VIEW_BUDGET = Budget(tokens=700, bytes=2_800, lines=80, line_chars=1_000)
"""First views in mode `extreme`: a third, for hosts whose context is small."""

PAGE_BUDGET = Budget(tokens=4_000, bytes=16_000, lines=400, line_chars=4_000)
"""Pages that someone asked for: twice a view, since the whole page was wanted."""

STRICT_PAGE_BUDGET = VIEW_BUDGET
"""Pages on hosts that cut at about 10 KB whatever was asked for."""

DISCOVERY_BUDGET = Budget(tokens=4_000, bytes=16_000, lines=200, line_chars=16_000)
"""A whole `find_tool` answer: three complete schemas of ordinary size fit."""

SCHEMA_TOKENS = 1_500
"""One input schema above this is replaced by its signature and a ref to read it by."""

ERROR_BUDGET = Budget(tokens=1_000, bytes=4_000, lines=60, line_chars=1_000)
"""Errors of ours: the reason, five validation errors and one next call."""

PARSE_LIMIT_BYTES = 16 * 1024 * 1024
"""A result up to this is parsed; above it is stored, searched and paged as text (DESIGN §4c)."""

MESSAGE_LIMIT_BYTES = 128 * 1024 * 1024
"""The largest message that an upstream may send; a larger one is an error that says that the tool ran."""

CHUNK_BYTES = 64 * 1024
"""Chunk of a snapshot with its own digest: 10 MB write in 40 ms, a page reads in 0.01 ms (FACTS §4)."""

TTL_SECONDS = 7 * 24 * 3600
"""Time to live of a stored result, fixed at creation."""

QUOTA_BYTES = 1024 * 1024 * 1024
"""Bytes of stored results before the oldest are evicted."""

SOFT_SECONDS = 45.0
"""`call_tool` answers `still running` after this at the latest: hosts cut at 60 s (Codex, Cline)."""

HOST_MARGIN_SECONDS = 10.0
"""How long before a host's own timeout we answer."""

CALL_SECONDS = 3_600.0
"""An upstream may take this long before the outcome is `unknown`."""

START_SECONDS = 30.0
"""An upstream may take this long to start and to list its tools."""

PROBE_SECONDS = 3.0
"""How long `server/discover` may stay unanswered before the server is taken for a legacy one."""

CONNECT_WAIT_SECONDS = 10.0
"""How long `find_tool` waits for servers that have no kept catalog and are still connecting."""

SHUTDOWN_SECONDS = 2.0
"""After stdin closed or a signal: calls in flight and children get this long, together."""

HELD_BYTES = 64 * 1024 * 1024
"""Answers held in memory because the store refused them after a ref had been given."""

MEDIA_BYTES = 1024 * 1024
"""Images and audio passed on behind a view, in all."""

RECENT_RESULTS = 20
"""How many recent results one answer lists."""

JOINED_REFS = 16
"""How many refs one read may join with `+`."""

FOUND_TOOLS = 3
"""How many tools `find_tool` returns at most."""

ANALYSED_DESCRIPTION_CHARS = 1_440
"""How much of a description the ranking reads: what a tool does stands at its beginning, stuffing comes late."""

ANALYSED_LEAD_CHARS = 240
"""The longest first sentence that counts as one."""

ANALYSED_NAME_CHARS = 160
"""How much of a name, a title or a server's name the ranking reads."""

ANALYSED_PARAMETERS = 60
"""How many parameters of one tool the ranking reads, nested ones included."""

ANALYSED_DETAIL_CHARS = 2_000
"""How much of the parameters' descriptions the ranking reads, in all."""

ANALYSED_REPEATS = 3
"""How many times one word of one field counts: repeating it further gains nothing."""

QUERY_CHARS = 600
"""How much of a query the ranking reads."""

QUERY_WORDS = 60
"""How many words of a query the ranking weighs; a step is far shorter, a pasted page would only cost time."""

DOCUMENT_CACHE_BYTES = 64 * 1024 * 1024
"""Parsed results kept between reads, by size of their text."""


@dataclass(frozen=True, slots=True)
class HostProfile:
    """How one host treats answers: `token_factor` scales o200k_base counts to its model's tokens, `strict` hosts cut
    pages at 10 KB, `call_seconds` is its own timeout of a tool call, or None when it has none."""

    name: str
    token_factor: float = 1.0
    strict: bool = False
    call_seconds: float | None = 60.0
    always_load: bool = False


HOSTS: dict[str, HostProfile] = {
    profile.name: profile
    for profile in (
        HostProfile("default"),
        HostProfile("claude-code", token_factor=1.3, call_seconds=None, always_load=True),
        HostProfile("claude-desktop", token_factor=1.3, call_seconds=240.0),
        HostProfile("codex", strict=True, call_seconds=60.0),
        HostProfile("copilot-cli", strict=True),
        HostProfile("cursor"),
        HostProfile("vscode"),
        HostProfile("gemini-cli", call_seconds=600.0),
        HostProfile("windsurf"),
        HostProfile("opencode"),
        HostProfile("cline"),
        HostProfile("zed"),
        HostProfile("goose"),
    )
}
"""Host profiles by name; the client's name at initialise or the configuration picks one (FACTS §6)."""
