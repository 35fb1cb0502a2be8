"""Frank-Wolfe with diagonal loading, for dense subgraphs.

Lu, Sidiropoulos, Konar: On densest k-subgraph mining and diagonal loading, AAAI 2025. With the relaxation
    max x'(W + lambda I)x  over  0 <= x <= 1, 1'x = k
and lambda = 1 (for 0/1 weights the relaxation is then tight), from x = (k/n) 1:
    s <- the k largest entries of g = (W + lambda I)x                                               (1)
    x <- x + t (s - x),   t = min(1, <g, s - x> / (L |s - x|^2)),   L = lambda_max(W + lambda I)          (2)
until <g, s - x> = 0; the answer is the k largest entries of x. The steps are those of the authors' code. W s is added
up from the rows of s alone and W x follows from it, so an iteration costs O(n + arcs of s).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from flipwise.bounds.eigenvalues import smallest_eigenpair
from flipwise.densest.arcs import Arcs, arcs_of, as_arcs, report_sets
from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats, Ints, largest
from flipwise.foundation.checks import check_numbers, check_wholes
from flipwise.model.problem import Problem
from flipwise.solvers.relaxed import in_time, inner, stops_in_time

REPORT_EVERY = 10
"""Iterations between two roundings that are reported."""


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

    @stops_in_time
    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Iterate from the uniform point; the start `x` is not used."""
        arcs, k = arcs_of(problem, "frank-wolfe")
        run.offer(x, problem.objective.value(x))
        points = relaxed_points(arcs, k, self.lam, self.iterations, partial(in_time, run))
        return report_sets(problem, run, (largest(y, k) for y in points))


def frank_wolfe(
    indptr: Ints, indices: Ints, weights: Floats | None, k: int, lam: float = 1.0, iterations: int = 200
) -> Ints:
    """The k nodes, ascending, for a symmetric CSR graph (weights None: all 1)."""
    points = deque(relaxed_points(as_arcs(indptr, indices, weights, k), k, lam, iterations, lambda: None), maxlen=1)
    return largest(points[0], k)


def relaxed_points(arcs: Arcs, k: int, lam: float, iterations: int, check_time: Callable[[], None]) -> Iterator[Floats]:
    """The relaxed points, every few iterations and at the end."""

    def minus_times(v: Floats) -> Floats:
        check_time()
        return -arcs.times(v) if v.ndim == 1 else -np.stack([arcs.times(np.ascontiguousarray(c)) for c in v.T], axis=1)

    n = arcs.n
    x = np.full(n, k / n)
    L = max(lam - smallest_eigenpair(minus_times, n, tolerance=1e-4)[0], 1e-300)
    Wx = arcs.degrees() * (k / n)
    for iteration in range(1, iterations + 1):
        check_time()
        g = Wx + lam * x
        chosen = largest(g, k)  # (1)
        s = np.zeros(n)
        s[chosen] = 1.0
        d = s - x
        gain = inner(g, d)
        square = inner(d, d)
        if gain <= 1e-12 * abs(inner(g, x)) or square == 0.0:
            break
        t = min(1.0, gain / (L * square))
        x = x + t * d  # (2)
        Wx = (1.0 - t) * Wx + t * arcs.degrees_into(chosen)
        if iteration % REPORT_EVERY == 0:
            yield x
    yield x
