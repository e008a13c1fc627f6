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

FIND_QUERY_CHARS = 600
"""How much of a query the ranking reads."""

QUERY_WORDS = 60
"""How many words of a query the ranking weighs; a step is far shorter, a pasted page would only cost time."""

TOKEN_MAX_BYTES = 128
"""The longest token of o200k_base: a text has at least a 128th of its bytes in tokens, and at most its bytes."""

TOKEN_CHUNK_CHARS = 64 * 1024
"""Characters encoded in one go: the encoder panics on a million blanks and gets slow on long runs (FACTS §3)."""

ESTIMATE_EXACT_CHARS = 16 * 1024
"""Token estimates of texts up to this are exact counts, 1 to 2 ms."""

ESTIMATE_WINDOWS = 16
"""Longer texts are sampled in so many places, spread evenly, so that a list after a long header is seen."""

ESTIMATE_WINDOW_CHARS = 3 * 1024
"""Characters of one sample; all of them together take about 5 ms."""

DOCUMENT_CACHE_BYTES = 64 * 1024 * 1024
"""Parsed results kept between reads, by size of their text."""

FRAME_TOKENS = 260
"""Room that a view leaves for its header and footer; a longer header takes it from the body."""

FRAME_BYTES = 1_100
"""The same in bytes."""


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

STORE_BUSY_SECONDS = 10.0
"""How long a write waits for another process's lock before the store counts as unavailable."""

STORE_BATCH_BYTES = 4 * 1024 * 1024
"""Bytes of one snapshot written in one transaction: above it, intents of other calls may go in between (20 ms)."""

STORE_GROUP_BYTES = 256 * 1024
"""Bytes that writes waiting at the same time may share one commit with: more would make the intents among them wait."""

STORE_GROUP_WRITES = 64
"""How many waiting writes share one commit: a burst of calls costs one flush of the disk, not one each."""

STORE_READERS = 3
"""Threads that read the store; more would only wait for the same two cores."""

STORE_KEEPERS = 4
"""Threads that hash, hand over and verify snapshots while the writer writes: two large ones leave room for small."""

STORE_WAL_BYTES = 4 * 1024 * 1024
"""The write-ahead log is copied back, off the answer's path, once so much was written since the last time."""

STORE_LOOK_BYTES = 1024 * 1024
"""After so many new bytes, or a sixteenth of the quota, the quota and the log are looked at: not after each result."""

STORE_COMMIT_BYTES = 24 * 1024
"""What a commit of ours writes to the log beside its bytes: about six pages of tables and indexes."""

STORE_JOURNAL_LIMIT_BYTES = 16 * 1024 * 1024
"""The write-ahead log's file is cut to this when it starts again."""

STORE_LOG_PRESSURE_BYTES = 160 * 1024 * 1024
"""Above this the next large snapshot first copies the log back: one message of the largest size stays below."""

STORE_RESTART_MILLISECONDS = 100
"""A write-ahead log over its limit waits this long for other writers and readers, so that it can begin anew."""

STORE_LEASE_SECONDS = 30.0
"""A reader that was idle for this long gives its view of the database back, so that the log can be copied back."""

STORE_CLOSE_SECONDS = 1.0
"""Closing waits this long for the writer; what is committed is safe without it."""

STORE_GC_STEP_ROWS = 64
"""Calls that one step of retention expires or evicts, so that no write waits long for it."""

STORE_GC_STEP_BYTES = 32 * 1024 * 1024
"""Stored bytes that one step of retention removes at most (one snapshot more is allowed)."""

STORE_GC_SECONDS = 60.0
"""How often expiry and tombstones are looked at when nothing else asks for it."""

STORE_TOMBSTONE_SECONDS = 30 * 24 * 3600
"""How long `expired` and `evicted` are remembered after the time to live, before a ref is `not found`."""

STORE_TOMBSTONE_ROWS = 50_000
"""How many rows without bytes are remembered at most, oldest forgotten first."""

STORE_CATALOG_SECONDS = 30 * 24 * 3600
"""How long a server's kept catalog outlives its last save."""

STORE_REMEMBERED_CALLS = 4_000
"""Calls of this process whose row is also held in memory, so that their answer can be stored when the row is lost."""

QUERY_CHARS = 20_000
"""A longer query is no question; JMESPath and SQL have shorter limits of their own."""

QUERY_LINES = 12
"""Queries answered in one read: more would leave each too little of the one budget."""

NOTIFICATION_LIMIT_BYTES = 1024 * 1024
"""Params of an upstream's notification above this are not read: progress and list changes are small."""

THREAD_SPLIT_BYTES = 256 * 1024
"""An upstream message above this is taken apart in a worker thread, so that other servers are not kept waiting."""

SEND_WAIT_SECONDS = 5.0
"""`start` returns after this even when the upstream has not taken the whole request: the execution goes on."""

PROGRESS_SECONDS = 1.0
"""How long an answer may wait for the progress that came before it, when the host takes that slowly."""

