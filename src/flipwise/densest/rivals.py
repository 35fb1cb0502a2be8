"""The published methods for dense subgraphs as solvers; what they compute is in `densest.starts`.

They solve  min -b'Wb  over b in {0,1}^n with exactly k ones, W sparse, nonnegative, without a diagonal. Written in
spins x = 2b - 1 with A = -W/4 it reads x'Ax + c'x + d, c = -W1/2 up to a constant on every entry.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from flipwise.bounds.eigenvalues import smallest_eigenpair
from flipwise.densest.starts import frank_wolfe_points, peeled_nodes, power_sets, ravi_nodes
from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats, Ints, largest
from flipwise.foundation.checks import check_numbers, check_wholes
from flipwise.foundation.errors import IncompatibleObjective
from flipwise.graphs.graph import Graph
from flipwise.model.constraints import Cardinality
from flipwise.model.problem import Problem
from flipwise.model.quadratic import Quadratic
from flipwise.model.terms import Sparse
from flipwise.solvers.relaxed import in_time


@dataclass(frozen=True)
class Ravi:
    """The method "ravi", greedy dispersion; it has no parameters."""

    name: ClassVar[str] = "ravi"

    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Grow one set; the start `x` is not used."""
        graph, k = graph_of(problem, self.name)
        run.offer(x, problem.objective.value(x))
        return _report_sets(problem, run, [ravi_nodes(graph, k)])


@dataclass(frozen=True)
class Peeling:
    """The method "peeling"; it has no parameters."""

    name: ClassVar[str] = "peeling"

    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Peel down to k nodes; the start `x` is not used."""
        graph, k = graph_of(problem, self.name)
        run.offer(x, problem.objective.value(x))
        return _report_sets(problem, run, [peeled_nodes(graph, k)])


@dataclass(frozen=True)
class FrankWolfe:
    """The method "frank-wolfe", with its options.

    Parameters
    ----------
    lam
        The diagonal load.
    iterations
        The most iterations.
    """

    name: ClassVar[str] = "frank-wolfe"
    lam: float = 1.0
    iterations: int = 200

    def __post_init__(self) -> None:
        check_numbers(self, "lam", least=0.0)
        check_wholes(self, "iterations")

    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Iterate from the uniform point; the start `x` is not used."""
        graph, k = graph_of(problem, self.name)
        run.offer(x, problem.objective.value(x))
        W = -graph.to_scipy()

        def minus_times(v: Floats) -> Floats:
            in_time(run)  # one product may take long
            return W @ v

        most = -smallest_eigenpair(minus_times, graph.n, tolerance=1e-4)[0]
        points = frank_wolfe_points(graph, k, most, self.lam, self.iterations)
        return _report_sets(problem, run, (largest(point, k) for point in points))


@dataclass(frozen=True)
class TPM:
    """The method "tpm", with its options.

    Parameters
    ----------
    lam
        The first diagonal load.
    iterations
        The most power steps.
    """

    name: ClassVar[str] = "tpm"
    lam: float = 0.0
    iterations: int = 1000

    def __post_init__(self) -> None:
        check_numbers(self, "lam", least=0.0)
        check_wholes(self, "iterations")

    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Iterate from the nodes of largest degree; the start `x` is not used."""
        graph, k = graph_of(problem, self.name)
        run.offer(x, problem.objective.value(x))
        sets = power_sets(graph, k, self.lam, self.iterations)
        return _report_sets(problem, run, (nodes for nodes, _ in sets))


def graph_of(problem: Problem, method: str) -> tuple[Graph, int]:
    """The graph and k behind a problem; an error that says what is missing when it is of another kind."""
    objective, constraint = problem.objective, problem.constraint
    assert isinstance(objective, Quadratic)
    assert isinstance(constraint, Cardinality)
    only = objective.terms[0]
    if len(objective.terms) != 1 or not isinstance(only, Sparse):
        raise _refusal(method, "A is not a single sparse matrix")
    A = only.A
    if A.diagonal().any():
        raise _refusal(method, "A has a diagonal")
    if A.nnz and float(A.data.max()) > 0.0:
        raise _refusal(method, f"W has the negative weight {-4.0 * float(A.data.max())}")
    # c + W1/2 must be the same everywhere: on a fixed count a constant slope changes nothing.
    rest = objective.c - 2.0 * objective.times(np.ones(problem.n))
    size = float(np.abs(objective.c).max(initial=0.0)) + float(np.abs(rest).max(initial=0.0))
    if float(np.ptp(rest)) > 1e-9 * max(size, 1e-300):
        raise _refusal(method, "it has linear terms in b")
    unit = bool((A.data == -0.25).all())
    return Graph(A.indptr.astype(np.int64), A.indices, None if unit else -4.0 * A.data), int(constraint.count)


def _refusal(method: str, why: str) -> IncompatibleObjective:
    """The error for a problem of another kind."""
    return IncompatibleObjective(
        f'method="{method}" finds dense subgraphs only: it needs flipwise.Quadratic(-W, variables="binary") with W '
        f"sparse, nonnegative and without a diagonal; here {why}. Use dpcd or another method for general quadratics."
    )


def _report_sets(problem: Problem, run: Run, sets: Iterable[Ints]) -> Status:
    """Report each set of nodes as an iteration; with the last of them the method has converged."""
    for nodes in sets:
        x = np.full(problem.n, -1.0)
        x[nodes] = 1.0
        x = x.reshape(problem.shape)
        stop = run.step(x, problem.objective.value(x))
        if stop is not None:
            return stop
    return Status.CONVERGED
