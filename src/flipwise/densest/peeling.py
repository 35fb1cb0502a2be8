"""Greedy peeling, for dense subgraphs.

Asahiro, Iwama, Tamaki, Tokuyama: Greedily finding a dense subgraph, J. Algorithms 34, 2000. Remove
    the node of least degree among those left                                                     (1)
until k nodes are left. Lists by degree make it O(n + arcs) without weights; with weights a heap takes their place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from flipwise.densest.arcs import Arcs, arcs_of, as_arcs, report_sets
from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats, Ints
from flipwise.kernels import peeling as kernels
from flipwise.model.problem import Problem


@dataclass(frozen=True)
class Peeling:
    """The method "peeling"; it has no parameters."""

    name: ClassVar[str] = "peeling"

    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Peel down to k nodes; the start `x` is not used."""
        arcs, k = arcs_of(problem, "peeling")
        run.offer(x, problem.objective.value(x))
        return report_sets(problem, run, [_peel(arcs)[arcs.n - k :]])


def peel(indptr: Ints, indices: Ints, weights: Floats | None, k: int) -> Ints:
    """The k nodes left at the end, ascending, for a symmetric CSR graph (weights None: all 1)."""
    arcs = as_arcs(indptr, indices, weights, k)
    return np.sort(_peel(arcs)[arcs.n - k :])


def _peel(arcs: Arcs) -> Ints:
    """All nodes in the order of (1)."""
    n = arcs.n
    nodes = np.empty(n, dtype=np.int64)
    place = np.empty(n, dtype=np.int64)
    if arcs.is_unit:
        degrees = np.diff(arcs.indptr).astype(np.int64)
        head = np.empty(int(degrees.max(initial=0)) + 1, dtype=np.int64)
        kernels.peel_least(arcs.indptr, arcs.indices, degrees, head, np.empty(n, dtype=np.int64), place, nodes)
    else:
        heap = np.empty(n, dtype=np.int64)
        kernels.weighted_peeling_order(arcs.indptr, arcs.indices, arcs.weights, arcs.degrees(), heap, place, nodes)
    return nodes
