"""Small graphs: the densest set of all that keep some conditions, by a walk through all sets.

Sums are whole numbers (see `densest.flow.in_units`). Where weights had to be rounded, all sets that may be as good as
the best one by these are compared in rational arithmetic; too many of them, and nothing is claimed.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from flipwise.densest.conditions import ConditionedGraph
from flipwise.densest.core import weight_matrix
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Ints
from flipwise.kernels import subsets as kernels
from flipwise.model.exactness import common_divisor

MOST_FREE = 22
"""The most free nodes whose sets are walked through ..."""
MOST_CHOSEN = 38
"""... beside so many that are chosen anyway."""
FIRST_SLICE, SLICE = 3_000, 400_000
"""Sets between two looks at the clock."""
MOST_TIES = 1024
"""Sets that may be as good as the best one by their rounded weights."""
BITS = 52
"""What all weights together may take, where they are rounded."""


class NoFeasibleSet(Exception):
    """All sets were looked at, and none keeps the conditions."""


def densest_of_all(conditioned: ConditionedGraph, run: Run) -> Ints | None:
    """The densest set, by its nodes in the whole graph; None where there are too many sets, ties, or no time."""
    n, paid = conditioned.free.size, conditioned.paid
    if n > MOST_FREE or paid > MOST_CHOSEN:
        return None
    matrix = weight_matrix(conditioned.graph)
    numbers = np.concatenate([matrix[np.triu_indices(n, 1)], conditioned.bonus, [conditioned.extra]])
    unit = common_divisor(numbers)
    exact = conditioned.unit > 0.0 and unit > 0.0
    if not exact:
        unit = max(float(np.abs(numbers).sum()), 1e-300) / 2.0**BITS
    W, bonus, extra = (np.rint(part / unit).astype(np.int64) for part in (matrix, conditioned.bonus, conditioned.extra))
    slack = 0 if exact else 2 * (n + paid + 2) ** 2  # every number is off by less than 1, in either set
    place = np.zeros(7, np.int64)
    place[kernels.WEIGHT], place[kernels.BEST_SIZE] = extra, 1
    found = np.zeros((1 if exact else MOST_TIES, 3), np.int64)
    conditions = conditioned.conditions
    walk = W, bonus, paid, max(conditioned.least, 0), conditioned.most, slack
    arrays = _neighbour_bits(conditioned) if conditions.connected else np.empty(0, np.int64), np.zeros(n, np.int64)
    slice_ = FIRST_SLICE
    while not kernels.walk_subsets(*walk, *arrays, place, found, slice_):
        if run.check_time() is not None:
            return None
        slice_ = min(10 * slice_, SLICE)
    count = int(place[kernels.FOUND])
    if not count:
        raise NoFeasibleSet
    if count > len(found):
        return None
    sets = [conditioned.chosen(np.flatnonzero((int(row[0]) >> np.arange(n)) & 1)) for row in found[:count]]
    return max(sets, key=lambda nodes: exact_density(conditioned, nodes)) if len(sets) > 1 else sets[0]


def exact_density(conditioned: ConditionedGraph, nodes: Ints) -> Fraction:
    """(x'Wx + c'x) / |S| as a rational number."""
    inner = weight_matrix(conditioned.whole.subgraph(nodes))[np.triu_indices(nodes.size, 1)]
    total = sum(map(Fraction, inner.tolist()), Fraction()) + sum(map(Fraction, conditioned.half[nodes].tolist()))
    return 2 * total / nodes.size


def _neighbour_bits(conditioned: ConditionedGraph) -> Ints:
    """The neighbours of each free node, then of each included one, as bits."""
    nodes = np.concatenate([conditioned.free, conditioned.conditions.include])
    order = np.argsort(nodes)
    joined = np.zeros((nodes.size, nodes.size), bool)
    joined[np.ix_(order, order)] = weight_matrix(conditioned.whole.subgraph(nodes[order])) != 0.0
    masks: Ints = (joined.astype(np.int64) << np.arange(nodes.size)).sum(axis=1)
    return masks
