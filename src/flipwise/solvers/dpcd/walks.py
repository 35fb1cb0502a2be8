"""The neighbourhood search of the improved algorithm on quadratics: walks that rise before they fall.

The paper draws sets of m flips at random; at a point that no flip improves they find nothing (measured: 0.00 % for 80 %
of the time). A walk makes the best move again and again, though f rises, and keeps the best point that it meets. Where
rows are full, it is a tabu walk over all coordinates; where they are sparse, short chains of neighbours, from every
coordinate.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats, Ints
from flipwise.kernels import walks as kernels
from flipwise.model.constraints import Constraint, is_built_in
from flipwise.model.objective import SupportsFlips
from flipwise.model.quadratic import Quadratic
from flipwise.model.terms import Sparse

PATIENCE = 5
"""A tabu walk ends after so many steps for each variable without a new best point."""
TENURE = 10
"""Steps that a coordinate rests at least; one more for every hundred variables."""
SWAP_TENURE, SWAP_PATIENCE = 30, 10
"""The same for swaps; they rest for a thirtieth of the smaller side at most, or too few are left to choose from."""
CHAIN_LENGTH, CHAIN_PATIENCE = 20, 10
"""Flips in a chain, and flips without a new least value before it ends (measured on glasses of degree 4 to 40)."""
CHAIN_WIDTH = 1000
"""Neighbours that a chain chooses from at most."""
DENSE_SHARE = 0.03
"""Share of nonzeros from which a tabu walk on whole rows finds more than chains in the same time."""
DENSE_VARIABLES = 5000
"""The most variables whose sparse matrix is written out for a tabu walk."""
VECTORISED = 256
"""Up to so many variables a walk in NumPy takes less time than loading the compiler."""
ENTRIES_AT_A_TIME = 20_000_000
"""Matrix entries read between two looks at the clock."""


class Walk(ABC):
    """A search from a local optimum."""

    exhaustive: ClassVar[bool]
    """Whether the walk ends only where it finds nothing more, so that a second one is in vain."""

    def is_due(self, k: int) -> bool:
        """Whether the walk follows the update k, whatever that did: never, only at a local optimum."""
        return False

    @abstractmethod
    def __call__(self, x: Floats, g: Floats, rng: np.random.Generator, run: Run) -> tuple[int, float]:
        """Move to a better point if one is met, `x` and `g` in place; returns (flips, change of f)."""


def make_walk(objective: SupportsFlips, constraint: Constraint) -> Walk | None:
    """The walk that fits the structure, or None where none is known to pay."""
    if not isinstance(objective, Quadratic) or not is_built_in(constraint) or objective.n < 2:
        return None
    matrix = objective.matrix
    if matrix is None:
        return None
    labels = constraint.labels(objective.shape) if constraint.swaps else None
    if isinstance(matrix, Sparse):
        filled = matrix.A.nnz >= DENSE_SHARE * objective.n**2 or labels is not None
        if not filled or objective.n > DENSE_VARIABLES:
            return None if labels is not None else Chains(objective, matrix)
        return TabuWalk(objective, matrix.A.toarray(), labels)
    return TabuWalk(objective, matrix.A, labels)


@dataclass(frozen=True)
class TabuWalk(Walk):
    """The best flip, or under counts the best swap, again and again; who has moved rests a while."""

    objective: Quadratic
    A: Floats
    labels: Ints | None

    exhaustive: ClassVar[bool] = False

    def __call__(self, x: Floats, g: Floats, rng: np.random.Generator, run: Run) -> tuple[int, float]:
        n = self.objective.n
        point, best_x = x.reshape(-1).copy(), x.reshape(-1).copy()
        d = _flip_changes(self.objective, x, g)
        slack = float(self.objective.slack.max(initial=0.0))
        free_at = np.zeros(n, dtype=np.int64)
        random = rng.integers(1, 2**63, size=1, dtype=np.uint64)
        groups = () if self.labels is None else (self.labels,)
        kernel = kernels.dense_walk if self.labels is None else kernels.dense_swap_walk
        tenure = min(n // 4, TENURE + n // 100)
        patience = PATIENCE * n
        if self.labels is not None:
            ones = int(np.count_nonzero(x > 0))
            side = min(ones, n - ones) // (1 + int(self.labels.max(initial=0)))
            tenure, patience = min(tenure, side // SWAP_TENURE), SWAP_PATIENCE * n
        chunk = max(1, min(patience, ENTRIES_AT_A_TIME // n))
        kernel.expect(kernels.STEP_OPERATIONS * patience if n <= VECTORISED else patience * n)
        steps = waited = 0
        at = lowest = 0.0
        while waited < patience and not run.clock.expired:
            change, best = kernel(
                self.A, *groups, chunk, tenure, slack, point, d, free_at, best_x, steps, lowest - at, random
            )
            waited = 0 if at + best < lowest else waited + chunk
            lowest = min(lowest, at + best)
            at += change
            steps += chunk
        return _move_to(self.objective, x, g, best_x) if lowest < 0.0 else (0, 0.0)


@dataclass(frozen=True)
class Chains(Walk):
    """From every coordinate a chain of flips of neighbours, kept as far as it lowers f; again around what changed."""

    objective: Quadratic
    matrix: Sparse

    exhaustive: ClassVar[bool] = True

    def __call__(self, x: Floats, g: Floats, rng: np.random.Generator, run: Run) -> tuple[int, float]:
        n = self.objective.n
        point = x.reshape(-1).copy()
        d = _flip_changes(self.objective, x, g)
        slack = float(self.objective.slack.max(initial=0.0))
        due = np.ones(n, dtype=np.bool_)
        touched, chain = np.empty(CHAIN_WIDTH, dtype=np.int64), np.empty(CHAIN_LENGTH, dtype=np.int64)
        mark = np.zeros(n + 1, dtype=np.int64)
        entries = max(1, self.matrix.A.nnz // n) * CHAIN_LENGTH
        chunk = max(1, ENTRIES_AT_A_TIME // (64 * entries))
        kernels.csr_chains.expect(float(n) * entries)
        flips = 0
        while due.any():
            seeds = rng.permutation(np.flatnonzero(due))
            for first in range(0, seeds.size, chunk):
                if run.clock.expired:
                    due[:] = False
                    break
                made, _ = kernels.csr_chains(
                    *self.matrix.arrays, slack, CHAIN_LENGTH, CHAIN_PATIENCE, seeds[first : first + chunk],
                    due, touched, mark, chain, point, d,
                )  # fmt: skip
                flips += int(made)
        return _move_to(self.objective, x, g, point) if flips else (0, 0.0)


def _flip_changes(objective: Quadratic, x: Floats, g: Floats) -> Floats:
    """The change of f when one coordinate flips, for each."""
    return np.ascontiguousarray((-2.0 * x * objective.flip_gradient(x, g)).reshape(-1))


def _move_to(objective: Quadratic, x: Floats, g: Floats, found: Floats) -> tuple[int, float]:
    """Go to the point found, its gradient and value made anew, unless rounding has only feigned the gain."""
    before = objective.value_at(x, g)
    point = found.reshape(x.shape)
    fresh = objective.gradient(point)
    change = objective.value_at(point, fresh) - before
    if not change < 0.0:
        return 0, 0.0
    flips = int(np.count_nonzero(point != x))
    x[...], g[...] = point, fresh
    return flips, change
