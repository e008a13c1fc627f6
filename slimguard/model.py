"""The vocabulary of values that every layer shares; frozen data only, never behaviour that does I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeGuard

Json = Any
"""A parsed JSON value: None, bool, int, float, str, list or dict with string keys, as `json.loads` makes it."""

JsonObject = Mapping[str, Any]


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a parsed JSON value is an object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[Any]]:
    """Whether a parsed JSON value is an array."""
    return isinstance(value, list)


Ran = Literal["no", "yes", "unknown"]
"""Whether the upstream tool ran, as every error of ours says it (`tool ran: …`)."""

Mode = Literal["compact", "extreme", "native"]

AnswerKind = Literal["result", "error", "illegal"]
"""What an upstream answered: a JSON-RPC `result`, a JSON-RPC `error`, or something that is neither."""

CallState = Literal["running", "stored", "held", "failed", "unknown"]
"""Where one execution is. `held`: answered, but the store refused it and the bytes live in memory."""

RefState = Literal["still running", "stored", "failed", "unknown", "expired", "evicted", "malformed", "not found"]
"""The state of a `result_ref` in the words that an answer prints (DESIGN §4b)."""

ServerState = Literal["connecting", "ready", "unavailable", "disabled"]


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool of one upstream, as its server defined it.

    `definition` is the whole parsed definition and is never edited. `digest` is the hex BLAKE3 of its
    canonical form (`canonical.definition_digest`), from which the six digits of `tool_ref` are made.
    """

    server: str
    name: str
    definition: JsonObject
    digest: str

    @property
    def id(self) -> str:
        """`server/tool`, what allow and deny globs are matched against."""
        return f"{self.server}/{self.name}"

    @property
    def pin(self) -> str:
        """Six decimal digits of the definition's digest: two tokens, where six hexadecimal digits are four."""
        return f"{int.from_bytes(self.digest[:16].encode()) % 999_983:06}"  # a prime: every byte counts

    @property
    def ref(self) -> str:
        """The `tool_ref`: readable, and pinned to the definition."""
        return f"{self.server}/{self.name}#{self.pin}"

    @property
    def input_schema(self) -> Json:
        """The original input schema, whatever JSON value the server put there."""
        return self.definition.get("inputSchema", {})

    @property
    def title(self) -> str:
        """The display name, from `title` or `annotations.title`, or empty."""
        title = self.definition.get("title") or self.annotations.get("title")
        return title if isinstance(title, str) else ""

    @property
    def description(self) -> str:
        """The description, or empty."""
        text = self.definition.get("description")
        return text if isinstance(text, str) else ""

    @property
    def annotations(self) -> JsonObject:
        """The annotations object, or an empty one."""
        value = self.definition.get("annotations")
        return value if is_object(value) else {}

    @property
    def read_only(self) -> bool:
        """Whether the server marks the tool `readOnlyHint: true`. A hint, so it never widens authority."""
        return self.annotations.get("readOnlyHint") is True


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """What is known of one upstream now; `reason` says why it is not ready, and what to do."""

    name: str
    state: ServerState
    reason: str = ""
    title: str = ""
    version: str = ""
    protocol: str = ""
    instructions: str = ""
    tools: int = 0
    skipped: tuple[str, ...] = ()
    """One line for each tool definition that could not be read, and why."""
    offers: tuple[str, ...] = ()
    """Capabilities beyond tools that the server declared, such as `prompts` and `resources`."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What an upstream said to one `tools/call`: the exact bytes of the `result` (or `error`) value, or, when
    the message could not be read as JSON-RPC, of the whole message."""

    kind: AnswerKind
    raw: bytes
    note: str = ""
    """For `illegal`: what was wrong with it, without quoting it."""


@dataclass(frozen=True, slots=True)
class Execution:
    """One intended `tools/call`: everything that the ledger and the upstream need, fixed before the send."""

    ref: str
    owner: str
    scope: str
    """Groups "recent results": the configuration file's identity."""
    tool: Tool
    arguments: JsonObject
    arguments_digest: str
    created_at: float
    """Seconds since the epoch, UTC."""
    expires_at: float
    call_seconds: float
    """How long the upstream may take before the outcome is `unknown`."""
    meta: JsonObject = field(default_factory=lambda: {})
    """Passed on in `params._meta` (trace context); never stored."""
    spelled: Mapping[tuple[str | int, ...], str] = field(default_factory=lambda: {}, repr=False)
    """JSON of values in `arguments`, by path, that must be sent as they are spelled: numbers keep their digits."""


@dataclass(frozen=True, slots=True)
class StoredCall:
    """One row of the ledger, without its bytes."""

    ref: str
    owner: str
    scope: str
    server: str
    tool: str
    tool_digest: str
    state: RefState
    created_at: float
    expires_at: float
    finished_at: float | None = None
    kind: AnswerKind | None = None
    size: int | None = None
    """Bytes of the stored value."""
    digest: str | None = None
    """Hex BLAKE3 manifest digest of the stored value."""
    is_error: bool = False
    note: str = ""
    """Why the call failed or is unknown: names, states and sizes, never content."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What `Calls.wait` knows of one execution when it returns.

    `answer` is there as soon as the upstream answered. `stored` is there when the snapshot is committed and
    was read back verified; an answer without it is delivered exactly and without a ref (P4).
    """

    ref: str
    state: CallState
    answer: Answer | None = None
    stored: StoredCall | None = None
    ran: Ran = "unknown"
    reason: str = ""
    joined: bool = False


@dataclass(frozen=True, slots=True)
class Budget:
    """What one answer may cost: tokens (host's), UTF-8 bytes, lines, and characters of any one line."""

    tokens: int
    bytes: int
    lines: int | None = 200
    line_chars: int | None = 2_000


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, and how the host at the other end wants to be answered."""

    owner: str
    scope: str
    session: str
    host: str
    """Name of the host profile in `policy.HOSTS`."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a tool of ours answers to the host.

    Exactly one of `text` (one text block of ours) or `exact` (the upstream's parsed `result`, delivered as it
    is) is set. `media` are upstream content blocks (images, audio) that follow our text.
    """

    text: str | None = None
    exact: JsonObject | None = None
    media: Sequence[JsonObject] = ()
    is_error: bool = False
