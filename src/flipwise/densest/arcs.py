"""What the methods for dense subgraphs share: the graph behind a problem, products with W, and reports.

A problem is of this kind when it is  min -b'Wb  over b in {0,1}^n with exactly k ones, W sparse, nonnegative, without a
diagonal. Written in spins x = 2b - 1 with A = -W/4 it reads x'Ax + c'x + d, c = -W1/2 up to a constant on every entry.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.checks import is_whole
from flipwise.foundation.errors import IncompatibleObjective, InvalidInput
from flipwise.kernels import subgraph
from flipwise.model.constraints import Cardinality
from flipwise.model.problem import Problem
from flipwise.model.quadratic import Quadratic
from flipwise.model.terms import Sparse


@dataclass(frozen=True, eq=False)
class Arcs:
    """A graph as CSR arrays; `weights` has one entry for each arc, or a single 1 that stands for all."""

    indptr: Ints
    indices: Ints
    weights: npt.NDArray[np.generic]

    @property
    def n(self) -> int:
        return int(self.indptr.size - 1)

    @property
    def is_unit(self) -> bool:
        """Whether every weight is 1."""
        return self.weights.size == 1  # a symmetric graph cannot have a single arc

    def times(self, x: Floats) -> Floats:
        """W x, on all threads."""
        product = np.empty(self.n)
        subgraph.multiply(self.indptr, self.indices, self.weights, x, product)
        return product

    def degrees(self) -> Floats:
        """W 1."""
        return np.diff(self.indptr).astype(np.float64) if self.is_unit else self.times(np.ones(self.n))

    def degrees_into(self, nodes: Ints) -> Floats:
        """W 1_S, touching the rows of S only."""
        product = np.zeros(self.n)
        subgraph.add_rows(self.indptr, self.indices, self.weights, nodes, product)
        return product


def as_arcs(indptr: Ints, indices: Ints, weights: Floats | None, k: int) -> Arcs:
    """The arrays a caller gave, with the size of the subgraph checked."""
    n = indptr.size - 1
    if not is_whole(k) or not 1 <= k <= n:
        raise InvalidInput(f"`k` must be an integer between 1 and the {n} nodes, got {k!r}.")
    if weights is not None and weights.size != indices.size:
        raise InvalidInput(f"`weights` must have one entry for each of the {indices.size} arcs, got {weights.size}.")
    unit = weights is None or weights.size == 0
    return Arcs(indptr, indices, np.ones(1) if unit else np.asarray(weights, dtype=np.float64))


def arcs_of(problem: Problem, method: str) -> tuple[Arcs, int]:
    """The graph and k behind a problem; an error that says what is missing when it is of another kind."""
    objective, constraint = problem.objective, problem.constraint
    assert isinstance(objective, Quadratic)
    assert isinstance(constraint, Cardinality)
    only = objective.terms[0]
    if len(objective.terms) != 1 or not isinstance(only, Sparse):
        raise _refused(method, "A is not a single sparse matrix")
    A = only.A
    if A.diagonal().any():
        raise _refused(method, "A has a diagonal")
    if A.nnz and float(A.data.max()) > 0.0:
        raise _refused(method, f"W has the negative weight {-4.0 * float(A.data.max())}")
    # c + W1/2 must be the same everywhere: on a fixed count a constant slope changes nothing.
    rest = objective.c - 2.0 * objective.times(np.ones(problem.n))
    size = float(np.abs(objective.c).max(initial=0.0)) + float(np.abs(rest).max(initial=0.0))
    if float(np.ptp(rest)) > 1e-9 * max(size, 1e-300):
        raise _refused(method, "it has linear terms in b")
    first = float(A.data[0]) if A.nnz else -0.25
    unit = first == -0.25 and bool((A.data == first).all())
    return Arcs(A.indptr, A.indices, np.ones(1) if unit else -4.0 * A.data), int(constraint.count)


def _refused(method: str, why: str) -> IncompatibleObjective:
    return IncompatibleObjective(
        f'method="{method}" finds dense subgraphs only: it needs flipwise.Quadratic(-W, variables="binary") with W '
        f"sparse, nonnegative and without a diagonal; here {why}. Use dpcd or another method for general quadratics."
    )


def report_sets(problem: Problem, run: Run, sets: Iterable[Ints]) -> Status:
    """Report each set of nodes as an iteration; with the last of them the method has converged."""
    for nodes in sets:
        x = np.full(problem.n, -1.0)
        x[nodes] = 1.0
        x = x.reshape(problem.shape)
        stop = run.step(x, problem.objective.value(x))
        if stop is not None:
            return stop
    return Status.CONVERGED
