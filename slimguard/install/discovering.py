"""Which servers the user's hosts already have, and a `slimguard.json` that holds them; reads hosts' files, never
writes one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from slimguard.install import jsonc_edit
from slimguard.install.applying import read_file
from slimguard.install.hosts import HOSTS
from slimguard.install.model import NAME, Host, HostFile, HostFileRefused, Imported, Machine
from slimguard.install.planning import servers
from slimguard.jsonc import list_of, object_of
from slimguard.model import Json

_ENV_LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=")


@dataclass(frozen=True, slots=True)
class Discovered:
    """What one file of one host holds; `problem` says why it could not be read."""

    host: Host
    file: HostFile
    servers: tuple[Imported, ...] = ()
    problem: str = ""

    @property
    def has_us(self) -> bool:
        """Whether slimguard is already in it."""
        return any(server.ours or server.name == NAME for server in self.servers)


@dataclass(frozen=True, slots=True)
class Selection:
    """Servers to be written into a configuration under our names, and what is said about them."""

    servers: Mapping[str, Imported]
    left: tuple[Imported, ...] = ()
    """Servers that must or should stay in their host, each with its reason in `unsupported`."""
    notes: tuple[str, ...] = ()


def discover(machine: Machine, hosts: Iterable[Host] = tuple(HOSTS.values())) -> list[Discovered]:
    """Every existing file of every host with the servers in it."""
    found: list[Discovered] = []
    for host in hosts:
        for file in host.files(machine):
            one = _discovered(host, file, machine)
            if one is not None and one not in found:
                found.append(one)
    return found


def select(found: Sequence[Discovered], *, leave: Sequence[str] = ()) -> Selection:
    """One list of servers: equal ones once, different ones of the same name under the name and their host's."""
    chosen: dict[str, Imported] = {}
    left: list[Imported] = []
    notes: list[str] = []
    for server in (server for one in found for server in one.servers):
        if server.ours or server.name == NAME:
            continue
        if server.name in leave:
            server = replace(server, unsupported="left where it is, as asked")  # noqa: PLW2901
        if server.unsupported:
            left.append(server)
            continue
        name = our_name(server.name)
        if name in chosen and chosen[name].entry != server.entry:
            name = _free_name(f"{name}-{server.host}", chosen, server)
        if name not in chosen:
            chosen[name] = server
            notes += [f"{name}: {note}" for note in server.notes]
            if name != server.name:
                notes.append(f'{name}: is "{server.name}" in {server.host}')
    return Selection(chosen, tuple(left), tuple(dict.fromkeys(notes)))


def configuration(text: str, selection: Selection) -> tuple[str, list[str]]:
    """The text of `slimguard.json` with the selected servers added, and notes; what it already has stays as it is."""
    value = object_of(jsonc_edit.read(text))
    present = object_of(value.get("mcpServers"))
    notes: list[str] = []
    if "mcpServers" not in value:
        text = jsonc_edit.set_member(text, ("mcpServers",), {})
    for name, server in selection.servers.items():
        if name in present:
            if present[name] != server.entry:
                notes.append(f"{name}: the configuration already has a server of this name; it was kept")
            continue
        text = jsonc_edit.set_member(text, ("mcpServers", name), dict(server.entry))
    added = {name: server for name, server in selection.servers.items() if name not in present}
    return _with_rules(text, value, added, notes), notes


def covered(server: Imported, configured: Mapping[str, Json]) -> bool:
    """Whether the configuration has this server: the same command line or the same address."""
    return any(_identity(entry) == _identity(server.entry) for entry in configured.values())


def our_name(name: str) -> str:
    """The host's name in the characters that a name of ours may have."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-") or "server"


def variable_names(text: str) -> list[str]:
    """The names that a file of variables sets; never a value."""
    matches = (_ENV_LINE.match(line) for line in text.splitlines() if not line.lstrip().startswith("#"))
    return [match[1] for match in matches if match]


def literal_values(selection: Selection) -> int:
    """How many literal environment values and headers are copied, which may be secrets."""
    return sum(
        1
        for server in selection.servers.values()
        for key in ("env", "headers")
        for value in object_of(server.entry.get(key)).values()
        if isinstance(value, str) and "${" not in value
    )


def _discovered(host: Host, file: HostFile, machine: Machine) -> Discovered | None:
    try:
        read = read_file(Path(file.path))
        if not read.existed:
            return None
        found = [_complete(server, machine) for server in servers(host, file, read.text, machine)]
    except HostFileRefused as refused:
        return Discovered(host, file, problem=str(refused))
    return Discovered(host, file, tuple(found))


def _complete(server: Imported, machine: Machine) -> Imported:
    """Make a relative directory absolute, and name the variables of the host's own file of them."""
    entry = dict(server.entry)
    cwd = entry.get("cwd")
    if isinstance(cwd, str) and not cwd.startswith(("/", "~", "$", "\\")) and ":" not in cwd:
        entry["cwd"] = str(machine.cwd / cwd)
    if not server.env_file:
        return replace(server, entry=entry)
    try:
        names = variable_names(read_file(Path(str(machine.cwd / server.env_file))).text)
    except HostFileRefused:
        names = []
    if not names:
        note = "its envFile could not be read: write its variables as env by hand"
        return replace(server, entry=entry, notes=(*server.notes, note))
    entry["env"] = {**{name: f"${{{name}}}" for name in names}, **object_of(entry.get("env"))}
    note = f"set {', '.join(names)} in the environment, in place of the host's envFile"
    return replace(server, entry=entry, notes=(*server.notes, note))


def _with_rules(text: str, value: Mapping[str, Json], added: Mapping[str, Imported], notes: list[str]) -> str:
    """What the hosts allow and deny, and how long they wait for a start, in our words."""
    ours = object_of(value.get("slimguard"))
    tools = object_of(ours.get("tools"))
    deny = [f"{name}/{tool}" for name, server in added.items() for tool in server.deny]
    if deny:
        known = list_of(tools.get("deny"))
        text = jsonc_edit.set_member(text, ("slimguard", "tools", "deny"), [*known, *deny])
    restricted = [name for name, server in added.items() if server.allow is not None]
    if restricted and "allow" not in tools:
        present = [*object_of(value.get("mcpServers")), *added]
        allow: list[str] = []
        for name in dict.fromkeys(present):
            listed = added[name].allow if name in added else None
            allow += [f"{name}/*"] if listed is None else [f"{name}/{tool}" for tool in listed]
        text = jsonc_edit.set_member(text, ("slimguard", "tools", "allow"), allow)
        notes.append("slimguard.tools.allow was written: add SERVER/* there for every server that you add later")
    elif restricted:
        notes.append(f"the hosts let only some tools of {', '.join(restricted)} through: say so in slimguard.tools")
    for name, server in added.items():
        if server.start_seconds is not None:
            path = ("slimguard", "servers", name, "timeouts", "start_seconds")
            text = jsonc_edit.set_member(text, path, server.start_seconds)
    return text


def _identity(entry: Json) -> tuple[str, ...]:
    parts = object_of(entry)
    if isinstance(parts.get("url"), str):
        return ("url", parts["url"])
    return ("command", str(parts.get("command")), *(str(item) for item in list_of(parts.get("args"))))


def _free_name(wanted: str, chosen: Mapping[str, Imported], server: Imported) -> str:
    name, number = wanted, 1
    while name in chosen and chosen[name].entry != server.entry:
        number += 1
        name = f"{wanted}-{number}"
    return name
