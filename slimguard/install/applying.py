"""Writing a planned change into a user's file and taking it back: backup first, whole or not at all, never over an
edit that somebody else made."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from slimguard.canonical import digest_of
from slimguard.install import journal
from slimguard.install.journal import Record
from slimguard.install.model import Host, HostFile, HostFileRefused

SIZE_LIMIT = 64 * 1024 * 1024
"""A host's file above this is none; Claude Code's own grows to a few MB."""


@dataclass(frozen=True, slots=True)
class Read:
    """A host's file as it was read: where it really lies, its bytes, text and mode."""

    path: Path
    data: bytes
    text: str
    existed: bool
    mode: int = 0o600


def read_file(path: Path) -> Read:
    """Read a host's file; a missing one is empty.

    Raises `HostFileRefused` when it is not a plain file of the user's that may be changed: a link to somebody else's
    file, a directory, read-only, unreadable, not UTF-8, or a file with a second name (a hard link).
    """
    real = _resolved(path)
    try:
        about = real.lstat()
    except FileNotFoundError:
        return Read(real, b"", "", existed=False)
    except OSError as error:
        raise HostFileRefused(f"it cannot be looked at: {error.strerror}") from None
    _check_plain(about)
    if about.st_size > SIZE_LIMIT:
        raise HostFileRefused(f"it is larger than {SIZE_LIMIT:,} bytes")
    try:
        data = real.read_bytes()
        text = data.decode("utf-8")
    except OSError as error:
        raise HostFileRefused(f"it cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise HostFileRefused("it is not UTF-8 text") from None
    return Read(real, data, text, existed=True, mode=stat.S_IMODE(about.st_mode))


def install(
    directory: Path,
    host: Host,
    file: HostFile,
    before: Read,
    text: str,
    *,
    removed: tuple[str, ...],
    identity: str,
    now: float,
) -> Record:
    """Write the planned text, with backup and journal in `directory`; `identity` names the record.

    Raises `HostFileRefused` when the file changed since it was read, or cannot be written. Nothing is then changed.
    """
    data = text.encode("utf-8")
    journal.prepare(directory)
    record = Record(
        id=identity,
        host=host.name,
        scope=file.scope,
        path=str(before.path),
        format=file.format,
        existed=before.existed,
        mode=before.mode,
        old_digest=digest_of(before.data),
        new_digest=digest_of(data),
        created_at=now,
        removed=removed,
        made_directories=_missing_directories(before.path.parent),
    )
    journal.save_backup(directory, record, before.data)
    journal.save(directory, record)
    write(before, data)
    return journal.mark(directory, record, "installed")


def rollback(directory: Path, record: Record, refuse: Callable[[str, str], HostFileRefused]) -> Record:
    """Put the old bytes back. `refuse` makes the error, with the difference, for a file edited since.

    Raises `HostFileRefused`, and changes nothing, when the file does not hold what was installed.
    """
    before = read_file(Path(record.path))
    current = digest_of(before.data)
    old = journal.backup_of(directory, record)
    undone = current == record.old_digest and before.existed == record.existed
    if undone:
        return journal.mark(directory, record, "rolled back")
    if current != record.new_digest:
        if not before.existed:
            raise HostFileRefused("it was deleted after the installation; nothing to roll back")
        raise refuse(old.decode("utf-8"), before.text)
    if record.existed:
        write(Read(before.path, before.data, before.text, existed=True, mode=record.mode), old)
    else:
        _check_unchanged(before)
        before.path.unlink()
        for made in reversed(record.made_directories):
            _remove_if_empty(Path(made))
    return journal.mark(directory, record, "rolled back")


def write(before: Read, data: bytes) -> None:
    """Replace the file that was read by `data`, atomically, keeping its mode.

    Raises `HostFileRefused` when its bytes are no longer those that were read.
    """
    path = before.path
    temporary = path.with_name(f".{path.name}.{os.getpid()}.slimguard")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.unlink(missing_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(before.mode)
        _check_unchanged(before)
        if before.existed:
            temporary.replace(path)
        else:
            _place_new(temporary, path)
    except OSError as error:
        raise HostFileRefused(f"it cannot be written: {error.strerror}") from None
    finally:
        temporary.unlink(missing_ok=True)


def _place_new(temporary: Path, path: Path) -> None:
    """Give a new file its name; fails when something has appeared there meanwhile."""
    try:
        path.hardlink_to(temporary)
    except FileExistsError:
        raise HostFileRefused("it was created by somebody else meanwhile; run the command again") from None
    except OSError:
        if path.exists():
            raise HostFileRefused("it was created by somebody else meanwhile; run the command again") from None
        temporary.replace(path)


def _check_unchanged(before: Read) -> None:
    try:
        current = before.path.read_bytes() if before.existed else None
    except FileNotFoundError:
        raise HostFileRefused("it was deleted meanwhile; run the command again") from None
    if before.existed and current != before.data:
        raise HostFileRefused("it was changed by somebody else meanwhile; run the command again")
    if not before.existed and os.path.lexists(before.path):
        raise HostFileRefused("it was created by somebody else meanwhile; run the command again")


def _resolved(path: Path) -> Path:
    """The real file behind a link; links and their targets must be the user's own."""
    try:
        if not path.is_symlink():
            return path.absolute()
        real = path.resolve(strict=True)
        owners = {path.lstat().st_uid, real.stat().st_uid}
    except (OSError, RuntimeError):
        raise HostFileRefused("it is a link that leads nowhere") from None
    if hasattr(os, "getuid") and owners != {os.getuid()}:
        raise HostFileRefused("it is a link to a file of somebody else")
    return real


def _check_plain(about: os.stat_result) -> None:
    if not stat.S_ISREG(about.st_mode):
        raise HostFileRefused("it is not a plain file")
    if hasattr(os, "getuid") and about.st_uid != os.getuid():
        raise HostFileRefused("it belongs to somebody else")
    if not about.st_mode & stat.S_IWUSR:
        raise HostFileRefused("it is read-only; make it writable first if you mean it")
    if about.st_nlink > 1:
        raise HostFileRefused("it has a second name (a hard link), which a safe write would separate")


def _missing_directories(directory: Path) -> tuple[str, ...]:
    missing: list[str] = []
    while not directory.exists() and directory != directory.parent:
        missing.append(str(directory))
        directory = directory.parent
    return tuple(reversed(missing))


def _remove_if_empty(directory: Path) -> None:
    try:
        directory.rmdir()
    except OSError:
        return
