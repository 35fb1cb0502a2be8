"""RAVI: greedy dispersion, for dense subgraphs.

Ravi, Rosenkrantz, Tayi: Heuristic and special case algorithms for dispersion problems, Oper. Res. 42, 1994 (the greedy
algorithm for the average). Start from the two ends of the heaviest edge; then add, one at a time,
    the node with the largest total weight to the nodes chosen so far                               (1)
until k nodes are chosen. Ties, which the authors leave open, go to the larger weighted degree, then to the first node.
A heap over the touched nodes makes a run O(arcs of the chosen nodes * log n).
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
class Ravi:
    """The method "ravi"; it has no parameters."""

    name: ClassVar[str] = "ravi"

    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Grow one set; the start `x` is not used."""
        arcs, k = arcs_of(problem, "ravi")
        run.offer(x, problem.objective.value(x))
        return report_sets(problem, run, [_grow(arcs, k)])


def greedy_dispersion(indptr: Ints, indices: Ints, weights: Floats | None, k: int) -> Ints:
    """The k nodes, in the order in which they were chosen, for a symmetric CSR graph (weights None: all 1)."""
    return _grow(as_arcs(indptr, indices, weights, k), k)


def _grow(arcs: Arcs, k: int) -> Ints:
    chosen = np.empty(k, dtype=np.int64)
    if k == 0:
        return chosen
    tie = arcs.degrees()
    by_tie = np.argsort(-tie, kind="stable")
    first, second = kernels.heaviest_edge(arcs.indptr, arcs.indices, arcs.weights, tie)
    place = np.full(arcs.n, -1, dtype=np.int64)
    heap = np.empty(arcs.n, dtype=np.int64)
    kernels.greedy_growth(
        arcs.indptr,
        arcs.indices,
        arcs.weights,
        tie,
        by_tie,
        np.int64(first),
        np.int64(second),
        chosen,
        place,
        heap,
        np.zeros(arcs.n),
    )  # (1)
    return chosen
