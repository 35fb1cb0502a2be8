"""Bounds on the weight among k nodes of a graph: those that need no optimisation, and all of them gathered.

clique   k nodes have k(k-1)/2 pairs, each of at most the largest weight.
order    In any order of all nodes, let o_i be the number of neighbours of i that come later. Each edge of S belongs to
         its earlier end, and the member with t members after it owns at most min(o_i, t) of them:
             E(S) <= sum over t = 0..k-1 of min(t, the (t+1)-th smallest of the k largest o).
         (Pairing both in ascending order is the worst case, since min is supermodular.) The peeling order makes every
         o_i at most the largest core number D, so k > D nodes have at most kD - D(D+1)/2 edges.

Of all bounds, each with its name and value, the least one wins.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from flipwise.densest.core import Core
from flipwise.kernels.jit import threads_worth
from flipwise.kernels.peeling import later_neighbours


@dataclass(eq=False)
class SubgraphBounds:
    """Proven upper bounds on E(S), the weight of the edges inside S, over all sets S of k nodes."""

    k: int
    integral: bool
    known: dict[str, float] = field(default_factory=dict)

    def add(self, name: str, bound: float) -> None:
        """Note a bound; where all weights are integers E(S) is one too, and the bound is rounded down to it."""
        if self.integral:
            bound = math.floor(bound)
        self.known[name] = min(float(bound), self.known.get(name, math.inf))

    @property
    def best(self) -> tuple[str, float]:
        """The name and the value of the least bound."""
        name = min(self.known, key=lambda each: self.known[each])
        return name, self.known[name]

    def densities(self) -> dict[str, float]:
        """The bounds as densities 2 E / k, rounded up where the division is not exact."""
        return {name: self.density(bound) for name, bound in self.known.items()}

    def density(self, weight: float) -> float:
        """2 E / k; for integers the same expression as the density of a set, so that equal weights compare equal."""
        quotient = 2.0 * weight / self.k
        return quotient if self.integral else math.nextafter(quotient, math.inf)


def simple_bounds(core: Core, k: int, largest: float, integral: bool) -> SubgraphBounds:
    """The bounds that cost next to nothing; `largest` is the largest weight of the whole graph."""
    bounds = SubgraphBounds(k, integral)
    bounds.add("clique", clique_bound(k, largest) * (1.0 if integral else 1.0 + 1e-15))
    if core.graph.weights is None:
        bounds.add("order", order_bound(core, k))
    return bounds


def clique_bound(k: int, largest_weight: float) -> float:
    return k * (k - 1) / 2 * max(0.0, largest_weight)


def order_bound(core: Core, k: int) -> int:
    """The order bound of an unweighted core by its peeling order; nodes outside come first and own at most `cap`."""
    graph = core.graph
    place = np.empty(graph.n, dtype=np.int64)
    place[core.order] = np.arange(graph.n)
    later = np.zeros(graph.n, dtype=np.int64)
    with threads_worth(graph.n_arcs):
        later_neighbours(graph.indptr, graph.indices, place, later)
    outside = int(max(core.cap, 0.0))
    largest = np.sort(np.maximum(later, outside))[max(0, graph.n - k) :]
    largest = np.concatenate([np.full(k - largest.size, outside, dtype=np.int64), largest])
    return int(np.minimum(np.arange(k), largest).sum())
