"""Which file of a host to change, and the whole planned change with its difference; reads, never writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from slimguard.install.applying import Read, read_file
from slimguard.install.discovering import covered
from slimguard.install.masking import difference
from slimguard.install.model import NAME, Entry, Host, HostFile, HostFileRefused, Machine, Scope
from slimguard.install.planning import plan, read, servers
from slimguard.model import Json


@dataclass(frozen=True, slots=True)
class Planned:
    """One change of one file of one host, ready to be applied."""

    host: Host
    file: HostFile
    before: Read
    text: str
    removed: tuple[str, ...] = ()
    kept: tuple[tuple[str, str], ...] = ()
    """Servers that stay in the host's file, each with the reason."""
    notes: tuple[str, ...] = ()

    @property
    def changes(self) -> bool:
        """Whether there is anything to do."""
        return self.text != self.before.text

    def diff(self) -> list[str]:
        """The difference, with every value of the user's hidden."""
        return difference(self.before.text, self.text, self.file.format, str(self.before.path))


def choose(
    host: Host, machine: Machine, configured: Mapping[str, Json], *, scope: Scope | None, project: bool
) -> HostFile:
    """The file to change: of the scope asked for; else the one that holds guarded servers, or our entry; else the
    project's when the configuration is the project's (`project`), and the user's otherwise. Existing files come first.
    """
    files = [file for file in host.files(machine) if scope is None or file.scope == scope]
    if not files:
        known = ", ".join(dict.fromkeys(file.scope for file in host.files(machine)))
        raise HostFileRefused(f"{host.title} has no file of scope {scope}; it has {known}")
    if scope is None:
        for holds in (partial(_guarded, configured=configured), _has_ours):
            for file in files:
                if holds(host, file, machine):
                    return file
        wanted = "project" if project else "user"
        files = [file for file in files if file.scope == wanted] or files
    return next((file for file in files if Path(file.path).exists()), files[0])


def plan_install(
    host: Host,
    file: HostFile,
    machine: Machine,
    entry: Entry,
    configured: Mapping[str, Json],
    *,
    keep: bool = False,
    leave: Sequence[str] = (),
) -> Planned:
    """The change that puts our entry into `file` and, unless `keep`, takes out the servers that we now guard.

    A server that the configuration does not have stays, with the reason. Raises `HostFileRefused`, naming the file.
    """
    path = Path(file.path)
    try:
        before = read_file(path)
        removed: list[str] = []
        kept: list[tuple[str, str]] = []
        for server in servers(host, file, before.text, machine):
            if server.name == NAME or server.ours:
                continue
            reason = server.unsupported
            if not reason and (keep or server.name in leave):
                reason = "kept, as asked"
            if not reason and not covered(server, configured):
                reason = "not in the configuration; add it there with: slimguard init"
            if reason:
                kept.append((server.name, reason))
            else:
                removed.append(server.name)
        text = plan(host, file, before.text, entry, remove=removed)
    except HostFileRefused as refused:
        raise HostFileRefused(f"{path}: {refused}") from None
    return Planned(
        host,
        file,
        before,
        text,
        tuple(removed),
        tuple(kept),
        (*_notes(host, file, entry), *host.warnings(read(file, text))),
    )


def _notes(host: Host, file: HostFile, entry: Entry) -> tuple[str, ...]:
    notes: list[str] = []
    if host.environment == "bare" and entry.variables:
        names = ", ".join(entry.variables)
        notes.append(f"{host.title} gives servers a bare environment: write {names} into the entry's env by hand")
    if file.scope == "project":
        notes.append("the file belongs to the project: the entry holds paths of this machine, so mind what you commit")
    if file.format == "jsonc" and file.where[0] == "projects":
        notes.append("the entry counts for this directory only")
    return tuple(notes)


def _has_ours(host: Host, file: HostFile, machine: Machine) -> bool:
    try:
        return any(server.ours for server in servers(host, file, read_file(Path(file.path)).text, machine))
    except HostFileRefused:
        return False


def _guarded(host: Host, file: HostFile, machine: Machine, configured: Mapping[str, Json]) -> bool:
    try:
        found = servers(host, file, read_file(Path(file.path)).text, machine)
    except HostFileRefused:
        return False
    return any(not server.unsupported and not server.ours and covered(server, configured) for server in found)
