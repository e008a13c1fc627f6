"""One server of a host in the words of `slimguard.json`, for the many hosts that share the `mcpServers` form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from slimguard.install.model import Imported
from slimguard.install.variables import Translate, variable_name
from slimguard.jsonc import list_of, object_of
from slimguard.model import Json

_TYPES = {
    "stdio": "stdio",
    "local": "stdio",
    "http": "http",
    "streamable-http": "http",
    "streamableHttp": "http",
    "streamable_http": "http",
    "remote": "http",
    "sse": "sse",
}


def standard(
    name: str,
    raw: Mapping[str, Json],
    translate: Translate,
    *,
    known: Sequence[str] = (),
    url_type: str = "",
) -> Imported:
    """A server written as `command`/`args`/`env`/`cwd` or `url`/`headers`.

    `known` are further keys that the host's module handles itself; others are named in a note. `url_type` is what an
    address without a `type` means for this host.
    """
    notes: list[str] = []
    entry: dict[str, Json] = {}
    kind = raw.get("type")
    if isinstance(kind, str) and kind not in _TYPES:
        return Imported(name, {}, unsupported=f"its type is not one that slimguard connects to ({kind[:20]})")
    if isinstance(raw.get("command"), str) and not (isinstance(kind, str) and _TYPES[kind] != "stdio"):
        entry = _local(name, raw, translate, notes)
    elif isinstance(raw.get("url"), str):
        entry = _remote(raw, translate, notes, _TYPES[kind] if isinstance(kind, str) else url_type)
    if not entry:
        return Imported(name, {}, unsupported="it has neither a command nor an address")
    if raw.get("disabled") is True:
        entry["disabled"] = True
    handled = {"type", "command", "args", "env", "cwd", "url", "headers", "disabled", "envFile", *known}
    notes += [f"{key} is the host's own and is not taken over" for key in raw if key not in handled]
    env_file = raw.get("envFile")
    return Imported(
        name,
        entry,
        notes=tuple(dict.fromkeys(notes)),
        env_file=translate(env_file, "ENV_FILE", []) if isinstance(env_file, str) else "",
        ours=starts_us(raw.get("command"), raw.get("args")),
    )


def starts_us(command: Json, args: Json) -> bool:
    """Whether a command line starts slimguard, directly or through a launcher such as uvx."""
    if not isinstance(command, str):
        return False
    words = [word for word in (command, *list_of(args)) if isinstance(word, str)]
    names = [word.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".exe") for word in words]
    return "slimguard" in names and "serve" in words


def texts(value: Json, prefix: str, translate: Translate, notes: list[str]) -> dict[str, Json]:
    """An object of strings (env, headers), translated; other values are written as text, as hosts do."""
    items = object_of(value).items()
    return {key: translate(_text(item), f"{prefix}{key}", notes) for key, item in items if item is not None}


def only_strings(value: Json) -> list[str]:
    """The strings of a list, or nothing."""
    return [item for item in list_of(value) if isinstance(item, str)]


def _local(name: str, raw: Mapping[str, Json], translate: Translate, notes: list[str]) -> dict[str, Json]:
    hint = variable_name(name)
    entry: dict[str, Json] = {"command": translate(raw["command"], f"{hint}_COMMAND", notes)}
    if args := list_of(raw.get("args")):
        entry["args"] = [translate(_text(item), f"{hint}_ARGUMENT", notes) for item in args]
    if env := texts(raw.get("env"), "", translate, notes):
        entry["env"] = env
    if isinstance(raw.get("cwd"), str):
        entry["cwd"] = translate(raw["cwd"], f"{hint}_CWD", notes)
    return entry


def _remote(raw: Mapping[str, Json], translate: Translate, notes: list[str], kind: str) -> dict[str, Json]:
    entry: dict[str, Json] = {"type": kind} if kind else {}
    entry["url"] = translate(raw["url"], "SERVER_URL", notes)
    if headers := texts(raw.get("headers"), "", translate, notes):
        entry["headers"] = headers
    return entry


def _text(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)
