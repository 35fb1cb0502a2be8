"""Cuts of a graph: `maxcut`, `bisect` into exact halves, `partition` into parts of exact sizes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from flipwise.bounds.choice import Bound, affordable_bound, proven_bound
from flipwise.cuts.split import split_graph, split_into_parts
from flipwise.engine.checkpoint import outliving_search
from flipwise.engine.limits import Status, peak_bytes
from flipwise.engine.log import log_proof
from flipwise.engine.result import Result
from flipwise.engine.run import Callback
from flipwise.foundation.arrays import Ints, Signs
from flipwise.foundation.checks import is_whole
from flipwise.foundation.errors import InvalidInput
from flipwise.graphs.convert import as_graph
from flipwise.graphs.graph import Graph
from flipwise.minimization import minimize
from flipwise.model.constraints import Cardinality
from flipwise.model.quadratic import Quadratic

SEARCH_SHARE = 0.8
"""Share of the time limit that the search gets when a costly bound is wanted too."""


@dataclass(frozen=True, eq=False)
class CutResult:
    """A cut or partition and what is known about it.

    Attributes
    ----------
    value
        The weight of the edges between the parts.
    parts
        The part 0, 1, 2, ... of each node.
    bound
        No cut is better than this: an upper bound for `maxcut`, a lower one for `bisect` and `partition`; None if not
        known.
    status, seconds
        Why and when the search ended.
    peak_memory
        As in `flipwise.Result`.

    Examples
    --------
    >>> import flipwise
    >>> cut = flipwise.maxcut((3, [[0, 1], [1, 2]]), seed=0)
    >>> cut.value, sorted(cut.sizes.tolist())
    (2.0, [1, 2])
    """

    value: float
    parts: npt.NDArray[np.int64]
    bound: float | None
    status: Status
    seconds: float
    names: Sequence[Any] | None = None
    search: Result | None = field(default=None, repr=False)
    peak_memory: int | None = field(default_factory=peak_bytes, repr=False)

    @property
    def gap(self) -> float | None:
        """|bound - value| / |value|, or None without a bound."""
        if self.bound is None:
            return None
        difference = abs(self.bound - self.value)
        return 0.0 if difference == 0.0 else float("inf") if self.value == 0.0 else difference / abs(self.value)

    @property
    def x(self) -> Signs:
        """The first part as -1, all others as +1."""
        return np.where(self.parts == 0, -1, 1).astype(np.int8)

    @property
    def message(self) -> str:
        """The reason for stopping, as a sentence."""
        return self.status.value

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """The number of nodes in each part."""
        return np.bincount(self.parts)

    def nodes(self, part: int) -> list[Any]:
        """The nodes of one part, by their own names."""
        inside = np.flatnonzero(self.parts == part)
        return inside.tolist() if self.names is None else [self.names[int(i)] for i in inside]


def maxcut(
    graph: Any,
    *,
    bound: Bound = "auto",
    x0: npt.ArrayLike | None = None,
    seed: int | np.random.Generator | None = None,
    time_limit: float | None = None,
    callback: Callback | None = None,
    threads: int | None = None,
    verbose: bool = False,
    **options: Any,
) -> CutResult:
    """Two parts with as much weight between them as possible; weights may be negative.

    Parameters
    ----------
    graph
        A graph in any form that flipwise reads (see `flipwise.read_graph`): a path, scipy.sparse, networkx, `(n,
        edges)`.
    bound
        "auto", "sdp", "spectral", "simple" or "none" (see `flipwise.solve_qubo`).
    x0
        A start, -1/+1 for each node.
    seed, time_limit, callback, threads, verbose, **options
        As in `flipwise.minimize`, `checkpoint` and `every` among them.

    Examples
    --------
    >>> import flipwise
    >>> flipwise.maxcut((5, [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]]), seed=0).value
    4.0
    """
    simple = as_graph(graph)
    objective = cut_objective(simple, -1.0)  # the value is minus the cut
    kind = affordable_bound(objective, bound, time_limit)
    search_time = time_limit if time_limit is None or kind in ("simple", "none") else SEARCH_SHARE * time_limit
    shared = {"seed": seed, "callback": callback, "threads": threads, "verbose": verbose, **options}
    shared.setdefault("method", "portfolio")
    with outliving_search(shared) as kept:
        found = minimize(objective, x0=x0, time_limit=search_time, **kept)
        searched = time.perf_counter()
        proven = proven_bound(objective, None, kind, time_limit)
    value = -found.value if found.value else 0.0
    upper = None if proven is None else max(-_whole(simple, proven), value)
    log_proof(found.value, None if upper is None else -upper, time.perf_counter() - searched, verbose)
    status = Status.OPTIMAL if upper == value else found.status
    parts = (found.x > 0).astype(np.int64)
    return CutResult(value, parts, upper, status, found.seconds, simple.names, found)


def bisect(
    graph: Any,
    *,
    bound: Bound = "none",
    x0: npt.ArrayLike | None = None,
    seed: int | np.random.Generator | None = None,
    time_limit: float | None = None,
    callback: Callback | None = None,
    threads: int | None = None,
    rounds: int | None = None,
    verbose: bool = False,
    checkpoint: str | Path | None = None,
    every: float = 60.0,
) -> CutResult:
    """Two halves with as little weight between them as possible; with an odd number of nodes one has one more.

    Parameters
    ----------
    graph
        A graph in any form that flipwise reads (see `flipwise.read_graph`).
    bound
        A lower bound to prove: "none" (the default), "auto", "sdp", "spectral" or "simple".
    x0
        A start with exact halves, -1/+1 for each node.
    seed, time_limit, callback, threads, verbose
        As in `flipwise.minimize`.
    rounds
        Rounds of the search (each of four jobs) without a time limit; 30 by default.
    checkpoint, every
        As in `flipwise.minimize`.

    Examples
    --------
    >>> import flipwise
    >>> flipwise.bisect((6, [[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3], [0, 3]]), seed=0).value
    1.0
    """
    simple = as_graph(graph)
    if simple.n < 2:
        raise InvalidInput(f"`graph` must have at least 2 nodes, got {simple.n}.")
    objective = cut_objective(simple)
    half = Cardinality(simple.n // 2)
    kind = affordable_bound(objective, bound, time_limit)
    search_time = time_limit if time_limit is None or kind in ("simple", "none") else SEARCH_SHARE * time_limit
    with outliving_search({"checkpoint": checkpoint, "every": every}) as kept:
        found = split_graph(
            objective, half.r, x0=x0, seed=seed, time_limit=search_time, callback=callback, threads=threads,
            rounds=rounds, verbose=verbose, checkpoint=kept["checkpoint"],
        )  # fmt: skip
        searched = time.perf_counter()
        proven = proven_bound(objective, half, kind, time_limit)
    lower = (
        None if proven is None else min(max(0.0, _whole(simple, proven)) if _positive(simple) else proven, found.value)
    )
    log_proof(found.value, lower, time.perf_counter() - searched, verbose)
    status = Status.OPTIMAL if lower == found.value else found.status
    parts = (found.x > 0).astype(np.int64)
    return CutResult(found.value, parts, lower, status, found.seconds, simple.names, found)


def partition(
    graph: Any,
    sizes: int | Sequence[int],
    *,
    seed: int | np.random.Generator | None = None,
    time_limit: float | None = None,
    threads: int | None = None,
    rounds: int | None = None,
    verbose: bool = False,
) -> CutResult:
    """Parts of exactly the given sizes with as little weight between them as possible.

    Parameters
    ----------
    graph
        A graph in any form that flipwise reads (see `flipwise.read_graph`).
    sizes
        The size of each part (they add up to the number of nodes), or the number of parts of equal size.
    seed, time_limit, threads, rounds, verbose
        As in `bisect`.

    Examples
    --------
    >>> import flipwise
    >>> path = (6, [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]])
    >>> flipwise.partition(path, [2, 2, 2], seed=0).value
    2.0
    """
    simple = as_graph(graph)
    wanted = _part_sizes(simple.n, sizes)
    parts, status, seconds = split_into_parts(
        simple, wanted, seed=seed, time_limit=time_limit, threads=threads, rounds=rounds, verbose=verbose
    )
    return CutResult(cut_between(simple, parts), parts, None, status, seconds, simple.names)


def _part_sizes(n: int, sizes: int | Sequence[int]) -> Ints:
    """The sizes of the parts, checked."""
    if is_whole(sizes):
        if not 1 <= sizes <= n:
            raise InvalidInput(
                f"`sizes` must be between 1 and the {n} nodes when it is a number of parts, got {sizes}."
            )
        return np.array([n // sizes + (k < n % sizes) for k in range(int(sizes))], dtype=np.int64)
    wanted = np.asarray(sizes)
    if wanted.ndim != 1 or wanted.size == 0 or not np.issubdtype(wanted.dtype, np.integer) or (wanted < 1).any():
        raise InvalidInput(f"`sizes` must be a list of integers of at least 1, got {sizes!r}.")
    if int(wanted.sum()) != n:
        raise InvalidInput(f"`sizes` must add up to the {n} nodes of the graph, got {int(wanted.sum())}.")
    return wanted.astype(np.int64)


def cut_objective(graph: Graph, sign: float = 1.0) -> Quadratic:
    """The weight of the cut, times `sign`, as a quadratic in spins: sum_{i<j} w_ij (1 - x_i x_j) / 2."""
    weights = np.ones(graph.n_arcs) if graph.weights is None else graph.weights
    # scipy would widen the indices to the type of indptr
    indptr = graph.indptr.astype(graph.indices.dtype) if graph.n_arcs < 2**31 else graph.indptr
    A = sp.csr_array((weights * (-0.25 * sign), graph.indices, indptr), shape=(graph.n, graph.n))
    return Quadratic(A, d=sign * float(weights.sum()) / 4.0)


def cut_between(graph: Graph, parts: Ints) -> float:
    """The weight of the edges whose ends are in different parts."""
    rows = np.repeat(np.arange(graph.n), graph.degrees)
    across = parts[rows] != parts[graph.indices]
    weights = np.ones(graph.n_arcs) if graph.weights is None else graph.weights
    return float(weights[across].sum()) / 2.0


def _positive(graph: Graph) -> bool:
    return graph.weights is None or bool((graph.weights >= 0).all())


def _whole(graph: Graph, bound: float) -> float:
    """A lower bound rounded up to the next integer where all weights are integers."""
    whole = graph.weights is None or bool((graph.weights == np.rint(graph.weights)).all())
    return float(np.ceil(bound)) if whole and abs(bound) < 2.0**52 else bound
