"""Compile the kernels ahead of time: every job on a few variables, all kernels in the compiled tier."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules

from flipwise.foundation.errors import FlipwiseWarning, InvalidInput
from flipwise.kernels.jit import Kernel, compiled_at_once
from flipwise.warming.jobs import JOBS as JOBS
from flipwise.warming.rare import RARE


def warm_up(job: str | None = None, *, callback: Callable[[int, int], object] | None = None) -> None:
    """Compile the kernels that a job needs (or load them from the cache), so that its first large run does not wait.

    Parameters
    ----------
    job
        "minimize", "qubo", "maxcut", "bisect", "subgraph", "hash", or "files" for the readers of graph files. None
        is all of these, and every kernel that only other methods, bounds or options need.
    callback
        Called with the parts that are done and their number, for a progress bar.

    Examples
    --------
    >>> import flipwise
    >>> flipwise.warm_up("qubo")  # doctest: +SKIP
    """
    if job is not None and job not in JOBS:
        raise InvalidInput(f"`job` must be None or one of {', '.join(JOBS)}, got {job!r}.")
    steps = [step for name in ([job] if job else [*JOBS, *RARE]) for step in ({**JOBS, **RARE})[name]()]
    with compiled_at_once(), warnings.catch_warnings():
        warnings.simplefilter("ignore", FlipwiseWarning)
        for done, step in enumerate(steps):
            if callback is not None:
                callback(done, len(steps))
            step()
    if callback is not None:
        callback(len(steps), len(steps))


def all_kernels() -> dict[str, Kernel]:
    """Every kernel of the library, by `module.name`."""
    package = import_module("flipwise.kernels")
    modules = [import_module(f"flipwise.kernels.{found.name}") for found in iter_modules(package.__path__)]
    return {
        f"{module.__name__.rpartition('.')[2]}.{name}": value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, Kernel)
    }
