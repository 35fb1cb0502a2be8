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
from flipwise.foundation.tables import html_table


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

    def explanation(self) -> list[tuple[str, str]]:
        """The lines of `flipwise.explain`."""
        first = dict(self.results[0].explanation())
        proven = sum(result.optimal for result in self.results)
        return [
            ("Solved", f"{len(self)} sets, one after another; the first: {first['Solved']}"),
            ("Answer", "densities " + ", ".join(f"{density:.6g}" for density in self.densities[:8])),
            ("Ended", f"the last: {self.results[-1].message}"),
            ("Proven", f"{proven} of {len(self)} optimal, given those before; the first: {first['Proven']}"),
            ("Next", "`overlap=0.2` lets sets share nodes, a larger `several` finds more of them."),
        ]

    def _table_rows(self) -> list[list[str]]:
        """The head of the table, and a row for each set."""
        rows = [["set", "nodes", "density", "bound", "proven by"]]
        for number, result in enumerate(self.results, 1):
            bound = "-" if result.bound is None else f"{result.bound:.6f}"
            rows.append([f"{number}", f"{result.k}", f"{result.density:.6f}", bound, result.bound_method or "-"])
        return rows

    def _repr_html_(self) -> str:
        head, *rows = self._table_rows()
        return html_table("Dense subgraphs", head, rows)

    def __str__(self) -> str:
        return "\n".join(f"{a:>4}  {k:>8}  {own:>12}  {bound:>12}  {by}" for a, k, own, bound, by in self._table_rows())
