"""The densities of a graph at several k, with their bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from flipwise.arrays import Floats, Ints
from flipwise.graphs.densest_result import DensestSubgraph


class DensityProfile(Sequence[DensestSubgraph]):
    """One `DensestSubgraph` for each k, ascending.

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

    def __iter__(self) -> Iterator[DensestSubgraph]:
        return iter(self.results)

    def __str__(self) -> str:
        lines = [f"{'k':>8}  {'density':>12}  {'bound':>12}  {'gap %':>9}  proven by"]
        for result in self.results:
            bound = "-" if result.bound is None else f"{result.bound:.6f}"
            gap = "-" if result.gap is None else f"{100 * result.gap:.4f}"
            lines.append(f"{result.k:>8}  {result.density:>12.6f}  {bound:>12}  {gap:>9}  {result.bound_method or '-'}")
        return "\n".join(lines)
