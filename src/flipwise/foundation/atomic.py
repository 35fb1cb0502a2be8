"""Files that appear whole or not at all: written beside their target, flushed to the disk, then moved into place.

A link is followed: the file it points to is replaced, the link stays. What is no file (a device, a pipe, an open
descriptor such as /dev/stdout) is written to and never replaced. A file that may not be written to stays as it is.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

_SHOWN = 40
"""Characters of a file's name in that of its temporary twin, so that long names stay within the system's limit."""


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """A file that appears under `path` only when the block ends without an exception; problems name `path`."""
    try:
        if _is_written_through(path):
            own = _own_descriptor(path)  # a copy of it goes on where the last bytes went
            opened = os.open(path, os.O_WRONLY | os.O_APPEND) if own is None else os.dup(own)
            with os.fdopen(opened, "wb") as file:
                yield file
            return
        target = Path(os.path.realpath(path))
        before = _replaceable(target)
        part = target.with_name(f".{target.name[:_SHOWN]}.{secrets.token_hex(6)}.part")
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            with os.fdopen(descriptor, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if before is not None:
                with suppress(OSError, AttributeError):  # an owner can only be kept where the system lets us
                    os.chown(part, before.st_uid, before.st_gid)
                part.chmod(stat.S_IMODE(before.st_mode))
            part.replace(target)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    except OSError as error:
        if error.errno is not None and (error.filename is None or str(error.filename).endswith(".part")):
            raise OSError(error.errno, error.strerror, str(path)) from error  # a full disk is said without a name
        raise


def write_atomically(path: Path, content: bytes) -> None:
    """Replace `path` by a file with this content, or leave it untouched and raise `OSError`."""
    with atomic_file(path) as file:
        file.write(content)


def check_writable(path: Path) -> None:
    """Raise the `OSError` that writing `path` would end with: no folder, no permission, a folder in its place.

    For use before long work; a disk can still fill up meanwhile.
    """
    if _is_written_through(path):
        return
    target = Path(os.path.realpath(path))
    _replaceable(target)
    folder = target.parent
    if not folder.exists():
        raise FileNotFoundError(errno.ENOENT, "the folder does not exist", str(path))
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, f"{folder} is not a folder", str(path))
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, "the folder is not writable", str(path))


def _replaceable(target: Path) -> os.stat_result | None:
    """What is known of the file that will be replaced, None where there is none; raise where it must not be."""
    try:
        before = target.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(before.st_mode):
        raise IsADirectoryError(errno.EISDIR, "is a folder", str(target))
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is write-protected", str(target))
    return before


def _is_written_through(path: Path) -> bool:
    """Whether `path` is a device, a pipe, a socket, or stands for an open descriptor of a process."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)) or _descriptor(path) is not None


def _own_descriptor(path: Path) -> int | None:
    """The open descriptor of this process that `path` stands for, as /dev/stdout does."""
    found = _descriptor(path)
    own = found is not None and found.parent == Path(f"/proc/{os.getpid()}/fd")
    return int(found.name) if own and found is not None and found.name.isdigit() else None


def _descriptor(path: Path) -> Path | None:
    """The entry /proc/<process>/fd/<number> that a chain of links comes to, if it does."""
    step = Path.cwd() / path
    while step.is_symlink():
        folder = Path(os.path.realpath(step.parent))
        if folder.name == "fd" and folder.is_relative_to("/proc"):
            return folder / step.name
        step = folder / step.readlink()
    return None
