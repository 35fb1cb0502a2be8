"""The densest set that keeps conditions: flows where its size is free, searches at the sizes that matter, and bounds.

1. Small graphs are walked through as a whole (`densest.enumerated`).
2. Where several sizes are allowed, flows give the densest set of any size beside what must be in: where it keeps the
   conditions it is the answer, otherwise its density is a bound.
3. Every edge is split between its ends, and the loads begin with what the nodes weigh themselves: the t largest bound
   what t more nodes can add, for every t at once. No set has a larger density than the largest of these over its size.
4. Prefixes of the order by loads, sets of a fixed size by the search for k nodes, and moves that add or remove a node.
   Connected sets are looked for by `densest.connected`; a bound without that condition holds for them too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from flipwise.densest.bounds import balanced_loads
from flipwise.densest.conditioned_bounds import densest_of_any, most_of_any
from flipwise.densest.conditions import ConditionedDensity, ConditionedGraph, alike, mask_of, pieces
from flipwise.densest.connected import Field, Piece, first_piece, order_beginning_with, peeled, pieces_in_order, shaken
from flipwise.densest.core import Core, induced, whole_core
from flipwise.densest.enumerated import NoFeasibleSet, densest_of_all
from flipwise.densest.flow import BestRatio, best_ratio, in_units, order_gains
from flipwise.densest.search import Search
from flipwise.densest.subset import Subset, descend, times
from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats, Ints, largest
from flipwise.foundation.errors import InvalidInput
from flipwise.model.problem import Problem

FIELD_NODES = 3000
"""A set of t nodes is searched for among 20 t of the most loaded nodes and this many more."""
MOST_ADJUSTED = 400
"""Nodes added to a set or removed from it one at a time, at most."""
SHAKES = 40
"""Connected sets that are shaken and improved again, at effort 1, ..."""
SHAKE_WORK = 6e8
"""... while no more elements are looked at than this."""


@dataclass(eq=False)
class Known:
    """What is known of a graph with conditions whatever the size: shared by all sizes of one call."""

    given: list[Ints] = field(default_factory=list)
    """Sets of the user's to begin from."""
    loads: Floats | None = None
    """Proven loads of the free nodes, their own weights included, ..."""
    order: Ints | None = None
    """... these nodes, the most loaded first, ..."""
    weights: Floats | None = None
    """... what the first of them weigh, ..."""
    tops: Floats | None = None
    """... and what so many of them add to those chosen anyway, at most, for 0, 1, 2, ... nodes."""
    ratio: BestRatio | None = None
    """The densest set of any size, ..."""
    most: float = math.inf
    """... whose density no set exceeds, ..."""
    is_exact: bool = False
    """... and whether that is exactly its density."""
    sets: list[Ints] = field(default_factory=list)
    """Sets that were found, the densest first."""


@dataclass(frozen=True)
class ConditionedSearch:
    """The search on `Problem(ConditionedDensity(graph), ConditionedSets(graph))`, its bounds by name in `bounds`."""

    name: ClassVar[str] = "dpcd"
    begins_itself: ClassVar[bool] = True
    effort: float = 1.0
    prove: bool = True
    known: Known = field(default_factory=Known, repr=False, compare=False)
    bounds: dict[str, float] = field(default_factory=dict, repr=False, compare=False)

    def solve(self, problem: Problem, x: Floats | None, rng: np.random.Generator, run: Run) -> Status:
        """Find a dense set and prove what can be proven; the start `x` is not used."""
        objective = problem.objective
        assert isinstance(objective, ConditionedDensity)
        one = _OneSearch(objective.graph, run, rng, self.effort, self.prove, self.known, self.bounds)
        for step in (one.first, one.looked_at_all, one.any_size, one.split, one.known_sets, one.searched):
            status = step() or run.check_time()
            if status is not None:
                return status
        return Status.LOCAL_OPTIMUM


