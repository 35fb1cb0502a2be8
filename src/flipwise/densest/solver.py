"""One k from start to proof: cut the graph down to a core, balance the loads, search, certify."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from flipwise.densest import starts
from flipwise.densest.bounds import SubgraphBounds, simple_bounds
from flipwise.densest.core import Core, core_above, core_of_size, positive_degrees
from flipwise.densest.loads import balanced_loads, top_sum
from flipwise.densest.pairs import pair_bound
from flipwise.densest.search import Search
from flipwise.densest.stages import Stages
from flipwise.densest.subset import Subset, descend
from flipwise.densest.whole import Whole
from flipwise.engine.checkpoint import generator_state, kept_array, taking_over
from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Bools, Floats, Ints
from flipwise.foundation.container import State

SCOUT_NODES = 2500
"""The first, small core has at least two nodes for each wanted one and this many more."""
LARGE_ARCS = 20_000_000
"""From here on the core is kept as small as the first solution allows."""
MOST_CORE_NODES = 50_000
"""A core for the search has at most thirty nodes for each wanted one and this many more."""
SMALL_GAP = 1e-3
"""On all but small cores the pair bound is not tried for less than this."""
START_PASSES = 50
"""Passes over the edges for loads that only serve as a start."""
PAIR_LEVEL = 0.88
"""The narrow core of the pair bound is cut at this part of the k-th load."""
PAIR_EDGES = 600_000
"""A core with more edges is large for the pair bound."""
PAIR_WORK = 8e8
"""Pairs times steps that the pair bound may spend at effort 1."""


@dataclass(eq=False)
class Loaded:
    """A core with balanced loads, which hold for every k whose k-th load is above the core's cap."""

    core: Core
    loads: Floats


