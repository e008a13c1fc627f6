"""The journal of what was installed where, and the backups: small files beside the store, for their owner only."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

from slimguard.canonical import digest_of
from slimguard.install.model import Format, HostFileRefused

State = Literal["prepared", "installed", "rolled back"]


@dataclass(frozen=True, slots=True)
class Record:
    """One change of one file: enough to put the old bytes back, and nothing of its content."""

    id: str
    host: str
    scope: str
    path: str
    format: Format
    existed: bool
    mode: int
    old_digest: str
    new_digest: str
    created_at: float
    state: State = "prepared"
    removed: tuple[str, ...] = ()
    """Names of the servers that the change took out of the file."""
    made_directories: tuple[str, ...] = ()


def directory_beside(store: str) -> Path:
    """Where journal and backups lie, beside a store."""
    return Path(store).parent / "install"


def prepare(directory: Path) -> None:
    """Make the directory for its owner only; refuse one that is a link or somebody else's."""
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    about = directory.lstat()
    foreign = hasattr(os, "getuid") and about.st_uid != os.getuid()
    if stat.S_ISLNK(about.st_mode) or not stat.S_ISDIR(about.st_mode) or foreign:
        raise HostFileRefused(f"{directory} is a link or not yours; backups are not safe there")
    directory.chmod(0o700)


def save(directory: Path, record: Record) -> None:
    """Write a record, whole or not at all."""
    write_private(directory / f"{record.id}.json", json.dumps(asdict(record), indent=2).encode())


def save_backup(directory: Path, record: Record, data: bytes) -> None:
    """Keep the old bytes, for their owner only, before anything is changed."""
    write_private(directory / f"{record.id}.backup", data)


def backup_of(directory: Path, record: Record) -> bytes:
    """The old bytes, checked against their digest; raises `HostFileRefused` when they are gone or damaged."""
    try:
        data = (directory / f"{record.id}.backup").read_bytes()
    except OSError as error:
        raise HostFileRefused(f"its backup cannot be read: {error.strerror}") from None
    if digest_of(data) != record.old_digest:
        raise HostFileRefused("its backup is damaged: digest mismatch")
    return data


def records(directory: Path) -> list[Record]:
    """All records that can be read, oldest first."""
    found: list[Record] = []
    for path in sorted(directory.glob("*.json")) if directory.is_dir() else ():
        try:
            found.append(_record(json.loads(path.read_text(encoding="utf-8"))))
        except (OSError, ValueError, TypeError, KeyError):
            continue
    return sorted(found, key=lambda record: (record.created_at, record.id))


def mark(directory: Path, record: Record, state: State) -> Record:
    """The record in its new state, written down."""
    changed = replace(record, state=state)
    save(directory, changed)
    return changed


def write_private(path: Path, data: bytes) -> None:
    """Write a file of mode 0600 atomically and durably; what was there is replaced only by the whole."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.new")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _record(value: Mapping[str, Any]) -> Record:
    known = {field.name for field in fields(Record)}
    plain = {key: item for key, item in value.items() if key in known}
    for name in ("removed", "made_directories"):
        plain[name] = tuple(plain.get(name, ()))
    return Record(**plain)
