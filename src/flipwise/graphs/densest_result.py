"""The answer of `densest_subgraph`: a `Result` that speaks of nodes and densities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from flipwise.arrays import Ints
from flipwise.result import Result


@dataclass
class DensestSubgraph(Result):
    """k nodes, how dense they are, and how dense any k nodes can be at most.

    Everything a `Result` has is here too: `x` is the 0/1 vector of the nodes, `value` the minimised objective `-x'Wx`.
    Two names mean the density, not the objective: `bound` and `gap`.

    Attributes
    ----------
    nodes
        The chosen nodes: the graph's own labels where it has names, otherwise their numbers, ascending.
    density
        `x'Wx / k`, twice the weight of the edges inside divided by k: the average degree inside.
    edge_density
        The weight inside divided by the k(k-1)/2 pairs; 0 for k = 1.
    bound
        No k nodes have a density above this. None when nothing was proven (`certify=False`).
    bound_method
        Which bound won: "clique", "order", "loads" or "pairs".
    bounds
        Every bound that was computed, as densities.

    Examples
    --------
    >>> import networkx as nx, flipwise
    >>> result = flipwise.densest_subgraph(nx.lollipop_graph(5, 10), 5, seed=0)
    >>> sorted(result.nodes), result.density, result.optimal
    ([0, 1, 2, 3, 4], 4.0, True)
    """

    k: int = 0
    density: float = 0.0
    edge_density: float = 0.0
    bound_method: str | None = None
    bounds: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    names: Sequence[Any] | None = field(default=None, repr=False)

    @property
    def indices(self) -> Ints:
        """The numbers of the chosen nodes, ascending."""
        return np.flatnonzero(self.x > 0)

    @property
    def nodes(self) -> list[Any]:
        """The chosen nodes by their own labels."""
        if self.names is None:
            return [int(i) for i in self.indices]
        return [self.names[int(i)] for i in self.indices]

    @property
    def gap(self) -> float | None:
        """`bound / density - 1`: by how much a denser set could beat this one; 0.0 when it is proven optimal."""
        if self.bound is None:
            return None
        if self.bound <= self.density:
            return 0.0
        return self.bound / self.density - 1.0 if self.density > 0.0 else float("inf")

    @property
    def optimal(self) -> bool:
        """Whether the bound proves that no k nodes are denser."""
        return self.gap == 0.0

    def __str__(self) -> str:
        lines = [
            f"method        {self.method}",
            f"nodes         {self.k} of {self.x.size}",
            f"density       {self.density:.10g}   (x'Wx / k)",
            f"edge density  {self.edge_density:.6g}",
            f"status        {self.message}",
            f"seconds       {self.seconds:.3f}",
        ]
        if self.bound is not None and self.gap is not None:
            proof = "optimal" if self.optimal else f"gap {100 * self.gap:.3g} %"
            lines.insert(3, f"bound         {self.bound:.10g}   ({proof}, by {self.bound_method})")
        return "\n".join([*lines, *(f"note          {note}" for note in self.notes)])
