"""Hidden cliques: where k nodes are nearly a clique, one that is may be elsewhere, out of reach of exchanges.

A clique of k nodes lies in the (k-1)-core. There a walk among cliques (see `kernels.cliques`) looks for it, with
several penalty delays in turn: 1 suits random graphs, more those where nodes of large degree hide the clique.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle

import numpy as np
import numpy.typing as npt

from flipwise.densest.core import Core, core_above
from flipwise.foundation.arrays import Ints
from flipwise.graphs.graph import Graph
from flipwise.kernels import cliques as kernels

MOST_NODES = 2500
"""The largest core in which cliques are walked through: all pairs that are not joined are listed."""
DELAYS = (1, 45, 2, 15)
"""Penalty delays, in turn, ..."""
SLICE = 2e7
"""... each for so many elements looked at."""
NEARLY = 0.85
"""Only where at least this part of all pairs is joined already."""


def may_hide_clique(weight: float, k: int) -> bool:
    """Whether k nodes with so many edges are nearly a clique, but none."""
    pairs = k * (k - 1) / 2.0
    return NEARLY * pairs <= weight < pairs


def find_clique(
    core: Core, k: int, rng: np.random.Generator, stop: Callable[[], object | None], work: float
) -> Ints | None:
    """The nodes of a clique of k nodes (numbers of the whole graph), if one is found.

    The walk ends after `work` elements, or when `stop` returns something. It is for graphs without weights and
    cores whose cap is at most k - 2: no node outside is in such a clique.
    """
    if core.graph.weights is not None or core.cap > k - 2:
        return None
    narrow = core_above(core, float(max(k - 2, 0)))
    n = narrow.graph.n
    if not k <= n <= MOST_NODES:
        return None
    start, others = not_joined(narrow.graph)
    each = 1.0 + others.size / n
    member, missing, lists = np.zeros(n, np.uint8), np.zeros(n, np.int64), np.zeros((3, n), np.int64)
    lists[0] = np.arange(n)
    sizes, slot = np.array([n, 0, 0]), np.arange(n)
    used, stamp = np.full(n, -1), np.zeros(n, np.int64)
    place = np.array([rng.integers(1, 2**31 - 1), 0, 0, 0, 0])
    best = np.zeros(n, np.int64)
    walks = {delay: np.zeros(n, np.int64) for delay in DELAYS}
    for delay in cycle(DELAYS):
        arrays = member, missing, lists, sizes, slot, walks[delay], used, stamp, place, best
        size = kernels.clique_walk(start, others, *arrays, k, delay, max(1, int(SLICE / each)))
        if size >= k:
            return np.sort(narrow.nodes[best[:k]])
        work -= SLICE
        if work <= 0.0 or stop() is not None:
            return None
    return None


def not_joined(graph: Graph) -> tuple[Ints, npt.NDArray[np.int32]]:
    """For each node the others that it is not joined to: where they begin, and their numbers."""
    joined = np.eye(graph.n, dtype=bool)
    joined[np.repeat(np.arange(graph.n), graph.degrees), graph.indices] = True
    rows, columns = np.nonzero(~joined)
    start = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(rows, minlength=graph.n))])
    return start, columns.astype(np.int32)