@dataclass(eq=False)
class _OneSearch:
    """One search; each step gives a status when it is the last one."""

    graph: ConditionedGraph
    run: Run
    rng: np.random.Generator
    effort: float
    prove: bool
    known: Known
    bounds: dict[str, float]

    # --- steps -------------------------------------------------------------------------------------------------------

    def first(self) -> Status | None:
        """A set that keeps the conditions, without much work."""
        graph = self.graph
        if (nodes := self._known_set()) is not None:
            return self.tell(nodes)
        if not graph.conditions.connected:
            ties = times(graph.graph, np.ones(graph.graph.n)) if graph.graph.n else np.empty(0)
            return self.tell(graph.chosen(largest(ties + graph.bonus, graph.least)))
        field_ = self.field
        piece = first_piece(field_, times(field_.graph, np.ones(field_.graph.n)) + field_.bonus)
        if piece is not None:
            return self.tell(field_.nodes[piece.members])
        try:
            nodes = densest_of_all(graph, self.run)
        except NoFeasibleSet:
            raise InvalidInput(f"`connected`: no connected set keeps the conditions ({self.words}).") from None
        if nodes is None:
            raise InvalidInput(
                f"`connected`: no connected set was found that keeps the conditions ({self.words}); those of "
                "`include` may be too far apart for so few nodes."
            )
        return self.tell(nodes)

    def looked_at_all(self) -> Status | None:
        """Walk through all sets of a small graph."""
        nodes = densest_of_all(self.graph, self.run)
        if nodes is None:
            return self.run.stopped
        density = self.graph.density(nodes)
        if self.prove:
            self.note("exact", density)
        return self.tell(nodes) or Status.OPTIMAL

    def any_size(self) -> Status | None:
        """The densest set of any size beside what must be in, where several sizes are allowed."""
        graph, known, conditions = self.graph, self.known, self.graph.conditions
        if graph.least == graph.most or graph.whole.weight_range[0] < 0.0 or not graph.free.size:
            return None
        if known.ratio is None:
            units = in_units(graph.graph, graph.bonus, graph.extra, graph.paid)
            known.ratio = found = best_ratio(units, stop=self.run.check_time)
            known.is_exact = units.exact and graph.unit > 0.0 and found.proven
            most = 2.0 * units.unit * found.most
            known.most = most + 1e-14 * abs(most) + 2.0 * graph.rounding
            if known.is_exact:
                known.most = graph.density(graph.chosen(found.nodes))
        if self.prove:
            self.note("flow", known.most)
        nodes = known.ratio.nodes
        if not graph.paid and (graph.free.size and nodes.size):
            nodes = self._part_that_fits(nodes)
        chosen = graph.chosen(nodes)
        if graph.broken(chosen) is not None:
            return None
        stop = self.tell(chosen)
        full = conditions.least <= chosen.size <= conditions.most
        return stop or (Status.LOCAL_OPTIMUM if full and known.ratio.proven else None)

    def split(self) -> Status | None:
        """Loads on all free nodes, and what they prove."""
        graph, known = self.graph, self.known
        if known.loads is None:
            steps = np.unique(np.geomspace(1, max(1, graph.free.size), 12).astype(int)).tolist()
            sizes = sorted({max(1, graph.least), max(1, graph.most), *steps})
            known.loads = balanced_loads(
                whole_core(graph.graph), sizes, passes=200 if self.prove else 30, offset=graph.bonus,
                clock=self.run.clock,
            )  # fmt: skip
            known.order = np.argsort(-known.loads, kind="stable")
            units = in_units(graph.graph, graph.bonus, graph.extra, graph.paid)
            gains = order_gains(units, known.order)[known.order]
            known.weights = np.cumsum(gains).astype(np.float64) * units.unit
            known.tops = most_of_any(graph, known.loads)
        if self.prove and known.tops is not None:
            self.note("loads", densest_of_any(graph, known.tops))
        return self.run.ended_by_proof

    def known_sets(self) -> Status | None:
        """The user's sets, and the best first nodes of the order by loads."""
        graph, known = self.graph, self.known
        for nodes in known.given:
            if graph.broken(nodes) is None and (stop := self.tell(nodes)) is not None:
                return stop
        if graph.conditions.connected or known.order is None or known.weights is None:
            return None
        sizes = np.arange(max(1, graph.least), graph.most + 1)
        if not sizes.size:
            return None
        at = int(sizes[np.argmax((graph.extra + known.weights[sizes - 1]) / (graph.paid + sizes))])
        return self.tell(graph.chosen(known.order[:at]))

    def searched(self) -> Status | None:
        """Search at the sizes that matter, or among connected sets."""
        graph = self.graph
        if graph.most <= 0 or graph.least == graph.free.size:
            return None
        return self._among_connected() if graph.conditions.connected else self._at_sizes()

    # --- any sets ----------------------------------------------------------------------------------------------------

    def _at_sizes(self) -> Status | None:
        """The search for a fixed number of nodes at the least and the most, then moves that change the size."""
        graph = self.graph
        best = self.best_nodes.size - graph.paid
        sizes = dict.fromkeys(size for size in (graph.least, best, graph.most) if 0 < size < graph.free.size)
        if graph.conditions.most - graph.conditions.least > 0:
            sizes.pop(graph.free.size if graph.most == graph.free.size else -1, None)
        for number, size in enumerate(sizes):
            stop = self._with_size(size, self.effort if number == 0 else self.effort / 4)
            if stop is not None:
                return stop
        return self._adjust_size(self.best_nodes)

    def _with_size(self, size: int, effort: float) -> Status | None:
        """The search for so many of the most loaded nodes."""
        graph, order = self.graph, self.known.order
        assert order is not None and self.known.loads is not None
        free = self._free_places(self.best_nodes)
        kept = np.union1d(order[: 20 * size + FIELD_NODES], free)
        inner = graph.graph if kept.size == graph.graph.n else induced(graph.graph, kept)
        inner, bonus = alike(inner, graph.bonus[kept])

        def tell(subset: Subset) -> Status | None:
            return self.tell(graph.chosen(kept[subset.members])) or self.run.ended_by_proof

        starts = [mask_of(kept.size, np.searchsorted(kept, order[:size]))]
        if free.size >= size:
            ranked = free[np.argsort(-self.known.loads[free], kind="stable")]
            starts.append(mask_of(kept.size, np.searchsorted(kept, ranked[:size])))
        search = Search(
            Core(inner, kept, -1.0), size, self.known.loads[kept], self.rng, effort, self.run, tell=tell, bonus=bonus
        )
        status = search.find(starts)
        return None if status is Status.LOCAL_OPTIMUM else status

    def _adjust_size(self, nodes: Ints) -> Status | None:
        """Add the node that raises the density most, or remove the one that lowers it most, and exchange between."""
        graph = self.graph
        free, bonus = alike(graph.graph, graph.bonus)
        subset = Subset.of(free, mask_of(free.n, self._free_places(nodes)), bonus)
        size = int(subset.inside.sum())
        for _ in range(MOST_ADJUSTED):
            mean = (graph.extra + subset.weight) / max(1, graph.paid + size)
            inside = subset.inside > 0
            gains = np.where(inside, mean - subset.degrees, subset.degrees - mean)
            if size <= graph.least:
                gains[inside] = -np.inf
            if size >= graph.most:
                gains[~inside] = -np.inf
            at = int(np.argmax(gains))
            if gains[at] <= 1e-12 * abs(mean):
                break
            change = np.array([at]), np.empty(0, np.int64)
            subset.exchange(*change)
            size += -1 if inside[at] else 1
        if 0 < size < graph.graph.n:
            descend(subset)
        return self.tell(graph.chosen(subset.members))

    # --- connected sets ----------------------------------------------------------------------------------------------

    def _among_connected(self) -> Status | None:
        """Pieces in several orders, improved; then the best of them shaken."""
        field_, found = self.field, list[Piece]()
        for piece in self._pieces_in_good_orders(field_):
            piece.improve()
            found.append(piece)
            if (stop := self.tell(field_.nodes[piece.members]) or self.run.check_time()) is not None:
                return stop
        if not found or self.effort == 0:
            return None
        best = max(found, key=lambda piece: piece.ratio)
        near = field_.near(best, self._nodes_by_load(field_), 20 * best.size + FIELD_NODES)
        best = Piece.of(near, np.searchsorted(near.nodes, field_.nodes[best.members]))
        cost = best.size * (near.graph.n + near.graph.n_arcs / max(1, near.graph.n) * best.size)
        for _ in range(math.ceil(min(SHAKES, max(2.0, SHAKE_WORK / (10 * cost))) * self.effort)):
            other = shaken(best, self.rng)
            if not other.fit():
                continue
            other.improve()
            if other.ratio > best.ratio:
                best = other
                if (stop := self.tell(near.nodes[best.members])) is not None:
                    return stop
            if (stop := self.run.check_time()) is not None:
                return stop
        return None

    def _pieces_in_good_orders(self, field_: Field) -> Iterator[Piece]:
        """Pieces in the orders of loads, of peeling, of degrees, and of the sets that are known."""
        scores = self._load_order_scores(field_)
        yield Piece.of(field_, np.searchsorted(field_.nodes, self.best_nodes))
        for order in (
            np.argsort(-scores, kind="stable"),
            peeled(field_),
            np.argsort(-times(field_.graph, np.ones(field_.graph.n)) - field_.bonus, kind="stable"),
        ):
            yield from pieces_in_order(field_, order)
        loose = self._without_connection()
        if loose is not None:
            yield from pieces_in_order(field_, order_beginning_with([loose], field_, scores))

    def _without_connection(self) -> Ints | None:
        """The densest set of any size, which need not be connected."""
        return None if self.known.ratio is None else self.graph.chosen(self.known.ratio.nodes)

    def _load_order_scores(self, field_: Field) -> Floats:
        """The loads of the nodes of the field; those that must be in come first."""
        scores = np.full(field_.graph.n, np.inf)
        assert self.known.loads is not None
        scores[np.searchsorted(field_.nodes, self.graph.free)] = self.known.loads
        return scores

    def _nodes_by_load(self, field_: Field) -> Ints:
        """The nodes of the field, the most loaded first."""
        return np.argsort(-self._load_order_scores(field_), kind="stable")

    @property
    def field(self) -> Field:
        """Where connected sets are looked for."""
        return Field.of(self.graph)

    # --- the run -----------------------------------------------------------------------------------------------------

    @property
    def words(self) -> str:
        """The conditions in words."""
        return self.graph.conditions.in_words(self.graph.whole.n)

    @property
    def best_nodes(self) -> Ints:
        """The best set so far."""
        assert self.run.best_x is not None
        return np.flatnonzero(self.run.best_x > 0)

    def _known_set(self) -> Ints | None:
        """The densest set that another size has left and that keeps these conditions too."""
        return next((nodes for nodes in self.known.sets if self.graph.broken(nodes) is None), None)

    def _free_places(self, nodes: Ints) -> Ints:
        """The places of a set's free nodes."""
        kept = nodes[~np.isin(nodes, self.graph.conditions.include)]
        return np.searchsorted(self.graph.free, kept)

    def tell(self, nodes: Ints) -> Status | None:
        """Tell the run of a set; a status means: stop now."""
        x = np.full(self.run.problem.n, -1.0)
        x[nodes] = 1.0
        self.run.count_evaluation()
        return self.run.step(x, -self.graph.density(nodes)) or self.run.ended_by_proof

    def note(self, name: str, density: float) -> None:
        """Note a proven bound on the density."""
        self.bounds[name] = min(density, self.bounds.get(name, math.inf))
        self.run.raise_bound(-density)

    def _part_that_fits(self, nodes: Ints) -> Ints:
        """Pieces of the densest set, all as dense as the whole: the largest that fits, or several of the smallest."""
        graph = self.graph
        if nodes.size <= graph.most and not graph.conditions.connected:
            return nodes
        labels = pieces(graph.graph, nodes)
        sizes = np.bincount(labels)
        fits = np.flatnonzero((sizes >= graph.least) & (sizes <= graph.most))
        if fits.size:
            part: Ints = nodes[labels == fits[np.argmax(sizes[fits])]]
            return part
        if not graph.conditions.connected:
            order = np.argsort(sizes, kind="stable")
            enough = int(np.searchsorted(np.cumsum(sizes[order]), graph.least)) + 1
            if sizes[order[:enough]].sum() <= graph.most:
                nodes = nodes[np.isin(labels, order[:enough])]
        return nodes
