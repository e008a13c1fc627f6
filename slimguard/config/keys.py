"""The table of every configuration key: the one source of the checks, the JSON Schema and the reference page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from slimguard import policy
from slimguard.model import Json, Mode
from slimguard.settings import Protocol

Type = Literal["object", "map", "string", "integer", "number", "boolean", "strings", "texts", "view"]
"""`map` has free keys (`*` in the table), `strings` is a list of strings, `texts` an object of strings."""

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Key:
    """One key: where it stands (`*` for a free name), its type, its default as the reference prints it, its meaning."""

    path: Path
    type: Type
    doc: str
    default: Json = None
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    above: float | None = None
    """Exclusive minimum."""
    expands: bool = False
    """Whether `${VAR}` and `${VAR:-default}` are replaced in it."""


def _budget(path: Path, whose: str) -> list[Key]:
    default = "the host profile's"
    return [
        Key(path, "object", f"What one answer {whose} may cost; what is not given stays as the host profile has it."),
        Key((*path, "tokens"), "integer", "Tokens, as the host's model counts them.", default, minimum=100),
        Key((*path, "bytes"), "integer", "Bytes of UTF-8.", default, minimum=400),
        Key((*path, "lines"), "integer", "Lines.", default, minimum=5),
        Key((*path, "line_chars"), "integer", "Characters of any one line.", default, minimum=40),
    ]


def _timeouts(path: Path, whose: str, inherited: str = "") -> list[Key]:
    start, soft, call = policy.START_SECONDS, policy.SOFT_SECONDS, policy.CALL_SECONDS
    return [
        Key(path, "object", f"Deadlines in seconds {whose}."),
        Key(
            (*path, "start_seconds"),
            "number",
            "How long a server may take to start and to list its tools.",
            inherited or start,
            above=0,
        ),
        Key(
            (*path, "soft_seconds"),
            "number",
            "After this, `call_tool` answers `still running` with a `result_ref`, counted from the request.",
            inherited or soft,
            above=0,
        ),
        Key(
            (*path, "call_seconds"),
            "number",
            "How long a call may take before its outcome is `unknown`.",
            inherited or call,
            above=0,
        ),
    ]


SERVER: Path = ("mcpServers", "*")
_OURS: Path = ("slimguard",)
_TOOL: Path = (*_OURS, "tools", "settings", "*")
_OVERRIDE: Path = (*_OURS, "servers", "*")

KEYS: tuple[Key, ...] = (
    Key((), "object", "The whole file: JSON, in which comments and trailing commas are allowed."),
    Key(("$schema",), "string", "Address or path of the JSON Schema, for editors; not read by slimguard."),
    Key(("mcpServers",), "map", "The MCP servers to guard, by name, as hosts write them.", {}),
    Key(SERVER, "object", "One server: either `command` or `url`. The name has letters, digits, `.`, `_`, `-` only."),
    Key(
        (*SERVER, "type"),
        "string",
        "Transport; left out, `command` means `stdio` and `url` means `http`, or `sse` "
        "when the path of the address ends in `/sse`. `streamable-http` and `streamableHttp` also mean `http`.",
        "by command or url",
        choices=("stdio", "http", "sse", "streamable-http", "streamableHttp"),
    ),
    Key((*SERVER, "command"), "string", "The program to start; searched on PATH when it has no slash.", expands=True),
    Key((*SERVER, "args"), "strings", "Its arguments.", [], expands=True),
    Key(
        (*SERVER, "env"),
        "texts",
        "Environment variables that it gets besides HOME, LOGNAME, PATH, SHELL, TERM and USER.",
        {},
        expands=True,
    ),
    Key(
        (*SERVER, "cwd"),
        "string",
        "Its working directory; a relative one counts from the file's directory.",
        "slimguard's own",
        expands=True,
    ),
    Key((*SERVER, "url"), "string", "Address of a remote server, `http://` or `https://`.", expands=True),
    Key((*SERVER, "headers"), "texts", "HTTP headers sent with every request to it.", {}, expands=True),
    Key((*SERVER, "disabled"), "boolean", "Leave the server out.", False),
    Key(_OURS, "object", "Everything that is slimguard's own.", {}),
    Key(
        (*_OURS, "mode"),
        "string",
        "`compact`: three tools. `extreme`: the same with shorter first views. `native`: "
        "the authorised tools under their own names, and `read_result`.",
        "compact",
        choices=get_args(Mode),
    ),
    Key(
        (*_OURS, "host"),
        "string",
        "The host profile; `auto` goes by the name that the host gives itself.",
        "auto",
        choices=("auto", *policy.HOSTS),
    ),
    *_budget((*_OURS, "budget"), "of ours"),
    Key((*_OURS, "tools"), "object", "Which tools are authorised, and what is different for some."),
    Key((*_OURS, "tools", "allow"), "strings", "Globs on `server/tool`; only what matches one is authorised.", ["*"]),
    Key(
        (*_OURS, "tools", "deny"), "strings", "Globs on `server/tool`; what matches one is not, whatever allows it.", []
    ),
    Key((*_OURS, "tools", "settings"), "map", "Settings by `server/tool`; a glob is allowed.", {}),
    Key(_TOOL, "object", "What is different for these tools."),
    *_budget((*_TOOL, "budget"), "of these tools"),
    Key(
        (*_TOOL, "view"),
        "view",
        '`auto`, `exact` (always the whole result) or `{"select": EXPRESSION}`, a JMESPath '
        "projection shown instead of the automatic view.",
        "auto",
    ),
    *_timeouts((*_TOOL, "timeouts"), "for these tools", "the server's"),
    Key((*_OURS, "flows"), "object", "Which server's results may be put into calls of other servers by reference."),
    Key(
        (*_OURS, "flows", "allow"),
        "strings",
        "`FROM -> TO`, each a glob on a server or on `server/tool`. Within one server every flow is allowed; between "
        "two servers only what matches one of these.",
        [],
    ),
    Key((*_OURS, "flows", "deny"), "strings", "`FROM -> TO` that is refused, whatever allows it.", []),
    Key((*_OURS, "store"), "object", "Where results are kept, and how long."),
    Key(
        (*_OURS, "store", "path"),
        "string",
        "The SQLite database; a relative path counts from the file's directory, `~` is the home directory.",
        "results.db in the user's data directory",
        expands=True,
    ),
    Key((*_OURS, "store", "ttl_seconds"), "number", "How long a result is kept.", policy.TTL_SECONDS, above=0),
    Key(
        (*_OURS, "store", "quota_bytes"),
        "integer",
        "Bytes of stored results before the oldest are evicted.",
        policy.QUOTA_BYTES,
        minimum=1,
    ),
    *_timeouts((*_OURS, "timeouts"), "for all servers"),
    Key((*_OURS, "calls"), "object", "How calls are made."),
    Key(
        (*_OURS, "calls", "join_within_ms"),
        "integer",
        "A call equal to one of the same session within this many "
        "milliseconds joins it instead of running again; 0 never joins.",
        0,
        minimum=0,
    ),
    Key(
        (*_OURS, "servers"), "map", "Settings of a server that hosts have no key for, by its name in `mcpServers`.", {}
    ),
    Key(_OVERRIDE, "object", "What is different for this server."),
    Key(
        (*_OVERRIDE, "protocol"),
        "string",
        "Protocol era: negotiated, or fixed for a server that negotiates badly.",
        "auto",
        choices=get_args(Protocol),
    ),
    *_timeouts((*_OVERRIDE, "timeouts"), "for this server", "those for all servers"),
)

BY_PATH: dict[Path, Key] = {key.path: key for key in KEYS}

IGNORED: dict[str, str] = {
    "alwaysAllow": "the host's own approval",
    "alwaysLoad": "the host's own loading",
    "auth": "the host's own sign-in",
    "autoApprove": "the host's own approval",
    "author": "a note",
    "description": "a note",
    "dev": "the host's own development mode",
    "displayName": "a note",
    "gallery": "a note",
    "icon": "a note",
    "name": "a note",
    "note": "a note",
    "oauth": "the host's own sign-in",
    "timeout": "the host's own timeout; ours are slimguard.servers.NAME.timeouts",
    "title": "a note",
    "trust": "the host's own approval",
    "version": "a note",
}
"""Keys of hosts in a server's entry that change nothing for us: taken, and said in the notes."""

REFUSED: dict[str, str] = {
    "disabledTools": 'write slimguard.tools.deny: ["SERVER/TOOL"]',
    "enabled": 'write "disabled": true for a server that is off',
    "enabledTools": 'write slimguard.tools.allow: ["SERVER/TOOL"]',
    "envFile": 'write each variable as "env": {"NAME": "${NAME}"}',
    "env_vars": 'write each variable as "env": {"NAME": "${NAME}"}',
    "environment": "write env",
    "excludeTools": 'write slimguard.tools.deny: ["SERVER/TOOL"]',
    "httpUrl": "write url",
    "includeTools": 'write slimguard.tools.allow: ["SERVER/TOOL"]',
    "serverUrl": 'write url and, for an old server, "type": "sse"',
    "transport": "write type",
    "transportType": "write type",
}
"""Keys of hosts in a server's entry that would change what runs or who may call it, and how to say it here."""


def children(path: Path) -> list[Key]:
    """The keys directly under `path` in the table, in its order."""
    return [key for key in KEYS if len(key.path) == len(path) + 1 and key.path[: len(path)] == path]


def dotted(path: Path) -> str:
    """A path of the table as the reference writes it."""
    return ".".join("NAME" if part == "*" else part for part in path)