@dataclass(eq=False)
class Solver:
    """The state of one solve."""

    whole: Whole
    k: int
    run: Run
    rng: np.random.Generator
    effort: float
    certify: bool
    bounds: SubgraphBounds
    best: Ints | None = None
    best_weight: float = -math.inf
    stages: Stages = field(default_factory=lambda: Stages(None, {"k": []}))

    def solve(self, given: Ints | None, shared: Loaded | None) -> tuple[Status, Loaded]:
        """Find a dense set, prove what can be proven; the answer is `best`, the proof `bounds`."""
        known = shared if shared is not None and shared.core.graph.n >= self.k else None
        if known is None and given is None and self.effort == 0 and not self.certify and self.whole.n_arcs > LARGE_ARCS:
            return self._first_descent()
        core, scout, rough = self._scout(known)
        if known is None:
            loads = self._balanced(core) if rough is None else rough
            loaded = Loaded(core, loads)
        else:
            loaded = known
            loads = known.loads[np.searchsorted(known.core.nodes, core.nodes)]
        self._add_bounds(core, loaded)
        others = [] if given is None else [given]
        status = self._search(core, loads, lambda: [scout, *others, *self._published()])
        wider = self._enlarged(core) if status is Status.LOCAL_OPTIMUM else None
        if wider is not None:
            assert self.best is not None
            core, loads = wider, self._balanced(wider)
            loaded = Loaded(core, loads)
            self._add_bounds(core, loaded)
            first = self.best
            status = self._search(core, loads, lambda: [first])
        if self.certify and status is Status.LOCAL_OPTIMUM:
            status = self._pair_bound_once(core, loads)
        return status, loaded

    def _first_descent(self) -> tuple[Status, Loaded]:
        """One descent, from the nodes of largest degree in a core: all there is to effort 0 without a bound."""
        core = self.whole.core_of_size(2 * self.k + SCOUT_NODES)
        subset = Subset.of(core.graph, starts.by_degree(core.graph, self.k))
        descend(subset)
        halves = 0.5 * positive_degrees(core.graph).astype(np.float64)
        return self.tell(core, subset) or Status.LOCAL_OPTIMUM, Loaded(core, halves)

    def certify_only(self, shared: Loaded | None) -> Loaded:
        """The bounds without a search: for sets that another method found."""
        if shared is None:
            size = 2 * self.k + SCOUT_NODES
            core = self.whole.core_of_size(size)
            shared = Loaded(core, balanced_loads(core, [self.k]))
            if core.cap > float(np.sort(shared.loads)[max(0, core.graph.n - self.k)]):
                core = self.whole.core_of_size(10 * size)
                shared = Loaded(core, balanced_loads(core, [self.k]))
        self._add_bounds(shared.core, shared)
        return shared

    def _published(self) -> list[Ints]:
        """The sets of the published methods on the whole graph, as starts, where that is no great work."""
        large = self.whole.n_arcs > LARGE_ARCS
        if self.effort == 0 or large or self.whole.weight_range[0] < 0.0 or self._proof() is not None:
            return []
        return self.whole.published_sets(self.k)

    def _balanced(self, core: Core) -> Floats:
        """Loads for the bound; where that is not wanted or cannot win, only well enough for a start."""
        passes = 200
        if not self.certify:
            passes = START_PASSES
        elif self._loads_are_hopeless(core):
            passes = 10
        return balanced_loads(core, [self.k], passes=passes, more=lambda: self.run.seconds_left > 0)

    def _scout(self, known: Loaded | None) -> tuple[Core, Ints, Floats | None]:
        """A first solution from a small core, the core it says is needed, and loads on it where they suffice."""
        small = self.whole.core_of_size(2 * self.k + SCOUT_NODES) if known is None else known.core
        first = Subset.of(small.graph, starts.by_degree(small.graph, self.k))
        descend(first)
        self.tell(small, first)
        rough = balanced_loads(small, [self.k], passes=10, tolerance=1e-3) if known is None else known.loads
        subset = Subset.of(small.graph, starts.top(rough, self.k))
        descend(subset)
        self.tell(small, subset)
        if first.weight > subset.weight:
            subset = first
        found = small.nodes[subset.members]
        least = float(subset.degrees[subset.mask].min())
        level = float(np.sort(rough)[max(0, rough.size - self.k)])
        base = None if known is None else known.core
        large = (self.whole.n_arcs if base is None else base.graph.n_arcs) > LARGE_ARCS
        if large and self._loads_are_hopeless(small):  # whether that was too small is seen at the end
            return small, found, rough
        slack = 1.0 if large else 0.8
        return self._core(base, small, float(math.floor(slack * min(least, level)))), found, None

    def _loads_are_hopeless(self, core: Core) -> bool:
        """Whether the load bound cannot win: it is at least the density of any larger part of the graph."""
        if core.graph.n_edges * self.k < self.best_weight * core.graph.n:
            return False  # every bound is at least what was found
        simple = simple_bounds(core, self.k, self.whole.weight_range[1], self.whole.integral)
        return core.graph.n_edges * self.k >= simple.best[1] * core.graph.n and core.graph.n >= self.k

    def _core(self, base: Core | None, small: Core, cap: float) -> Core:
        """The core of `base` (None: of the whole graph) above `cap`, unless it would be too large for the search."""
        most = 30 * self.k + MOST_CORE_NODES
        n, known_cap = (self.whole.n, -1.0) if base is None else (base.graph.n, base.cap)
        if n <= 2 * self.k + SCOUT_NODES or cap <= max(known_cap, 0.0):
            return self.whole.core_of_size(most) if base is None else core_of_size(base, most)
        if cap > small.cap:
            core = core_above(small, cap)
            return core if core.graph.n >= self.k else small
        core = self.whole.core_above(cap) if base is None else core_above(base, cap)
        if core.graph.n <= most:
            return core
        return self.whole.core_of_size(most) if base is None else core_of_size(base, most)

    def _enlarged(self, core: Core) -> Core | None:
        """A larger core when nodes outside this one could still improve the answer."""
        assert self.best is not None
        subset = Subset.of(core.graph, _mask(core, self.best))
        least = float(subset.degrees[subset.mask].min())
        if core.whole or core.cap <= least:
            return None
        if self.whole.n_arcs > LARGE_ARCS:  # by one full gradient: could a node outside replace the weakest of the set?
            above = self.whole.nodes_above(self.best, least)
            if not np.setdiff1d(above, core.nodes).size:
                return None
        wider = self._core(None, core, least - 1.0)
        return wider if wider.graph.n > core.graph.n else None

    def _search(self, core: Core, loads: Floats, given: Callable[[], list[Ints]]) -> Status:
        finished = self.stages.finished()
        if finished is not None:
            return self._take(finished)
        search = Search(
            core, self.k, loads, self.rng, self.effort, lambda subset: self.tell(core, subset), self.run.check_time,
            lambda: self.stages.keep(lambda: {**self._found(Status.LOCAL_OPTIMUM), **search.state()}),
        )  # fmt: skip
        kept = self.stages.under_way()
        if kept is not None:
            self._take(kept)
            with taking_over():
                search.restore(kept)
            status = search.run()
        else:
            masks = [_mask(core, nodes) for nodes in given()]
            status = search.run([starts.completed(core.graph, mask, self.k) for mask in masks])
        if self.stages.stays_open(status):
            if search.walking:
                self.stages.keep(lambda: {**self._found(status), **search.state()}, now=True)
        else:
            self.stages.end(self._found(status))
        return status

    def _found(self, status: Status) -> State:
        counters = {"iterations": self.run.iterations, "seconds": self.run.seconds, "rng": generator_state(self.rng)}
        return {"status": status.name, "best": self.best, "weight": self.best_weight, **counters}

    def _take(self, found: State) -> Status:
        with taking_over():
            self.best, self.best_weight = kept_array(found, "best", (self.k,), "i"), float(found["weight"])
            self.run.offer(self._spins(self.best), -2.0 * self.best_weight)
            self.run.iterations = int(found["iterations"])
            self.run.started -= max(0.0, float(found["seconds"]) - self.run.seconds)
            self.rng.bit_generator.state = found["rng"]["state"]
            return Status[found["status"]]

    def tell(self, core: Core, subset: Subset) -> Status | None:
        """Report a set to the run; the set is optimal when it meets the bound."""
        nodes = core.nodes[subset.members]
        if subset.weight > self.best_weight:
            self.best, self.best_weight = nodes, subset.weight
        return self.run.step(self._spins(nodes), -2.0 * subset.weight) or self._proof()

    def _spins(self, nodes: Ints) -> Floats:
        x = np.full(self.whole.n, -1.0)
        x[nodes] = 1.0
        return x

    def _proof(self) -> Status | None:
        return Status.OPTIMAL if self.bounds.known and self.best_weight >= self.bounds.best[1] else None

    def _add_bounds(self, core: Core, loaded: Loaded) -> None:
        if not self.certify:
            return
        simple = simple_bounds(core, self.k, self.whole.weight_range[1], self.whole.integral)
        for name, bound in simple.known.items():
            self.bounds.add(name, bound)
        self.bounds.add("loads", top_sum(loaded.loads, self.k, loaded.core.cap))
        self.run.raise_bound(-2.0 * self.bounds.best[1])

    def _pair_bound_once(self, core: Core, loads: Floats) -> Status:
        finished = self.stages.finished()
        if finished is None:
            status = self._pair_bound(core, loads)
            self.stages.end({"pairs": self.bounds.known.get("pairs")})
            return status
        with taking_over():
            pairs = finished["pairs"]
            pairs = None if pairs is None else float(pairs)
        if pairs is not None:
            self._add_pair_bound(pairs)
        return self._proof() or Status.LOCAL_OPTIMUM

    def _pair_bound(self, core: Core, loads: Floats) -> Status:
        """For what the simpler bounds leave open; stops as soon as the answer is proven optimal.

        In a large core a narrower one, cut just below the k-th load, comes first, and the whole one gets what is left
        of the budget: nodes outside count with the cap, which is cheap and nearly as good.
        """
        level = float(np.sort(loads)[max(0, loads.size - self.k)])
        narrow = core_above(core, max(math.floor(PAIR_LEVEL * level), core.cap, 0.0))
        budget = PAIR_WORK * self.effort
        tried = [core] if core.graph.n_edges <= PAIR_EDGES or narrow.graph.n < self.k else [narrow, core]
        for each in tried:
            known = self.bounds.best[1]
            worth = known > self.best_weight * (1.0 if each.graph.n_edges < 20_000 else 1.0 + SMALL_GAP)
            if not worth or known <= self.best_weight or budget < 300.0 * each.graph.n_edges:
                continue
            spent = _Spent(budget, self.run)
            goal = self.best_weight + 1.0 if self.bounds.integral else self.best_weight * (1.0 + 1e-9)
            found = pair_bound(each, self.k, known, goal, spent)
            budget -= spent.work
            if found < known:
                self._add_pair_bound(found)
        return self._proof() or Status.LOCAL_OPTIMUM

    def _add_pair_bound(self, bound: float) -> None:
        self.bounds.add("pairs", bound)
        self.run.raise_bound(-2.0 * self.bounds.best[1])


@dataclass(eq=False)
class _Spent:
    """Says whether the pair bound may go on, and remembers what it has spent."""

    budget: float
    run: Run
    work: float = 0.0

    def __call__(self, work: float) -> bool:
        if work >= self.budget or self.run.seconds_left <= 0:
            return False
        self.work = work
        return True


def _mask(core: Core, nodes: Ints) -> Bools:
    """Nodes of the whole graph as a mask on the core; what is outside the core is dropped."""
    return np.isin(core.nodes, nodes)
