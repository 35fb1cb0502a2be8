"""The densest set of any size, exactly: what a set weighs for its price, by maximum flows between loads.

Every node i has a bonus g_i and a price p_i, all in whole numbers, and what is chosen anyway weighs f_0 at a price p_0.
Wanted is the set S with the largest
    (f_0 + sum of the edges inside S + sum over S of g_i) / (p_0 + sum over S of p_i).
For a ratio a/b that some set has, let every edge give b times its weight to its ends, and node i have room for
a p_i - b g_i. If the edges can be split so that what is too much, all nodes together, is at most a p_0 - b f_0, then no
set has a larger ratio: S holds its edges wholly, hence b f(S) <= a p(S). Otherwise the nodes that too much cannot leave
are a set with a larger ratio, and every still better set lies inside it (Goldberg 1984; Gallo, Grigoriadis and Tarjan
1989). So the flow begins again with these, and with the loads as they stand. The first ratio is that of a prefix of the
order by balanced loads, which mostly is the answer already: one flow then proves it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from flipwise.densest.core import induced
from flipwise.foundation.arrays import Bools, Floats, Ints
from flipwise.foundation.checks import check_memory
from flipwise.graphs.graph import Graph
from flipwise.kernels import orientation as kernels
from flipwise.kernels.peeling import peeling_order
from flipwise.model.exactness import common_divisor

PASSES = 12
"""Passes over the edges before the first flow."""
BITS = 60
"""Products of a weight and a price stay below two to this power."""
FINE = 40
"""Weights without a common divisor are rounded up to this many bits of their sum."""

Whole = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Units:
    """A graph in whole units: the edges in `graph.weights` (whole numbers, None: all 1), bonuses and prices."""

    graph: Graph
    bonus: Whole
    price: Whole
    extra: int = 0
    """What is chosen anyway weighs this ..."""
    paid: int = 0
    """... at this price."""
    unit: float = 1.0
    """The weight of one unit."""
    exact: bool = True
    """Whether the weights are these whole numbers of units; otherwise they were rounded up."""

    @property
    def weights(self) -> Whole:
        """The weights of the arcs, or a single 1 for all."""
        given = self.graph.weights
        return np.ones(1, np.int64) if given is None or not given.size else given.astype(np.int64)

    def among(self, nodes: Ints) -> Units:
        """The same on some of the nodes, given in ascending order."""
        return replace(self, graph=induced(self.graph, nodes), bonus=self.bonus[nodes], price=self.price[nodes])

    def degrees(self) -> Whole:
        """What each node adds to all others."""
        graph, weights = self.graph, self.weights
        ties = graph.degrees if weights.size == 1 else row_sums(graph, weights)
        return ties + self.bonus


def in_units(
    graph: Graph, bonus: Floats | None = None, extra: float = 0.0, paid: int = 0, *, bits: int = BITS
) -> Units:
    """A graph without negative weights in whole units: products of a weight and a price have so many bits."""
    bonuses = np.zeros(graph.n) if bonus is None else bonus
    given = np.ones(1) if graph.weights is None else graph.weights
    unit = common_divisor(np.concatenate([given, bonuses, [extra]]))
    total = (
        (graph.n_edges if graph.weights is None else float(np.abs(given).sum()) / 2)
        + float(np.abs(bonuses).sum())
        + abs(extra)
    )
    bits -= math.ceil(math.log2(graph.n + paid + 2))
    exact = unit > 0.0 and total / unit < 2.0**bits
    unit = unit if exact else total / 2.0 ** min(FINE, bits - 1)

    def units(values: Floats) -> Floats:
        quotient = values / unit
        return np.rint(quotient) if exact else np.ceil(quotient + 4e-16 * np.abs(quotient))

    whole = graph if graph.weights is None and unit == 1.0 else replace(graph, weights=units(_all_weights(graph)))
    price = np.ones(graph.n, np.int64)
    return Units(whole, units(bonuses).astype(np.int64), price, int(units(np.array([extra]))[0]), paid, unit, exact)


def _all_weights(graph: Graph) -> Floats:
    """A weight for each arc."""
    return np.ones(graph.n_arcs) if graph.weights is None else graph.weights


def row_sums(graph: Graph, values: Whole) -> Whole:
    """The sum of the values of the arcs in each row."""
    sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(values)])
    rows: Whole = sums[graph.indptr[1:]] - sums[graph.indptr[:-1]]
    return rows


class Ratio(NamedTuple):
    """What a set weighs, and its price."""

    weight: int
    price: int

    def above(self, other: Ratio) -> bool:
        """Whether it is more for its price."""
        return self.weight * other.price > other.weight * self.price

    def __float__(self) -> float:
        return self.weight / self.price


class BestRatio(NamedTuple):
    """The nodes with the largest ratio that was found, and a ratio that none exceeds."""

    nodes: Ints
    ratio: Ratio
    most: float

    @property
    def proven(self) -> bool:
        """Whether nothing is better, in the units of the problem."""
        return self.most == float(self.ratio)


def best_ratio(
    units: Units, *, known: Ints | None = None, stop: Callable[[], object | None] = lambda: None, largest: bool = True
) -> BestRatio:
    """The set with the largest ratio; where `stop` ends it early, the best one so far.

    `known` is a set to begin with. Of several equally good sets the one that contains all others is returned, unless
    something is chosen anyway or `largest` is False.
    """
    nodes: Ints = np.arange(units.graph.n)
    chosen: Ints
    best, chosen = _ratio_of(units, nodes), nodes
    if known is not None and (found := _ratio_of(units, known)).above(best):
        best, chosen = found, known
    if units.paid and Ratio(units.extra, units.paid).above(best):
        best, chosen = Ratio(units.extra, units.paid), nodes[:0]
    units, nodes = _drop_hopeless(units, nodes, best)
    found, order = _best_prefix(units, _peeling_order(units))
    if found.above(best):
        best, chosen = found, nodes[order]
        units, nodes = _drop_hopeless(units, nodes, best)
    if not nodes.size:
        return BestRatio(np.sort(chosen), best, float(best))
    split = Split.even(units)
    found, order = _best_prefix(units, np.argsort(-split.loads / units.price, kind="stable"))
    if found.above(best):
        best, chosen = found, nodes[order]
        narrow, kept = _drop_hopeless(units, np.arange(nodes.size), best)
        units, nodes, split = narrow, nodes[kept], split.among(kept, narrow)
    while True:
        split = split.in_parts_of(best.price)
        room = best.weight * units.price
        stopped, reached = split.spread(room, stop)
        spared = best.weight * units.paid - best.price * units.extra
        if stopped or int(np.maximum(split.loads - room, 0).sum()) <= spared:
            break
        kept = np.flatnonzero(reached)
        units, nodes, chosen = units.among(kept), nodes[kept], nodes[kept]
        split, best = split.among(kept, units), _ratio_of(units, np.arange(kept.size))
    if stopped:
        return BestRatio(np.sort(chosen), best, max(split.most(), float(best)))
    if largest and not units.paid:
        chosen = nodes[split.tight(room)]
    return BestRatio(np.sort(chosen), best, float(best))


def _ratio_of(units: Units, nodes: Ints) -> Ratio:
    """The ratio of a set with what is chosen anyway."""
    inner = units.graph if nodes.size == units.graph.n else induced(units.graph, np.sort(nodes))
    edges = inner.n_edges if inner.weights is None else int(inner.weights.astype(np.int64).sum()) // 2
    return Ratio(units.extra + edges + int(units.bonus[nodes].sum()), units.paid + int(units.price[nodes].sum()))


def _drop_hopeless(units: Units, nodes: Ints, best: Ratio) -> tuple[Units, Ints]:
    """The nodes that a set of at least this ratio can have: each adds its share of the ratio to the others."""
    graph = units.graph
    alive, queue = np.ones(graph.n, np.uint8), np.empty(graph.n, np.int64)
    least = (float(best) - 1e-12 * abs(float(best))) * units.price
    left = kernels.fall_below(graph.indptr, graph.indices, units.weights, alive, units.degrees(), least, queue)
    if left == graph.n:
        return units, nodes
    kept = np.flatnonzero(alive)
    return units.among(kept), nodes[kept]


def _peeling_order(units: Units) -> Ints:
    """The nodes in the order of peeling, last first; by degree where weights, bonuses or prices differ."""
    graph = units.graph
    if graph.weights is None and not units.bonus.any() and (units.price == 1).all():
        degrees = graph.degrees
        start = np.zeros(int(degrees.max(initial=0)) + 2, dtype=np.int64)
        order, place, cores = (np.empty(graph.n, dtype=np.int64) for _ in range(3))
        peeling_order(graph.indptr, graph.indices, degrees, start, order, place, cores)
        return order[::-1]
    return np.argsort(-units.degrees() / units.price, kind="stable")


def _best_prefix(units: Units, order: Ints) -> tuple[Ratio, Ints]:
    """The first nodes of an order with the largest ratio."""
    graph = units.graph
    if not graph.n:
        return Ratio(-1, 0), order  # no set is not above any
    gains = order_gains(units, order)
    weight, price = units.extra + np.cumsum(gains[order]), units.paid + np.cumsum(units.price[order])
    at = int(np.argmax(weight / price))
    return Ratio(int(weight[at]), int(price[at])), order[: at + 1]


def order_gains(units: Units, order: Ints) -> Whole:
    """What each node adds to those before it in an order: its bonus, and its edges to them."""
    graph = units.graph
    place, gains = np.empty(graph.n, np.int64), np.empty(graph.n, np.int64)
    place[order] = np.arange(graph.n)
    kernels.gains_in_order(graph.indptr, graph.indices, units.weights, units.bonus, place, gains)
    return gains


@dataclass(eq=False)
class Split:
    """Every edge split between its ends, in parts of a unit: `own` for each arc, `loads` with the bonuses."""

    units: Units
    parts: int
    twin: Whole
    own: npt.NDArray[Any]
    loads: Whole

    @classmethod
    def even(cls, units: Units, passes: int | None = None) -> Split:
        """Halves, then some passes over the edges that even out the loads."""
        total = max(2.0, float(np.abs(units.degrees()).sum()))
        parts = 2 ** max(1, min(16, BITS - math.ceil(math.log2(total))))
        graph = units.graph
        split = cls.of(units, np.broadcast_to(units.weights * (parts // 2), graph.indices.shape).copy(), parts)
        kernels.even_out(graph.indptr, graph.indices, split.twin, units.price, split.own, split.loads, passes or PASSES)
        return split

    @classmethod
    def of(cls, units: Units, own: npt.NDArray[Any], parts: int = 1) -> Split:
        """A split by what the row of each arc carries, which is rounded."""
        graph = units.graph
        check_memory(16 * graph.n_arcs, f"a flow on {graph.n_edges:,} edges")
        twin = np.empty(graph.n_arcs, np.int64)
        kernels.opposite_arcs(graph.indptr, graph.indices, graph.indptr[:-1].copy(), twin)
        return cls(units, parts, twin, own, np.empty(0, np.int64))._made_whole()

    def _made_whole(self) -> Split:
        """The same with every share a whole number of parts that both ends agree on, and the loads from scratch."""
        own, weights = np.rint(self.own).astype(np.int64), self.parts * self.units.weights
        first = np.arange(own.size) < self.twin
        own = np.clip(own, 0, weights)
        own[self.twin[first]] = np.broadcast_to(weights, own.shape)[first] - own[first]
        self.own = own
        self._add_up()
        return self

    def _add_up(self) -> None:
        """The loads from scratch."""
        self.loads = row_sums(self.units.graph, self.own) + self.parts * self.units.bonus

    def among(self, kept: Ints, units: Units) -> Split:
        """The same among some of the nodes, whose graph is given: other edges are no longer there."""
        graph = self.units.graph
        if kept.size == graph.n:
            return self
        inside = np.zeros(graph.n, dtype=bool)
        inside[kept] = True
        stays = np.repeat(inside, graph.degrees) & inside[graph.indices]
        new_place = np.cumsum(stays) - 1
        split = Split(units, self.parts, new_place[self.twin[stays]], self.own[stays], self.loads[kept])
        split._add_up()
        return split

    def in_parts_of(self, parts: int) -> Split:
        """The same split in other parts, rounded."""
        if parts == self.parts:
            return self
        return Split(self.units, parts, self.twin, self.own * (parts / self.parts), self.loads)._made_whole()

    def spread(self, room: Whole, stop: Callable[[], object | None] = lambda: None) -> tuple[bool, Bools]:
        """A maximum flow to nodes with room; whether it was stopped, and which nodes too much cannot leave."""
        graph, n = self.units.graph, self.units.graph.n
        arrays = graph.indptr, graph.indices
        level, queue, path = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n + 1, np.int64)
        while True:
            met, way = kernels.layers(*arrays, self.own, self.loads, room, level, queue)
            if not way or stop() is not None:
                return bool(way), level >= 0
            at = graph.indptr[:-1].copy()
            kernels.relieve(*arrays, self.twin, self.own, self.loads, room, level, queue, met, at, path)

    def tight(self, room: Whole) -> Bools:
        """The nodes from which nothing can get to a node with room: the largest set of the best ratio."""
        graph, n = self.units.graph, self.units.graph.n
        out, queue = np.zeros(n, np.uint8), np.empty(n, np.int64)
        kernels.with_way_out(graph.indptr, graph.indices, self.twin, self.own, self.loads, room, out, queue)
        tight: Bools = out == 0
        return tight

    def most(self) -> float:
        """A ratio that no set exceeds, by the loads as they stand; rounded up."""
        units = self.units
        order = np.argsort(-self.loads / units.price, kind="stable")
        weight = units.extra * self.parts + np.cumsum(self.loads[order].astype(np.float64))
        price = units.paid + np.cumsum(units.price[order])
        most = float(np.max(weight / price)) / self.parts
        return most + 1e-12 * abs(most)
