"""The dense decomposition: nested sets, each the densest that can be added to those before it.

Level 1 is the densest set of any size (the one that contains all others); level t + 1 is the set that adds the most
weight for each of its nodes, edges to the levels before included. The densities fall, and the sets so far are the
corners of the upper hull of (size, weight) over all sets: each is the best of its size, and between two corners no set
is above the line (Tatti and Gionis 2015; Danisch, Chan and Sozio 2017).

Blocks are proposed by balanced loads: the hull of the prefixes of their order. Then a flow inside the blocks proves
that the edges of each, with those to blocks before, can be split evenly over it. A block where that fails falls into
the set that shows it and the rest; blocks whose density is not below that of the one before are joined. Every such step
raises the hull, so the end is the decomposition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from flipwise.densest.flow import Ratio, Split, Units, in_units, order_gains, row_sums
from flipwise.densest.whole import weight_range
from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.tables import html_table
from flipwise.graphs.convert import as_graph
from flipwise.graphs.graph import Graph


@dataclass(frozen=True)
class DenseLevel:
    """One level of a dense decomposition.

    Attributes
    ----------
    nodes
        The nodes that this level adds, by the graph's own labels.
    density
        Twice the weight that they add, edges to earlier levels included, for each of them.
    size
        The number of nodes of this level and all before it.
    set_density
        The density of all these nodes together, x'Wx / size: no set of as many nodes has a larger one.

    Examples
    --------
    >>> import flipwise
    >>> level = flipwise.dense_decomposition((4, [[0, 1], [1, 2], [2, 0], [2, 3]]))[0]
    >>> level.nodes, level.density, level.size, level.set_density
    ([0, 1, 2, 3], 2.0, 4, 2.0)
    """

    nodes: list[Any]
    density: float
    size: int
    set_density: float


class DenseDecomposition(Sequence[DenseLevel]):
    """The levels of a graph, the densest first.

    Attributes
    ----------
    level_of
        The level of each node, by its number, counted from 0.
    exact
        Whether weights are multiples of one number, so that the levels are exact; otherwise weights were rounded up
        in the twelfth digit, about.

    Examples
    --------
    >>> import networkx as nx, flipwise
    >>> levels = flipwise.dense_decomposition(nx.lollipop_graph(5, 3))
    >>> len(levels), levels.sizes, levels.densities
    (2, array([5, 8]), array([4., 2.]))
    >>> levels.level_of
    array([0, 0, 0, 0, 0, 1, 1, 1])
    """

    def __init__(self, levels: list[DenseLevel], level_of: Ints, *, exact: bool) -> None:
        self._levels, self.level_of, self.exact = levels, level_of, exact

    @property
    def sizes(self) -> Ints:
        """The number of nodes up to each level."""
        return np.array([level.size for level in self], dtype=np.int64)

    @property
    def densities(self) -> Floats:
        """The density of each level."""
        return np.array([level.density for level in self])

    def __getitem__(self, index: Any) -> Any:
        return self._levels[index]

    def __len__(self) -> int:
        return len(self._levels)

    def _repr_html_(self) -> str:
        head = ["level", "nodes", "density", "nodes so far", "their density"]
        return html_table("Dense levels", head, [
            [f"{place}", f"{len(level.nodes):,}", f"{level.density:.6f}", f"{level.size:,}", f"{level.set_density:.6f}"]
            for place, level in enumerate(self, 1)
        ])  # fmt: skip

    def __str__(self) -> str:
        lines = [f"{'level':>6}  {'nodes':>9}  {'density':>12}  {'nodes so far':>12}  {'their density':>13}"]
        for number, level in enumerate(self, 1):
            own = f"{number:>6}  {len(level.nodes):>9}  {level.density:>12.6f}"
            lines.append(f"{own}  {level.size:>12}  {level.set_density:>13.6f}")
        return "\n".join(lines)


def dense_decomposition(graph: Any) -> DenseDecomposition:
    """Split a graph into its dense levels: the densest set of any size, what is densest beside it, and so on.

    Parameters
    ----------
    graph
        A graph in any form that flipwise reads, without negative weights.

    Returns
    -------
    DenseDecomposition
        Level by level the nodes, the density they add, and the density of all nodes so far. The latter sets are the
        densest of their size; between two of these sizes no set is above the line that joins their weights.

    Examples
    --------
    >>> import networkx as nx, flipwise
    >>> print(flipwise.dense_decomposition(nx.lollipop_graph(5, 3)))
     level      nodes       density  nodes so far  their density
         1          5      4.000000             5       4.000000
         2          3      2.000000             8       3.250000
    """
    simple = as_graph(graph)
    if not simple.n:
        raise InvalidInput("`graph` has no nodes.")
    if (least := weight_range(simple)[0]) < 0.0:
        raise InvalidInput(
            f"`graph` must have no negative weights for a dense decomposition; the least is {least:.6g}."
        )
    units = in_units(simple, bits=52)  # blocks scale them by their sizes, in floating point
    level_of, levels = np.empty(simple.n, np.int64), list[DenseLevel]()
    size, weight = 0, 0
    for number, (members, added, _) in enumerate(dense_blocks(units)):
        nodes = np.sort(members)
        level_of[nodes] = number
        size, weight = size + nodes.size, weight + added
        names = nodes.tolist() if simple.names is None else [simple.names[i] for i in nodes.tolist()]
        unit = 2.0 * units.unit
        levels.append(DenseLevel(names, unit * added / nodes.size, size, unit * weight / size))
    return DenseDecomposition(levels, level_of, exact=units.exact)


class LevelBlock(NamedTuple):
    """Some nodes, what they add to all blocks before them, and whether no part of them adds more for its size."""

    nodes: Ints
    weight: int
    even: bool = False

    @property
    def ratio(self) -> Ratio:
        """What it adds for each node."""
        return Ratio(self.weight, self.nodes.size)


def dense_blocks(units: Units) -> list[LevelBlock]:
    """The levels of a problem in units, without prices or anything chosen anyway."""
    split = Split.even(units, passes=60)
    order = np.argsort(-split.loads, kind="stable")
    weights = np.cumsum(order_gains(units, order)[order])
    blocks = [LevelBlock(order[at : at + 1], int(gain)) for at, gain in enumerate(np.diff(weights, prepend=0))]
    blocks = _join_rising(blocks)
    while not all(block.even for block in blocks):
        blocks = _join_rising(_prove_or_split(split, blocks))
    return blocks


def _join_rising(blocks: list[LevelBlock]) -> list[LevelBlock]:
    """The same with every block joined to the one before it that does not add more for its size."""
    begins, weights, sizes = [0], [0], [0]  # of the joined ones: where each begins, what it adds, how many nodes
    for number, block in enumerate(blocks):
        begin, weight, size = number, block.weight, block.nodes.size
        while len(begins) > 1 and weights[-1] * size <= weight * sizes[-1]:
            begin, weight, size = begins.pop(), weight + weights.pop(), size + sizes.pop()
        begins.append(begin)
        weights.append(weight)
        sizes.append(size)
    begins.append(len(blocks))
    return [
        blocks[begin] if end == begin + 1 else LevelBlock(np.concatenate([b.nodes for b in blocks[begin:end]]), weight)
        for begin, end, weight in zip(begins[1:], begins[2:], weights[1:], strict=False)
    ]


def _prove_or_split(split: Split, blocks: list[LevelBlock]) -> list[LevelBlock]:
    """Every block that is not known to be even, now proven so, or parted in two: one flow in all of them together.

    In a block of s nodes that adds w every edge has s parts for each unit, and every node has room for w of them.
    """
    units = split.units
    n, place = units.graph.n, np.empty(units.graph.n, np.int64)
    for number, block in enumerate(blocks):
        place[block.nodes] = number
    sizes = np.array([block.nodes.size for block in blocks])[place]
    wanted = np.array([not block.even for block in blocks])[place]
    rows, columns = np.repeat(np.arange(n), units.graph.degrees), units.graph.indices
    weights = np.broadcast_to(units.weights, columns.shape)
    before = np.where(place[columns] < place[rows], weights, 0)
    inside = (place[columns] == place[rows]) & wanted[rows]
    bonus = (units.bonus + row_sums(units.graph, before)) * sizes
    counts = np.bincount(rows[inside], minlength=n)
    graph = Graph(
        np.concatenate([[0], np.cumsum(counts)]), columns[inside], (weights * sizes[rows])[inside].astype(float)
    )
    part = Split.of(
        Units(graph, np.where(wanted, bonus, 0), units.price), split.own[inside] / split.parts * sizes[rows][inside]
    )
    room = np.where(wanted, np.array([block.weight for block in blocks])[place], 0)
    _, full = part.spread(room)
    parted: list[LevelBlock] = []
    for block in blocks:
        first = full[block.nodes]
        if block.even or not first.any():
            parted.append(block._replace(even=True))
        else:
            a, b = block.nodes[first], block.nodes[~first]
            weight = int(part.loads[a].sum()) // block.nodes.size
            parted += [LevelBlock(a, weight), LevelBlock(b, block.weight - weight)]
    return parted
