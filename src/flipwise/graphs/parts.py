"""Partition into parts of exact sizes: recursive bisection, then the parts two at a time once more."""

from __future__ import annotations

import time
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from flipwise.arrays import Ints
from flipwise.checks import as_generator
from flipwise.graphs.graph import Graph
from flipwise.graphs.split import split_graph
from flipwise.objectives.quadratic import Quadratic
from flipwise.result import Status

ROUNDS = 10
"""Rounds of each bisection when no limit is given."""


def split_into_parts(
    graph: Graph,
    sizes: Ints,
    *,
    seed: int | np.random.Generator | None,
    time_limit: float | None,
    threads: int | None,
    rounds: int | None,
    verbose: bool = False,
) -> tuple[npt.NDArray[np.int64], Status, float]:
    """The part of each node, why the search ended, and the seconds it took."""
    started = time.perf_counter()
    rng = as_generator(seed)
    W = graph.to_scipy()
    parts = np.zeros(graph.n, dtype=np.int64)
    limits: dict[str, Any] = {"threads": threads, "rounds": rounds if rounds or time_limit else ROUNDS}
    limits["verbose"] = verbose
    # half of the time for the recursion, whose log2(parts) levels share it by the number of nodes they cut
    depth = max(1, int(np.ceil(np.log2(max(2, sizes.size)))))
    shares = None if time_limit is None else 0.5 * time_limit / (depth * graph.n)
    _recurse(W, np.arange(graph.n), sizes, 0, parts, rng, shares, limits)
    pairs = list(combinations(range(sizes.size), 2)) if sizes.size > 2 else []
    improved = True
    while improved and pairs:
        improved = False
        for done, (a, b) in enumerate(pairs):
            left = None if time_limit is None else time_limit - (time.perf_counter() - started)
            if left is not None and left <= 0.0:
                return parts, Status.TIME_LIMIT, time.perf_counter() - started
            share = None if left is None else left / (len(pairs) - done)
            improved |= _again(W, a, b, parts, rng, share, limits)
    return parts, Status.CONVERGED, time.perf_counter() - started


def _recurse(
    W: sp.csr_array,
    nodes: Ints,
    sizes: Ints,
    first: int,
    parts: npt.NDArray[np.int64],
    rng: np.random.Generator,
    shares: float | None,
    limits: dict[str, Any],
) -> None:
    """Cut `nodes` into parts `first`, `first + 1`, ... of the given sizes."""
    if sizes.size == 1:
        parts[nodes] = first
        return
    middle = sizes.size // 2
    ones = int(sizes[middle:].sum())
    limit = None if shares is None else shares * nodes.size
    up = split_graph(_inner(W, nodes), ones, seed=rng.spawn(1)[0], time_limit=limit, **limits).x > 0
    _recurse(W, nodes[~up], sizes[:middle], first, parts, rng, shares, limits)
    _recurse(W, nodes[up], sizes[middle:], first + middle, parts, rng, shares, limits)


def _again(
    W: sp.csr_array,
    a: int,
    b: int,
    parts: npt.NDArray[np.int64],
    rng: np.random.Generator,
    time_limit: float | None,
    limits: dict[str, Any],
) -> bool:
    """Cut the union of two parts again, from the present cut on; whether it became better."""
    nodes = np.flatnonzero((parts == a) | (parts == b))
    before = np.where(parts[nodes] == b, 1, -1).astype(np.int8)
    objective = _inner(W, nodes)
    ones = int(np.count_nonzero(before > 0))
    found = split_graph(objective, ones, x0=before, seed=rng.spawn(1)[0], time_limit=time_limit, **limits)
    if not found.value < objective.value(before.astype(np.float64)):
        return False
    parts[nodes] = np.where(found.x > 0, b, a)
    return True


def _inner(W: sp.csr_array, nodes: Ints) -> Quadratic:
    """The cut within `nodes` as a quadratic."""
    inner = W[nodes][:, nodes]
    inner.sort_indices()
    return Quadratic(inner * -0.25, d=float(inner.data.sum()) / 4.0)
