"""Small graphs: the best set of all, by a walk through all sets that leaves branches whose bound is too low.

The bound of a branch is in `kernels.enumeration`. Where weights are multiples of one number, all sums are exact. Other
sums are rounded; then every set whose weight is within twice the largest possible error of the best one is kept, and
these are compared in rational arithmetic. Too many of them, and nothing is claimed.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from flipwise.densest.core import weight_matrix
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats, Ints
from flipwise.graphs.graph import Graph
from flipwise.kernels import enumeration as kernels

MOST_NODES = 64
"""The largest graph that is walked through."""
QUICK_WORK = 2e7
"""Elements looked at before any search (some hundredths of a second), ..."""
MOST_WORK = 4e8
"""... and after one (about half a second)."""
FIRST_SLICE, SLICE = 5e4, 2e7
"""Elements between two looks at the clock: few at first, for that is often enough and needs no compiler."""
MOST_TIES = 64
"""Sets that may be as good as the best one by their rounded weights."""
_EPS = float(np.finfo(np.float64).eps)


class BestSet(NamedTuple):
    """A set that no other of its size exceeds, in exact arithmetic, and its weight E."""

    nodes: Ints
    weight: float


def best_of_all(graph: Graph, k: int, known: Ints, *, exact: bool, run: Run, work: float = MOST_WORK) -> BestSet | None:
    """The best set of k nodes; None where `work` or the time is too little for it.

    `known` is a set of k nodes to begin with, `exact` says that sums of weights are not rounded.
    """
    n, W = graph.n, weight_matrix(graph)
    order = np.argsort(-np.maximum(W, 0.0).sum(axis=1), kind="stable")
    W = W[np.ix_(order, order)]
    inside = np.isin(order, known)
    best = np.array([float(W[np.ix_(inside, inside)].sum()) / 2.0])
    # Weights, and the bounds of branches, are sums of k sums of k numbers, none larger than the largest. The error
    # counts twice: that of the best set, and that of the one it is compared with.
    slack = 0.0 if exact else 16.0 * _EPS * (k + 2.0) ** 3 * float(np.abs(W).max(initial=0.0))
    ties, sums, decided, chosen = (
        np.zeros((k + 1, n)),
        np.zeros(k + 1),
        np.zeros(n + 1, np.int64),
        np.zeros(k, np.int64),
    )
    found, place = np.zeros((MOST_TIES if slack else 1, k), np.int64), np.zeros(4, np.int64)
    walk = W, half_sums(W, k), k, slack, best, ties, sums, decided, chosen, found, np.zeros(k), place
    slice_ = FIRST_SLICE
    while not kernels.walk_sets(*walk, max(1, int(slice_ / n))):
        if place[kernels.VISITS] * n >= work or run.check_time() is not None:
            return None
        slice_ = min(10.0 * slice_, SLICE)
    count = int(place[kernels.FOUND])
    if count > len(found) or (slack and not count):
        return None
    sets = [np.sort(order[row]) for row in found[:count]] if count else [np.sort(order[inside])]
    weights = [exact_weight(graph, nodes) for nodes in sets]
    at = max(range(len(sets)), key=weights.__getitem__)
    return BestSet(sets[at], float(weights[at]))


def exact_weight(graph: Graph, nodes: Ints) -> Fraction:
    """The weight of a set of nodes, as a rational number."""
    inner = weight_matrix(graph)[np.ix_(nodes, nodes)]
    return sum(map(Fraction, inner[np.triu_indices(nodes.size, 1)].tolist()), Fraction())


def half_sums(W: Floats, k: int) -> Floats:
    """half[t, r, i]: half of the r < k largest weights between i and the others from t on, added up."""
    n = len(W)
    half = np.zeros((n, k, n))
    for t in range(n):
        others = np.where(np.eye(n, dtype=bool), -np.inf, W)[:, t:]
        largest = -np.sort(-others, axis=1)[:, : k - 1]
        half[t, 1 : 1 + largest.shape[1]] = np.cumsum(0.5 * largest, axis=1).T
    return half