CANCEL_SECONDS = 30.0
"""A cancelled call whose server says nothing more is `unknown` after this; a later answer is still stored."""

STDERR_LINES = 20
"""Lines of a server's stderr that are kept to explain why it failed."""

STDERR_BYTES = 8 * 1024
"""Bytes of a server's stderr that are kept to explain why it failed."""

EOF_SECONDS = 0.4
"""How long a child may take to leave after its stdin was closed, before SIGTERM."""

TERM_SECONDS = 0.3
"""How long a child may take to leave after SIGTERM, before SIGKILL; with EOF_SECONDS a third of SHUTDOWN_SECONDS."""

HURRIED_SECONDS = 0.1
"""The same two waits for a child whose call did not end within a shutdown: it has had its time."""

RECONNECT_SECONDS = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0)
"""Waits between attempts to reach a server that keeps failing; the last one is kept."""

RECONNECT_STDIO_ATTEMPTS = 5
"""A command that failed this often in a row is started again only when a call asks for it."""

STEADY_SECONDS = 10.0
"""A connection that lived this long was a good one: after it, reconnecting starts over without a wait."""

LISTING_PAGES = 1_000
"""Pages of one `tools/list`; a server that goes on for longer is cut here."""

LISTING_TOOLS = 10_000
"""Tools taken from one server; more than any known catalog."""

DEFINITION_BYTES = 2 * 1024 * 1024
"""One tool definition above this is skipped: the fattest schema seen is 0.3 MB."""

DEFINITION_DEPTH = 200
"""A tool definition nested deeper is skipped: nobody could validate or show it."""

TOOL_NAME_CHARS = 256
"""A tool with a longer name is skipped: the protocol allows 128, and each answer would have to repeat it."""

RETAINED_BYTES = 32 * 1024 * 1024
"""Answers of finished calls kept in memory for whoever still waits; the store has them as well."""

REMEMBERED_RUNS = 2_000
"""Finished executions whose state is answered from memory; older ones are the ledger's to know."""

RESUME_ATTEMPTS = 5
"""How often a broken event stream is taken up again with `Last-Event-ID` before its call is `unknown`."""

RESUME_SECONDS = 1.0
"""Wait before an event stream is taken up again when the server did not say how long."""

RESUME_MAX_SECONDS = 30.0
"""A server may not ask us to wait longer than this before an event stream is taken up again."""

READER_CACHE_BYTES = 96 * 1024 * 1024
"""Folded texts and tables kept between reads: the second search or `sql:` on a result costs a fifth of the first."""

NOTE_TOKENS = 300
"""Of a note that stands above a view, such as why a `result_query` failed; the view gets what is left."""

NOTE_BYTES = 1_200
"""The same in bytes."""

REASON_CHARS = 300
"""Of the reason why a server is down, in the map; `doctor` tells it whole."""

MAP_LINES = 40
"""Lines of the map of servers that `find_tool` prints without a query or a match."""

LOW_CONFIDENCE_MAP_LINES = 12
"""Lines of the map below matches of low confidence."""

DESCRIPTION_TOKENS = 400
"""Of a tool's description, where it would else push a schema out of `find_tool`'s answer."""

DESCRIPTION_LINES = 40
"""The same in lines; also of a server's instructions."""

INSTRUCTIONS_TOKENS = 400
"""Of a server's own instructions, given once a session."""

SIGNATURE_CHARS = 2_400
"""A schema too fat to show is given as a signature of this length."""

HTTP_BODY_BYTES = 64 * 1024 * 1024
"""Largest request body over HTTP: arguments may carry a whole document."""

KEPT_LOAD_SECONDS = 3.0
"""The first question waits this long for the kept catalog and is answered from it; loading takes about 30 ms."""

LISTED_WAIT_SECONDS = 1.0
"""Upstreams are started when `tools/list` was answered, or after this, so that the start is not shared with them."""

INLINE_WORK_BYTES = 1_500
"""A result up to this is parsed and delivered at once: handing it to a thread costs more, and so few bytes fit any
budget without counting their tokens."""

KEPT_CHECKERS = 512
"""Compiled input schemas kept by their definition's digest."""

GC_THRESHOLD = 20_000
"""New containers between two looks of the garbage collector: parsing a result makes many, none of them in cycles."""

MMAP_THRESHOLD_BYTES = 4 * 1024 * 1024
"""Blocks from this size on are given back to the system when they are freed, where the C library can be told so."""

COMPUTE_THREADS = 4
"""Worker threads for parsing, views and queries."""

LARGE_COMPUTE_THREADS = 8
"""Further worker threads for work that may take seconds, so that no small work waits for it."""

LARGE_WORK_BYTES = 512 * 1024
"""Reading results of this size, together, is large work: a query of them may take a second."""

RELIST_SECONDS = 1.0
"""Wait after a changed listing was read: a server that announces a change at every listing gets no loop."""

SEARCH_WINDOW_CHARS = 16 * 1024 * 1024
"""A text larger than this is searched window by window, so that no folded copy of all of it is made."""

