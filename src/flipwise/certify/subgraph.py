"""All bounds on the weight among k nodes of a graph, gathered: each name with its value, the least one wins."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from flipwise.certify.clique import clique_bound, order_bound
from flipwise.graphs.core import Core


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
