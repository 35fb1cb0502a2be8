"""The part of a graph that can matter: nodes outside it are tied to it by little, and by how little is known.

Peel away, one after another, nodes tied by at most `cap` to what is left. A removed node can take all of that on
itself, so in the load bound no node outside the core needs to carry more than `cap`; and no node outside has a
degree above `cap` into any set inside the core. (For integer caps this is the (cap + 1)-core.)
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from flipwise.foundation.arrays import Floats, Ints
from flipwise.graphs.graph import Graph
from flipwise.kernels import peeling as kernels
from flipwise.kernels.jit import threads_worth

LOOSE = 2.0
"""A core more than so many times as large as wanted is cut down further, ..."""
TRIALS = 4
"""... in at most this many steps."""
_EPS = float(np.finfo(np.float64).eps)

Degrees = npt.NDArray[np.int64] | Floats
"""Weights and their sums: integers where the graph has no weights."""


class PeelingOrder(NamedTuple):
    """The nodes in the order of greedy peeling, and the core number of each (without weights only)."""

    order: Ints
    core_numbers: Ints | None


@dataclass(frozen=True, eq=False)
class Core:
    """A subgraph with its own numbering.

    Attributes
    ----------
    graph
        The subgraph on the nodes that are left.
    nodes
        Their numbers in the whole graph, ascending.
    cap
        What ties a node outside to the core and to the nodes removed later, at most.
    """

    graph: Graph
    nodes: Ints
    cap: float
    kept: dict[str, Any] = field(default_factory=dict, repr=False)
    """What was worked out on it, for certificates."""

    @property
    def is_whole(self) -> bool:
        """Whether nothing was removed."""
        return self.cap < 0.0

    @cached_property
    def peeling(self) -> PeelingOrder:
        """Repeated removal of a node of least degree.

        Without weights a node may go while its degree is at most its core number: that is all a bound needs.
        """
        graph = self.graph
        order, place, third = (np.empty(graph.n, dtype=np.int64) for _ in range(3))
        if graph.weights is None:
            degrees = graph.degrees
            start = np.zeros(int(degrees.max(initial=0)) + 2, dtype=np.int64)
            kernels.peeling_order(graph.indptr, graph.indices, degrees, start, order, place, third)
            return PeelingOrder(order, third)
        sums = np.zeros(graph.n)
        np.add.at(sums, np.repeat(np.arange(graph.n), graph.degrees), graph.weights)
        kernels.weighted_peeling_order(graph.indptr, graph.indices, graph.weights, sums, third, place, order)
        return PeelingOrder(order, None)


def arc_weights(graph: Graph) -> Degrees:
    """The weights as the kernels take them: one for each arc, or a single 1 for all (never none)."""
    if graph.weights is None:
        return np.ones(1, dtype=np.int64)
    return graph.weights if graph.weights.size else np.ones(1)


def weight_matrix(graph: Graph) -> Floats:
    """The weights as a dense matrix."""
    W = np.zeros((graph.n, graph.n))
    if graph.n_arcs:
        W[np.repeat(np.arange(graph.n), graph.degrees), graph.indices] = arc_weights(graph)
    return W


def no_degrees(graph: Graph) -> Degrees:
    """A zero for each node, of the kind its degree has."""
    return np.zeros(graph.n, dtype=np.int64) if graph.weights is None else np.zeros(graph.n)


def whole_core(graph: Graph) -> Core:
    """The core that is the graph itself."""
    return Core(graph, np.arange(graph.n), -1.0)


def positive_degrees(graph: Graph) -> Degrees:
    """The sum of the positive weights at each node."""
    return graph.degrees if graph.weights is None else _degrees_among(graph, np.ones(graph.n, np.uint8))


def core_above(core: Core, cap: float) -> Core:
    """What is left of a core after nodes tied by at most `cap` are gone; `cap` must not be below the core's own."""
    degrees = positive_degrees(core.graph)
    # A first cut by the plain degree costs nothing, and what it removes is never scanned.
    alive = (degrees > cap).astype(np.uint8)
    inner = _degrees_among(core.graph, alive)
    _peel_below(core.graph, alive, inner, cap)
    nodes = np.flatnonzero(alive)
    return Core(induced(core.graph, nodes, inner[nodes]), core.nodes[nodes], _proven_cap(core, cap, degrees))