SEARCH_TOKENS = 700
"""A first answer to a search: the best hits and the total; the rest follows by cursor."""

SEARCH_SPANS = 20_000
"""Hits of one word that are looked at; more are counted only."""

REGEX_CHARS = 1_000
"""Longest pattern."""

REGEX_PROGRAM = 4_000
"""Largest compiled pattern, in instructions of the engine: its time is at most this times the text."""

QUERY_SECONDS = 1.5
"""Processor time of one query before it stops with what it has, or with an error that says so."""

NATIVE_NAME_CHARS = 50
"""Tool names in native mode: Cursor hides a tool when the server's and its own name exceed 60 characters together."""

RELOAD_SECONDS = 2.0
"""How often the configuration file is looked at for changes."""

OUTLINE_TOKENS = 1_200
"""A first outline; the rest follows by cursor."""

NATIVE_LIST_SECONDS = 3.0
"""Native mode without a kept catalog waits this long for tools before it lists what there is; hosts allow 5 s."""

SELECT_CHARS = 4_000
"""Longest JMESPath expression."""

SELECT_EXPANSION = 512
"""How often an expression may repeat its value: 149 characters can make 2^25 copies (FACTS §5)."""

SELECT_ITEMS = 2_000_000
"""Elements of a list that an expression may build."""

SQL_CHARS = 8_000
"""Longest SELECT."""

SQL_ROWS = 10_000
"""Rows of one `sql:` answer that are fetched; an answer shows what its budget allows."""

SQL_BYTES = 8 * 1024 * 1024
"""Bytes of one `sql:` answer that are fetched."""

SQL_CELL_BYTES = 16 * 1024 * 1024
"""Largest text that SQL may make or hold."""

SQL_MEMORY_BYTES = 256 * 1024 * 1024
"""How much the process may grow while one SELECT runs: sorts and recursive queries could reach gigabytes."""

REGEX_SECONDS = 1.0
"""Time that a pattern may run over a result; what was found by then is shown and called a lower bound."""

LISTING_BYTES = 64 * 1024 * 1024
"""Tool definitions of one server, in all; a listing that goes on beyond is cut here."""

HTTP_CONNECTIONS = 128
"""Connections to one HTTP server at once: far below the usual limit of open files, far above what calls need."""

HTTP_KEEPALIVE_SECONDS = 2.0
"""An idle connection is not used again after this: servers close theirs after 5 s, and a call that meets the closing
would be `unknown` for no good reason."""

REFERENCES = 64
"""References in the arguments of one call, nested ones included; no write needs more, and a thousand are a mistake."""

REFERENCE_DEPTH = 4
"""References inside the edits of references: a merge needs two levels."""

REFERENCE_BYTES = 32 * 1024 * 1024
"""Bytes that references may put into one call, in all: half of what the guard takes over HTTP, far above a page."""

ARGUMENT_DEPTH = 200
"""Arguments nested deeper are not searched for references."""

EDITS = 200
"""Edits of one reference, applied one after the other."""

EDIT_WORK_CHARS = 200_000_000
"""Characters that the edits of one reference go over, together: 40 edits of 5 MB, about ten seconds at the worst."""

EDIT_PLACES = 100_000
"""Places that one edit may change at once."""

EDIT_STEPS = 3_000_000
"""Steps of one JMESPath search for places: about three seconds at the worst, then it is an error."""

EDIT_CHARS = 1_000
"""Longest JMESPath expression that addresses places."""

NEAREST_LOOKED_AT = 2_000_000
"""Characters of a text in which the nearest match of a failed edit is looked for; about half a second."""

NEAREST_CHARS = 200
"""Of the nearest match so much is shown in the error."""

AUDIT_BYTES = 8 * 1024 * 1024
"""The audit record begins a new file at this size and keeps one old one, so that it never fills a disk."""

AUDIT_LOOK_SECONDS = 1.0
"""How often the audit record is opened anew, to see whether it is full or was put aside by another process."""

FUSED_TOOLS = 20
"""So many tools of the ranking by words are weighed again by what they mean, when the model is installed."""

MEANING_NEAREST = 20
"""So many tools, nearest in meaning first, may gain from it."""

MEANING_WEIGHT = 0.25
"""What being nearest in meaning is worth, beside 1 for being best by words; 0.2 to 0.3 rank the same."""

MEANING_RANKS = 5
"""At this place in the order by meaning the gain is halved."""

MEANING_TOOLS = 5_000
"""A catalog of more tools is ranked by words alone: to learn one tool costs about 4 ms of processor time."""

MEANING_BATCH = 4
"""Tools that are learned at a time; a query that comes meanwhile waits for one such batch."""

MEANING_SAVED_EVERY = 200
"""After so many newly learned tools what is known is saved, so that an early end does not lose it all."""

MEANING_LEAD_CHARS = 160
"""Of a description the first sentence is learned, at most so much: what a tool does stands there."""
