"""Several dense sets: one after another, each with at most a share of its nodes in those before it.

Without overlap the nodes of the sets before are excluded. Otherwise, with U all nodes of the sets before and a share r,
every node outside U gets r m and every node of U loses (1 - r) m, for a price m > 0: a set that keeps the share loses
nothing, so the best of all sets under these weights bounds what it can have, and a higher price pushes sets out of U.
The densest set that keeps the share, over some prices and without U, is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from flipwise.densest.result import DensestSubgraph
from flipwise.foundation.arrays import Floats
from flipwise.foundation.checks import check_whole, is_number
from flipwise.foundation.errors import InvalidInput


def check_several(several: int | None, overlap: float) -> None:
    """Refuse a number of sets or a share that makes no sense."""
    check_whole("several", several, 1, optional=True)
    if not is_number(overlap) or not 0.0 <= overlap <= 1.0:
        raise InvalidInput(f"`overlap` must be a share from 0 to 1, got {overlap!r}.")
    if overlap and several is None:
        raise InvalidInput("`overlap` is for several sets: give `several` too.")


class DenseSubgraphs(Sequence[DensestSubgraph]):
    """Several dense sets of one graph, in the order in which they were found.

    Examples
    --------
    >>> import networkx as nx, flipwise
    >>> cliques = nx.disjoint_union(nx.complete_graph(5), nx.complete_graph(4))
    >>> found = flipwise.densest_subgraph(cliques, several=2)
    >>> [len(each.nodes) for each in found], found.densities
    ([5, 4], array([4., 3.]))
    """

    def __init__(self, results: Sequence[DensestSubgraph]) -> None:
        self.results = list(results)

    @property
    def densities(self) -> Floats:
        """The density of each set."""
        return np.array([result.density for result in self.results])

    @property
    def bounds(self) -> Floats:
        """What no other set in its place could exceed, given those before it; NaN where nothing was proven."""
        return np.array([np.nan if result.bound is None else result.bound for result in self.results])

    def __getitem__(self, index: Any) -> Any:
        return self.results[index]

    def __len__(self) -> int:
        return len(self.results)

    def __str__(self) -> str:
        lines = [f"{'set':>4}  {'nodes':>8}  {'density':>12}  {'bound':>12}  proven by"]
        for number, result in enumerate(self.results, 1):
            bound = "-" if result.bound is None else f"{result.bound:.6f}"
            own = f"{number:>4}  {result.k:>8}  {result.density:>12.6f}"
            lines.append(f"{own}  {bound:>12}  {result.bound_method or '-'}")
        return "\n".join(lines)