def core_of_size(core: Core, size: int) -> Core:
    """A core of at least `size` nodes and not many more where the degrees allow; the core itself when it is small."""
    if core.graph.n <= size:
        return core
    degrees = positive_degrees(core.graph)
    failed = math.inf
    for cap in caps_for_size(degrees, size, core.cap):
        alive = (degrees > cap).astype(np.uint8)
        inner = _degrees_among(core.graph, alive)
        # What the first round of peeling leaves is often too little already.
        if np.count_nonzero(inner > cap) >= size and _peel_below(core.graph, alive, inner, cap, size):
            cap = _raise_cap(core.graph, alive, inner, cap, min(failed, float(inner.max())), size)
            nodes = np.flatnonzero(alive)
            return Core(induced(core.graph, nodes, inner[nodes]), core.nodes[nodes], _proven_cap(core, cap, degrees))
        failed = cap
    return core


def caps_for_size(degrees: Degrees, size: int, least_cap: float) -> Iterator[float]:
    """Caps that leave twice `size` nodes by their degree, four times, ...: the first that leaves `size` is wanted."""
    wanted = 2 * size
    while wanted < degrees.size:
        cap = float(np.partition(degrees, degrees.size - wanted)[degrees.size - wanted]) - 1.0
        if cap < max(0.0, least_cap):
            return
        yield cap
        wanted *= 2


def tightened(core: Core, failed: float, size: int) -> Core:
    """The last step of `core_of_size` for a core of at least `size` nodes that was cut elsewhere."""
    alive, degrees = np.ones(core.graph.n, np.uint8), positive_degrees(core.graph)
    inner = degrees.copy()
    cap = _raise_cap(core.graph, alive, inner, core.cap, min(failed, float(degrees.max(initial=0))), size)
    nodes = np.flatnonzero(alive)
    return Core(induced(core.graph, nodes, inner[nodes]), core.nodes[nodes], _proven_cap(core, cap, degrees))


def _raise_cap(
    graph: Graph,
    alive: npt.NDArray[np.uint8],
    inner: Degrees,
    cap: float,
    failed: float,
    size: int,
) -> float:
    """Peel further, at a cap between a good one and one that failed, while far more than `size` nodes are left."""
    for _ in range(TRIALS):
        middle = float(math.floor((cap + failed) / 2))
        if middle <= cap or np.count_nonzero(alive) <= LOOSE * size:
            break
        fewer, ties = alive.copy(), inner.copy()
        if _peel_below(graph, fewer, ties, middle, size):
            alive[:], inner[:], cap = fewer, ties, middle
        else:
            failed = middle
    return cap


def _degrees_among(graph: Graph, alive: npt.NDArray[np.uint8]) -> Degrees:
    """The sum of the positive weights between each alive node and the others."""
    weights, inner = arc_weights(graph), no_degrees(graph)
    with threads_worth(graph.n_arcs):
        kernels.alive_degrees(graph.indptr, graph.indices, weights, np.flatnonzero(alive), alive, inner)
    return inner


def _peel_below(graph: Graph, alive: npt.NDArray[np.uint8], inner: Degrees, cap: float, least: int = 0) -> bool:
    """Remove nodes tied by at most `cap`; False, and no more work, once fewer than `least` are left."""
    weights, queue = arc_weights(graph), np.empty(graph.n, np.int64)
    most = int(np.count_nonzero(alive)) - least
    return bool(kernels.peel_below(graph.indptr, graph.indices, weights, alive, inner, float(cap), queue, most) <= most)


def _proven_cap(core: Core, cap: float, degrees: Degrees) -> float:
    """The cap of what is left of a core: sums and differences of at most max-degree many terms were rounded."""
    if core.graph.weights is not None:
        most = float(core.graph.degrees.max(initial=1))
        cap += 4.0 * _EPS * most * float(degrees.max(initial=0.0))
    return max(cap, core.cap)


def induced(graph: Graph, nodes: Ints, ties: Degrees | None = None) -> Graph:
    """The subgraph on some nodes, given in ascending order, numbered from 0.

    `ties` is what ties each to the others, where that is known: without weights, how many neighbours it has there.
    """
    alive = np.zeros(graph.n, dtype=np.uint8)
    alive[nodes] = 1
    label = np.empty(graph.n, dtype=graph.indices.dtype)
    label[nodes] = np.arange(nodes.size)
    with threads_worth(graph.n_arcs):
        if ties is None or graph.weights is not None:
            counts = np.zeros(graph.n, dtype=np.int64)
            kernels.alive_degrees(graph.indptr, graph.indices, np.ones(1, np.int64), nodes, alive, counts)
            ties = counts[nodes]
        indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(ties, dtype=np.int64)])
        indices = np.empty(int(indptr[-1]), dtype=graph.indices.dtype)
        weights = np.empty(0 if graph.weights is None else indices.size)
        given = arc_weights(graph)
        kernels.induced_arcs(graph.indptr, graph.indices, given, nodes, alive, label, indptr, indices, weights)
    return Graph(indptr, indices, None if graph.weights is None else weights)
