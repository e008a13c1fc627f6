"""The store's files: private from creation, never through a link, never somebody else's; no SQL here."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from slimguard.errors import StoreUnavailable

DIRECTORY_MODE = 0o700
FILE_MODE = 0o600
SIDE_FILES = ("", "-wal", "-shm", "-journal")
"""What SQLite keeps beside a database, by what it appends to the name."""

Identity = tuple[int, int]
"""Device and inode: the same file, whatever its name."""


def refuse(path: str | Path, reason: str) -> StoreUnavailable:
    """A refusal that names the path and what to do."""
    return StoreUnavailable(f"the result store {path} is refused: {reason}", code="store_refused")


def prepare_directory(directory: Path) -> None:
    """Make the directory with mode 0700, or check the one that is there.

    Raises `StoreUnavailable` when it is a link, somebody else's, or writable for others, who could then plant
    files beside the database.
    """
    _make_directories(directory)
    found = directory.lstat()
    if stat.S_ISLNK(found.st_mode):
        raise refuse(directory, "its directory is a symbolic link; point store.path at the real directory")
    if not stat.S_ISDIR(found.st_mode):
        raise refuse(directory, "its directory is not a directory; correct store.path")
    if found.st_uid != os.geteuid():
        raise refuse(directory, f"its directory belongs to user {found.st_uid}; use a directory of your own")
    if found.st_mode & stat.S_IWOTH or (found.st_mode & stat.S_IWGRP and not _own_group(found.st_gid)):
        raise refuse(directory, f"its directory is writable for others; run: chmod 700 {directory}")


def prepare_files(path: Path) -> bool:
    """Make the database file with mode 0600 if there is none, and check those that are there; whether one was made.

    Existing files are never opened here: closing any descriptor of a file would drop SQLite's locks on it.
    """
    for suffix in SIDE_FILES:
        check_file(path.with_name(path.name + suffix))
    if identity(path) is None:
        _remove_orphans(path)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, FILE_MODE)
    except FileExistsError:
        return False
    try:
        os.fchmod(descriptor, FILE_MODE)
    finally:
        os.close(descriptor)
    sync_directory(path.parent)
    return True


def check_file(path: Path) -> None:
    """Refuse a link, a special file or a foreign owner; take away what group and others may do. Absent is fine."""
    if check_owner(path) & 0o077:
        path.chmod(FILE_MODE)


def check_owner(path: Path) -> int:
    """Refuse a link, a special file or a foreign owner; the file's permission bits, 0 when there is none."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return 0
    if stat.S_ISLNK(found.st_mode):
        raise refuse(path, "it is a symbolic link; point store.path at the real file")
    if not stat.S_ISREG(found.st_mode):
        raise refuse(path, "it is not a regular file; correct store.path")
    if found.st_uid != os.geteuid():
        raise refuse(path, f"it belongs to user {found.st_uid}; use a file of your own")
    return stat.S_IMODE(found.st_mode)


def identity(path: Path) -> Identity | None:
    """Which file stands at `path` now, None when there is none."""
    try:
        found = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


def sync_directory(directory: Path) -> None:
    """Make a new name in `directory` durable, where the file system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def opening_lock(path: Path, seconds: float, monotonic: Callable[[], float]) -> Generator[None]:
    """Hold `path.lock` while the database is made, migrated or replaced; one process at a time.

    Raises `StoreUnavailable` when another process held it for `seconds`.
    """
    lock_path = path.with_name(path.name + ".lock")
    until = monotonic() + seconds
    descriptor = None
    while descriptor is None:
        descriptor = try_lock(lock_path)
        if descriptor is not None:
            break
        if monotonic() >= until:
            raise StoreUnavailable(
                f"the result store {path} is unavailable: another process is opening it for {seconds:.0f} s; "
                "end that process or point store.path elsewhere",
                code="store",
            )
        time.sleep(0.02)
    try:
        yield
    finally:
        os.close(descriptor)


def try_lock(path: Path, *, shared: bool = False) -> int | None:
    """Make and lock a file, without waiting; its descriptor holds the lock, None when somebody else has it.

    A `shared` lock keeps an owner out, and is not taken for one by `is_locked`.
    """
    check_file(path)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, FILE_MODE)
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        found = os.fstat(descriptor)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except OSError:
        os.close(descriptor)
        raise
    if (found.st_dev, found.st_ino) != identity(path):
        os.close(descriptor)
        return None
    return descriptor


def is_locked(path: Path) -> bool:
    """Whether some process holds the lock of an existing file; an absent file is not locked."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _remove_orphans(path: Path) -> None:
    """Remove the side files of a database that is gone: a new one must not meet the old one's log."""
    for suffix in SIDE_FILES[1:]:
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _make_directories(directory: Path) -> None:
    """Every missing part gets mode 0700 whatever the umask is."""
    if directory.exists() or directory.is_symlink():
        return
    _make_directories(directory.parent)
    try:
        directory.mkdir(mode=DIRECTORY_MODE)
    except FileExistsError:
        return
    directory.chmod(DIRECTORY_MODE)


def _own_group(group: int) -> bool:
    """Whether a group holds nobody but this user (the private group that many systems give)."""
    import grp  # noqa: PLC0415  only needed for a directory that its group may write
    import pwd  # noqa: PLC0415

    try:
        user = pwd.getpwuid(os.geteuid())
        members = grp.getgrgid(group).gr_mem
    except KeyError:
        return False
    return user.pw_gid == group and set(members) <= {user.pw_name}
