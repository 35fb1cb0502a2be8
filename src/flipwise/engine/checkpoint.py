"""Checkpoints: the state of a run in one file (see `container`), replaced atomically, written by one run at a time."""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from flipwise.foundation.container import State, decode, encode, write_atomically
from flipwise.foundation.errors import FlipwiseError, InvalidFile, InvalidInput

log = logging.getLogger("flipwise.engine.checkpoint")


class Keeper:
    """Writes a run's state to a file every so many seconds; a failed write is logged and the run goes on."""

    def __init__(self, path: str | Path, every: float) -> None:
        if isinstance(every, bool) or not isinstance(every, int | float) or not every >= 0:
            raise InvalidInput(f"`every` must be a number of seconds of at least 0, got {every!r}.")
        self.path = Path(path)
        self.every = float(every)
        self.error: str | None = None
        self.ended = False
        self._last = time.perf_counter()
        if not self.path.parent.is_dir():
            raise InvalidInput(f"`checkpoint`: the folder {self.path.parent} does not exist. Create it first.")
        self._lock = _lock(self.path)

    def load(self) -> dict[str, Any] | None:
        """The state in the file, None when there is no file."""
        try:
            return decode("checkpoint", self.path.read_bytes(), str(self.path))
        except FileNotFoundError:
            return None

    def due(self) -> bool:
        return time.perf_counter() - self._last >= self.every

    def save(self, state: State) -> None:
        try:
            write_atomically(self.path, encode("checkpoint", state))
            self.error = None
        except OSError as error:
            if self.error is None:
                log.warning("could not write the checkpoint %s (%s); the run goes on without it", self.path, error)
            self.error = str(error)
        self._last = time.perf_counter()

    def close(self, *, remove: bool) -> None:
        """Let go of the file; with `remove`, delete it: the run is over and nothing is left to continue."""
        with contextlib.suppress(OSError):
            if remove:
                self.path.unlink()
        self._lock()


@contextlib.contextmanager
def outliving_search(options: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Options of `minimize` whose checkpoint stays until the block is over: what follows the search may take long."""
    if options.get("checkpoint") is None:
        yield dict(options)
        return
    keeper = Keeper(options["checkpoint"], options.get("every", 60.0))
    over = False
    try:
        yield {**options, "checkpoint": keeper}
        over = True
    finally:
        keeper.close(remove=over and keeper.ended)


def _lock(path: Path) -> Callable[[], None]:
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


def kept_array(state: State, name: str, shape: tuple[int | None, ...], kind: str) -> np.ndarray:
    """An array of a state, its shape (None: any) and kind ("i" or "f") checked before a kernel sees it."""
    value = state.get(name)
    fits = isinstance(value, np.ndarray) and value.dtype.kind == kind and value.ndim == len(shape)
    if not isinstance(value, np.ndarray) or not fits or any(s not in (None, v) for s, v in zip(shape, value.shape)):
        raise InvalidFile(f"the checkpoint's array `{name}` is missing or does not fit this problem.")
    if kind == "f" and not np.isfinite(value).all():
        raise InvalidFile(f"the checkpoint's array `{name}` holds numbers that are not finite.")
    return value


def kept_signs(state: State, name: str, shape: tuple[int | None, ...], kind: str = "i") -> np.ndarray:
    """An array of -1 and +1."""
    value = kept_array(state, name, shape, kind)
    if not (np.abs(value) == 1).all():
        raise InvalidFile(f"the checkpoint's array `{name}` holds other values than -1 and +1.")
    return value


@contextlib.contextmanager
def taking_over() -> Iterator[None]:
    """What is wrong with a state while it is taken over is wrong with the file."""
    try:
        yield
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, AssertionError) as error:
        if isinstance(error, FlipwiseError):
            raise
        raise InvalidFile(f"the checkpoint lacks a part of the state or misstates it ({error!r}).") from None


def generator_state(rng: np.random.Generator) -> dict[str, Any]:
    """What it takes to rebuild a generator, including the children it will spawn."""
    sequence = rng.bit_generator.seed_seq
    if not isinstance(sequence, np.random.SeedSequence):
        raise InvalidInput("`seed`: a generator without a SeedSequence cannot be written to a checkpoint.")
    entropy: Any = sequence.entropy
    return {
        "kind": type(rng.bit_generator).__name__,
        "state": _plain(rng.bit_generator.state),
        "entropy": _plain(entropy),
        "spawn_key": [int(k) for k in sequence.spawn_key],
        "children": int(sequence.n_children_spawned),
    }


def restored_generator(state: Mapping[str, Any]) -> np.random.Generator:
    """The generator that `generator_state` described."""
    with taking_over():
        sequence = np.random.SeedSequence(
            state["entropy"], spawn_key=tuple(state["spawn_key"]), n_children_spawned=int(state["children"])
        )
        kinds = {k.__name__: k for k in (np.random.PCG64, np.random.PCG64DXSM, np.random.Philox, np.random.SFC64)}
        if state["kind"] not in kinds:
            raise InvalidFile(f"the checkpoint's generator {state['kind']} is not known.")
        bits = kinds[state["kind"]](sequence)
        bits.state = state["state"]
        return np.random.Generator(bits)


def _plain(value: Any) -> Any:
    """NumPy scalars and arrays inside a state as what JSON can hold."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [_plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def same_problem(state: State, fingerprint: Mapping[str, Any]) -> str | None:
    """What differs between the run in a checkpoint and the run asked for, None when nothing does."""
    kept = state.get("fingerprint", {})
    for name, value in fingerprint.items():
        if kept.get(name) != value:
            return f"its {name} is {kept.get(name)!r}, this run's is {value!r}"
    return None
