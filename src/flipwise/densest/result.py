"""The answers of `densest_subgraph`: a `Result` that speaks of nodes and densities, and a profile over several k."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from flipwise.engine.result import Result
from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.errors import InvalidFile


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
    labels: list[Any] | None = field(default=None, repr=False)

    @property
    def indices(self) -> Ints:
        """The numbers of the chosen nodes, ascending."""
        return np.flatnonzero(self.x > 0)

    @property
    def nodes(self) -> list[Any]:
        """The chosen nodes by their own labels."""
        return [int(i) for i in self.indices] if self.labels is None else list(self.labels)

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

    def save(self, path: str | Path) -> None:
        """Write the result to a file; nothing in it is executable. Labels that JSON cannot hold become text."""
        own = {name: getattr(self, name) for name in _OWN}
        if own["labels"] is not None:
            own["labels"] = [each if isinstance(each, str | int | float) else str(each) for each in own["labels"]]
        Result.save(replace(self, info={**self.info, "densest_subgraph": own}), path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a result written by `save`."""
        result = super().load(path)
        own = result.info.pop("densest_subgraph", None)
        if own is None:
            raise InvalidFile(f"{path}: a flipwise result, but not one of densest_subgraph.")
        for name in _OWN:
            setattr(result, name, own[name])
        result.notes = tuple(result.notes)
        return result


_OWN = ("k", "density", "edge_density", "bound_method", "bounds", "notes", "labels")


class DensityProfile(Sequence[DensestSubgraph]):
    """The densities of a graph at several k, with their bounds: one `DensestSubgraph` for each k, ascending.

    Examples
    --------
    >>> import networkx as nx, flipwise
    >>> profile = flipwise.densest_subgraph(nx.lollipop_graph(5, 10), [3, 5], seed=0)
    >>> profile.ks, profile.densities, profile.bounds
    (array([3, 5]), array([2., 4.]), array([2., 4.]))
    """

    def __init__(self, results: Sequence[DensestSubgraph]) -> None:
        self.results = sorted(results, key=lambda result: result.k)

    @property
    def ks(self) -> Ints:
        """The sizes."""
        return np.array([result.k for result in self.results])

    @property
    def densities(self) -> Floats:
        """The density found at each size."""
        return np.array([result.density for result in self.results])

    @property
    def bounds(self) -> Floats:
        """The proven bound on the density at each size; NaN where none was computed."""
        return np.array([np.nan if result.bound is None else result.bound for result in self.results])

    @property
    def gaps(self) -> Floats:
        """`bound / density - 1` at each size; NaN without a bound."""
        return np.array([np.nan if result.gap is None else result.gap for result in self.results])

    def __getitem__(self, index: Any) -> Any:
        return self.results[index]

    def __len__(self) -> int:
        return len(self.results)

    def __str__(self) -> str:
        lines = [f"{'k':>8}  {'density':>12}  {'bound':>12}  {'gap %':>9}  proven by"]
        for result in self.results:
            bound = "-" if result.bound is None else f"{result.bound:.6f}"
            gap = "-" if result.gap is None else f"{100 * result.gap:.4f}"
            lines.append(f"{result.k:>8}  {result.density:>12.6f}  {bound:>12}  {gap:>9}  {result.bound_method or '-'}")
        return "\n".join(lines)
