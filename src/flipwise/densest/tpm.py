"""TPM: the truncated power method, for dense subgraphs.

Yuan, Zhang: Truncated power method for sparse eigenvalue problems, JMLR 14, 2013 (section on the densest k-subgraph):
    S <- the k largest entries of (W + lambda I) 1_S                                                (1)
from the k nodes of largest degree, until S or its density stays. With W + lambda I positive semidefinite every step
raises the density; as in the authors' program, a step that would lower it is repeated with lambda = 0.0001, 0.001, ...
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from flipwise.densest.arcs import Arcs, arcs_of, as_arcs, report_sets
from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats, Ints, largest
from flipwise.foundation.checks import check_numbers, check_wholes
from flipwise.model.problem import Problem

FIRST_SHIFT = 1e-4


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
        arcs, k = arcs_of(problem, "tpm")
        run.offer(x, problem.objective.value(x))
        return report_sets(problem, run, (nodes for nodes, _ in _power_steps(arcs, k, self.lam, self.iterations)))


def truncated_power(
    indptr: Ints, indices: Ints, weights: Floats | None, k: int, lam: float = 0.0, iterations: int = 1000
) -> Ints:
    """The k nodes, ascending, for a symmetric CSR graph (weights None: all 1)."""
    best: Ints = np.arange(k)
    best_weight = -np.inf
    for nodes, weight in _power_steps(as_arcs(indptr, indices, weights, k), k, lam, iterations):
        if weight > best_weight:
            best, best_weight = nodes, weight
    return best


def _power_steps(arcs: Arcs, k: int, lam: float, iterations: int) -> Iterator[tuple[Ints, float]]:
    """The sets S with their x'Wx, beginning with the nodes of largest degree."""
    nodes = largest(arcs.degrees(), k)
    product = arcs.degrees_into(nodes)
    weight = float(product[nodes].sum())
    yield nodes, weight
    for _ in range(iterations):
        shift = lam
        while True:
            loaded = product.copy()
            loaded[nodes] += shift
            following = largest(loaded, k)  # (1)
            if np.array_equal(following, nodes):
                return
            new = arcs.degrees_into(following)
            new_weight = float(new[following].sum())
            if new_weight >= weight:
                break
            shift = max(10.0 * shift, FIRST_SHIFT)
        if new_weight == weight:
            return
        nodes, product, weight = following, new, new_weight
        yield nodes, weight
