"""Checkpoints: the state of a run in one file (see `foundation.container`), replaced atomically, one writer at a time.

A file has parts, one for each run that a call makes (a profile over several sizes makes one for each). A part that has
come to its end stays in the file until the whole call is over, so that it is not repeated.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from flipwise.foundation.atomic import write_atomically
from flipwise.foundation.checks import is_number
from flipwise.foundation.container import State, decode, encode
from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise.foundation.interrupts import held_interrupts

log = logging.getLogger("flipwise.engine.checkpoint")


class Checkpoint:
    """A file that is written every so many seconds; a failed write is logged and the run goes on."""

    def __init__(self, path: str | Path, every: float = 60.0) -> None:
        if not is_number(every) or every < 0:
            raise InvalidInput(f"`every` must be a number of seconds of at least 0, got {every!r}.")
        self.path = Path(path)
        self.every = float(every)
        self.error: str | None = None
        self.memo: dict[int, tuple[Any, bytes]] = {}
        """What was hashed for this file (see `engine.fingerprint`)."""
        self._last = time.perf_counter()
        if not self.path.parent.is_dir():
            raise InvalidInput(f"`checkpoint`: the folder {self.path.parent} does not exist. Create it first.")
        self._unlock = _lock_file(self.path)
        try:
            self._parts = self._read_parts()
        except BaseException:
            self._unlock()
            raise
        self._open: set[str] = set(self._parts)
        """Parts that have not come to their end."""

    def _read_parts(self) -> dict[str, dict[str, Any]]:
        """What the file holds, part by part; nothing where there is no file."""
        try:
            content = decode("checkpoint", self.path.read_bytes(), str(self.path))
        except FileNotFoundError:
            return {}
        parts: dict[str, dict[str, Any]] = {}
        for name, value in content.items():
            part, slash, own = name.partition("/")
            if not slash:
                raise InvalidFile(f"{self.path}: the checkpoint lacks a part of the state.")
            parts.setdefault(part, {})[own] = value
        return parts

    def load(self, part: str) -> dict[str, Any] | None:
        """The state of a part, None when the file has none."""
        self._open.add(part)
        return self._parts.get(part)

    @property
    def due(self) -> bool:
        """Whether it is time to write again."""
        return time.perf_counter() - self._last >= self.every

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts there are."""
        return tuple(self._parts)

    def put(self, part: str, state: State, *, ended: bool = False) -> None:
        """Replace the state of a part; it comes into the file with the next `save`."""
        self._parts[part] = dict(state)
        (self._open.discard if ended else self._open.add)(part)

    def save(self, part: str, state: State, *, ended: bool = False) -> None:
        """Replace the state of a part, and write the file."""
        self.put(part, state, ended=ended)
        whole = {f"{part}/{name}": value for part, own in self._parts.items() for name, value in own.items()}
        try:
            with held_interrupts():  # Ctrl-C leaves no half of a file beside it
                write_atomically(self.path, encode("checkpoint", whole))
            self.error = None
        except OSError as error:
            if self.error is None:
                log.warning("could not write the checkpoint %s (%s); the run goes on without it", self.path, error)
            self.error = str(error)
        self._last = time.perf_counter()

    def end(self, part: str) -> None:
        """A part has come to its end: there is nothing in it to go on with."""
        self._open.discard(part)

    def reopen(self, part: str) -> None:
        """What follows a part that has ended was broken off: the file stays."""
        self._open.add(part)

    def close(self, *, over: bool) -> None:
        """Let go of the file; when the call is `over` and all parts have ended, delete it."""
        with contextlib.suppress(OSError):
            if over and not self._open:
                self.path.unlink()
        self._unlock()


@contextlib.contextmanager
def open_checkpoint(checkpoint: str | Path | Checkpoint | None, every: float) -> Iterator[Checkpoint | None]:
    """The checkpoint of a path while the block runs; one that is open already stays its owner's."""
    if checkpoint is None or isinstance(checkpoint, Checkpoint):
        yield checkpoint
        return
    opened = Checkpoint(checkpoint, every)
    over = False
    try:
        yield opened
        over = True
    finally:
        opened.close(over=over)


def _lock_file(path: Path) -> Callable[[], None]:
    """Take the sole right to write `path` (where the system has such locks); returns how to give it back."""
    try:
        import fcntl
    except ImportError:  # not on this platform
        return lambda: None
    name = path.with_name(f".{path.name}.lock")
    while True:
        try:
            descriptor = os.open(name, os.O_CREAT | os.O_RDWR, 0o644)
        except OSError:  # a read-only folder: the first save will say so
            return lambda: None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(descriptor).st_ino == name.stat().st_ino:  # not one that was deleted in the meantime
                break
        except FileNotFoundError:
            pass
        except OSError:
            os.close(descriptor)
            raise InvalidInput(f"`checkpoint`: {path} is in use by another run. Choose another file.") from None
        os.close(descriptor)

    def release() -> None:
        with contextlib.suppress(OSError):
            name.unlink()
        os.close(descriptor)

    return release
