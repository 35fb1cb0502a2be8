"""Linear algebra on one thread: the matrices of a small problem are done before a second thread has woken up.

OpenBLAS, which the wheels of NumPy and SciPy carry, starts threads for matrices of some dozen rows already and lets
them wait in a loop. On an idle machine that gains nothing at these sizes; on a busy one an eigenvalue problem of 31
rows took 200 times as long. One thread also adds in one order, whatever the machine.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

SUFFIXES = "64_", ""
PREFIXES = "scipy_openblas", "openblas"


class _Library(NamedTuple):
    """How many threads one copy of OpenBLAS uses."""

    get: Any
    set: Any


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """OpenBLAS uses one thread inside the block, in the whole process; another BLAS is left alone.

    Examples
    --------
    >>> with one_blas_thread():
    ...     values = np.linalg.eigvalsh(np.eye(3))
    """
    _set_one_thread()
    try:
        yield
    finally:
        _restore_threads()


_lock = Lock()
_inside = 0
_before: list[int] = []


def _set_one_thread() -> None:
    """The first of the blocks that overlap sets one thread."""
    global _inside
    with _lock:
        _inside += 1
        if _inside == 1:
            _before[:] = [library.get() for library in libraries()]
            for library in libraries():
                library.set(1)


def _restore_threads() -> None:
    """The last one puts back what was."""
    global _inside
    with _lock:
        _inside -= 1
        if _inside == 0:
            for library, threads in zip(libraries(), _before, strict=True):
                library.set(threads)


@cache
def libraries() -> tuple[_Library, ...]:
    """The copies of OpenBLAS in the wheels of NumPy and SciPy, which importing NumPy and `scipy.linalg` has loaded."""
    packages = Path(np.__file__).parents[1]
    folders = [packages / name for name in ("numpy.libs", "scipy.libs", "numpy/.dylibs", "scipy/.dylibs")]
    return tuple(
        library for folder in folders for path in sorted(folder.glob("*openblas*")) for library in _controls_of(path)
    )


def _controls_of(path: Path) -> list[_Library]:
    """The two functions of a library that read and set its threads; none where it has none that we know."""
    try:
        loaded = ctypes.CDLL(str(path))
    except OSError:
        return []
    for prefix in PREFIXES:
        for suffix in SUFFIXES:
            get = getattr(loaded, f"{prefix}_get_num_threads{suffix}", None)
            put = getattr(loaded, f"{prefix}_set_num_threads{suffix}", None)
            if get is not None and put is not None:
                return [_Library(get, put)]
    return []
