"""Two tiers for every kernel: interpreted for a little work, compiled by Numba for more.

A kernel is an ordinary Python function on arrays and scalars. How many operations a call takes is known before it: the
elements of its arrays, unless the kernel declares a count of its own. Little work, all calls together, is interpreted:
a small problem never waits for a compiler and never imports Numba. More work goes to the compiled tier, for good. The
choice looks neither at the clock nor into the cache, so a first run does what every later one does. Both tiers give the
same bits: kernels add in explicit loops and Numba runs without fastmath.

Seconds in which Numba is imported and machine code is made or loaded are counted apart (`compile_time`).

`FLIPWISE_NUMBA_CACHE=0` turns the on-disk cache off; where no cache folder is writable, or others can write to it, it
is off by itself.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from types import FunctionType
from typing import Any

from flipwise.foundation.arrays import entries_of
from flipwise.foundation.checks import check_whole
from flipwise.foundation.folders import is_private
from flipwise.kernels.compile_time import compilation

log = logging.getLogger("flipwise.kernels")

INTERPRETED_OPERATIONS = 100_000
"""Operations that one kernel may take interpreted, all its calls together (about 0.1 s)."""
INTERPRETED_IN_ALL = 300_000
"""The same for all kernels together: about the half second in which Numba is imported and ready."""
INTERPRETED_BESIDE = 5_000
"""What a kernel may take interpreted once others run compiled: machine code is then loaded in a few milliseconds."""

NUMPY = 300.0
"""Elements that a few calls of NumPy do in the time of one interpreted operation: graphs of some hundred thousand edges
are made without a compiler."""

SERIAL_WORK = 1_000_000
"""Kernels on rows that read fewer elements than this are better off on one thread."""

_requested_threads: ContextVar[int | None] = ContextVar("flipwise_threads", default=None)
compile_lock = threading.RLock()


class Kernel:
    """A function with an interpreted and a compiled tier."""

    def __init__(
        self,
        function: FunctionType,
        operations: Callable[..., float] | None = None,
        vectorised: Callable[..., Any] | None = None,
        speed: float = 1.0,
    ) -> None:
        self.interpreted = function
        self._vectorised = vectorised
        self._speed = speed
        self.compiled: Callable[..., Any] | None = None
        self.count: Callable[..., float] = operations or entries_of
        """About how many elements a call with these arguments looks at."""
        self._interpreted_operations = 0.0
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__

    def __call__(self, *arguments: Any) -> Any:
        compiled = self.compiled
        if compiled is None:
            if self._is_little(arguments):
                return self.uncompiled(*arguments)
            compiled = self.compile()
        return compiled(*arguments)

    @property
    def uncompiled(self) -> Callable[..., Any]:
        """What runs where there is little to do: loops, or the same in NumPy."""
        return self._vectorised or self.interpreted

    def _is_little(self, arguments: tuple[Any, ...]) -> bool:
        """Whether a call with these arguments, after all that were interpreted, is still too little to compile for."""
        operations = self.count(*arguments) / self._speed
        own, all_kernels = self._interpreted_operations + operations, InterpretedWork.interpreted + operations
        if own > InterpretedWork.allowed or all_kernels > INTERPRETED_IN_ALL:
            return False
        self._interpreted_operations, InterpretedWork.interpreted = own, all_kernels
        return True

    @property
    def specialisations(self) -> int:
        """For how many combinations of types there is machine code in this process."""
        return len(getattr(self.compiled, "signatures", ()))

    def expect(self, operations: float) -> None:
        """Compile before a call, or a series of them, that would take long interpreted (a call cannot change tiers)."""
        if self.compiled is None and operations > InterpretedWork.allowed:
            self.compile()

    def compile(self) -> Callable[..., Any]:
        """Move to the compiled tier (machine code is made or loaded at the next call); returns the compiled twin."""
        with compile_lock:
            self.compiled = self.compiled or compile_function(self.interpreted)
            return self.compiled


def entries_in_rows(indptr: Any, rows: Any) -> int:
    """How many entries these rows of a CSR structure have together."""
    return int((indptr[rows + 1] - indptr[rows]).sum())


def entries_two_steps(indptr: Any, rows: Any) -> float:
    """About how many entries these rows and those of their neighbours have, each as long as the mean row."""
    return float(entries_in_rows(indptr, rows) * (1.0 + indptr[-1] / max(1, indptr.size - 1)))


class InterpretedWork:
    """What has been interpreted in this process, and how much one kernel may be."""

    interpreted = 0.0
    allowed = INTERPRETED_OPERATIONS


@contextmanager
def compiled_at_once() -> Iterator[None]:
    """Let every kernel that is called inside go to the compiled tier, however little there is to do."""
    before, InterpretedWork.allowed = InterpretedWork.allowed, -1
    try:
        yield
    finally:
        InterpretedWork.allowed = min(before, INTERPRETED_BESIDE)


_helpers: dict[FunctionType, Any] = {}
"""The helpers, each with its compiled twin once there is one."""


def kernel(
    function: Any = None,
    *,
    operations: Callable[..., float] | None = None,
    vectorised: Callable[..., Any] | None = None,
    speed: float = 1.0,
) -> Any:
    """Declare a kernel.

    `operations` takes the kernel's arguments and says about how many elements a call looks at, where that is not the
    size of its arrays; at most, where it depends on what is found. `vectorised` is the same function in NumPy, to the
    last bit, which then runs in place of interpreted loops, and does `speed` of these elements in the time of one of
    theirs.
    """
    if function is None:
        return lambda function: Kernel(function, operations, vectorised, speed)
    return Kernel(function, operations, vectorised, speed)


_compiled_forms: dict[FunctionType, FunctionType] = {}
"""The helpers that are compiled from another function, with that function."""


def helper(function: Any = None, *, compiled_form: Any = None) -> Any:
    """Declare a function that kernels call: those of its own file, or, as heaps, of any.

    Numba's cache only notices changes in the file of the kernel, so what others call must stay what it is.

    `compiled_form` is the same function as the compiler does it better but the interpreter does not like it.
    """
    if function is None:
        return lambda function: helper(function, compiled_form=compiled_form)
    _helpers[function] = None
    if compiled_form is not None:
        _compiled_forms[function] = compiled_form
    return function


_NO_CALLBACK: dict[str, Any] = {"no_cfunc_wrapper": True}
_NOT_FROM_PYTHON: dict[str, Any] = {"no_cpython_wrapper": True}
"""Options that spare Numba the wrappers that nobody calls: a sixth of the time to compile."""


# --- machine code ----------------------------------------------------------------------------------------------------


def compile_function(function: FunctionType) -> Callable[..., Any]:
    """The function as Numba compiles it, for each combination of types at its first call, or loads it."""
    with compilation.timed():
        import numba

        InterpretedWork.allowed = min(InterpretedWork.allowed, INTERPRETED_BESIDE)
        twin = _with_compiled_helpers(function)
        twin.__qualname__ = function.__qualname__
        if os.environ.get("FLIPWISE_NUMBA_CACHE", "1") != "0":
            try:
                cached = numba.njit(twin, cache=True, nogil=True, **_NO_CALLBACK)
                if not hasattr(cached, "_cache") or _is_trusted(cached._cache.cache_path):  # NUMBA_DISABLE_JIT has none
                    return _with_time_counted(cached)
                log.debug("kernel cache off: others can write to %s", cached._cache.cache_path)
            except RuntimeError as error:  # "cannot cache function ...: no locator available"
                log.debug("kernel cache off: %s", error)
        return _with_time_counted(numba.njit(twin, nogil=True, **_NO_CALLBACK))


@lru_cache
def _is_trusted(folder: str) -> bool:
    """Whether machine code may be loaded from a folder: nobody can write to it who could not change this file too."""
    return is_private(Path(folder), trusted=Path(__file__).parent)


def _with_time_counted(dispatcher: Any) -> Callable[..., Any]:
    """The dispatcher, with the seconds counted in which it makes or loads machine code for new types."""
    if not hasattr(dispatcher, "compile"):  # NUMBA_DISABLE_JIT
        return dispatcher  # type: ignore[no-any-return]
    compile_for = dispatcher.compile

    def compile_timed(signature: Any) -> Any:
        with compilation.timed(), _reporting_compilation(dispatcher):
            return compile_for(signature)

    dispatcher.compile = compile_timed
    return dispatcher  # type: ignore[no-any-return]


@contextmanager
def _reporting_compilation(dispatcher: Any) -> Iterator[None]:
    """Count and report what is compiled inside, which is less than what is loaded."""
    from numba.core import event

    name = dispatcher.py_func.__name__
    started = time.perf_counter()

    class Listener(event.Listener):
        def on_start(self, happening: Any) -> None:
            if happening.data["dispatcher"] is dispatcher:
                compilation.begin(name)

        def on_end(self, happening: Any) -> None:
            if happening.data["dispatcher"] is dispatcher:
                log.debug("compiled %s in %.1f s", name, time.perf_counter() - started)

    with event.install_listener("numba:compile", Listener()):
        yield


def _with_compiled_helpers(function: FunctionType) -> FunctionType:
    """The function with the helpers that it calls compiled."""
    import numba

    names = dict(function.__globals__)
    for name in function.__code__.co_names:
        value = names.get(name)
        if isinstance(value, FunctionType) and value in _helpers and value is not function:
            form = value if getattr(numba.config, "DISABLE_JIT", 0) else _compiled_forms.get(value, value)
            _helpers[value] = _helpers[value] or numba.njit(
                _with_compiled_helpers(form), nogil=True, **_NO_CALLBACK, **_NOT_FROM_PYTHON
            )
            names[name] = _helpers[value]
    twin = FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
    twin.__module__ = function.__module__
    return twin


# --- threads ---------------------------------------------------------------------------------------------------------


@contextmanager
def threads(count: int | None) -> Iterator[None]:
    """Run the kernels on rows inside on at most `count` threads (None: all cores of this process)."""
    check_whole("threads", count, 1, optional=True)
    token = _requested_threads.set(None if count is None else int(count))
    try:
        yield
    finally:
        _requested_threads.reset(token)


def thread_count() -> int:
    """How many threads a computation may use: what `threads` was asked for, else all cores of this process.

    NUMBA_NUM_THREADS limits the latter.
    """
    wanted = _requested_threads.get()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    numba_limit = os.environ.get("NUMBA_NUM_THREADS", "")
    if numba_limit.isdigit() and int(numba_limit) > 0:
        cores = min(cores, int(numba_limit))
    return cores if wanted is None else wanted


def threads_worth(work: int) -> AbstractContextManager[None]:
    """One thread inside when `work` (elements read) is too little to share: starting threads would cost more."""
    return threads(1) if work < SERIAL_WORK else nullcontext()
