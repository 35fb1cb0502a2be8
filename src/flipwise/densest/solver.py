"""One k from start to proof: cut the graph down to a core, balance the loads, search, prove.

A run that was killed goes on in three places: among the walks of a search (`search.Walks`), after a finished search
(`Searches`), and after a finished k of several (`Sweep`). Everything between follows from the graph and from these: it
is computed again, and not reported a second time.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np

from flipwise.densest import starts
from flipwise.densest.bounds import (
    CoreLoads,
    SubgraphBounds,
    add_cheap_bounds,
    balanced_loads,
    clique_bound,
    simple_bounds,
    top_sum,
)
from flipwise.densest.certifying import bipartite_proof
from flipwise.densest.cliques import find_clique, may_hide_clique
from flipwise.densest.core import Core, core_above, core_of_size, positive_degrees
from flipwise.densest.exhaustive import MOST_NODES, MOST_WORK, QUICK_WORK, best_of_all
from flipwise.densest.pairs import add_pair_bound
from flipwise.densest.relaxed import add_semidefinite_bound
from flipwise.densest.search import Search, Walks, report
from flipwise.densest.semidefinite import FULL_SPECTRUM
from flipwise.densest.subset import Subset, descend
from flipwise.densest.sweep import Searches, Sweep
from flipwise.densest.whole import GraphInMemory, SubgraphObjective, WholeGraph
from flipwise.engine.limits import Status
from flipwise.engine.run import Incumbent, Run
from flipwise.foundation.arrays import Bools, Floats, Ints
from flipwise.foundation.checks import check_flags, check_numbers
from flipwise.model.constraints import Cardinality
from flipwise.model.problem import Problem

SCOUT_NODES = 2500
"""The first, small core has at least two nodes for each wanted one and this many more."""
LARGE_ARCS = 20_000_000
"""From here on the core is kept as small as the first solution allows."""
MOST_CORE_NODES = 50_000
"""A core for the search has at most thirty nodes for each wanted one and this many more."""
START_PASSES = 50
"""Passes over the edges for loads that only serve as a start."""
CLIQUE_WORK = 3e8
"""Elements that the search for a hidden clique may look at, at effort 1."""
SMALL_SHARE, CLIQUE_SHARE = 0.15, 0.6
"""The part of the time left that it may take before any costly proof; the latter in cores of more than some hundred
nodes, and then instead of a number of elements."""
PUBLISHED_SECONDS, CUTTING_SECONDS = 3e-7, 1.5e-8
"""What the published methods, and cutting another core, take for an arc: they run where a time limit leaves as much."""
PAIR_WORK = 8e8
"""Pairs times steps that the pair bound may spend at effort 1."""


class FirstSolution(NamedTuple):
    """A first solution: the core it was found in with rough loads, its nodes, E of it and its least degree inside."""

    core: Core
    loads: Floats
    nodes: Ints
    weight: float
    least: float


@dataclass(frozen=True)
class DensestSearch:
    """The search for the densest k nodes with its proofs, on `Problem(SubgraphObjective(graph), Cardinality(k))`.

    Parameters
    ----------
    effort
        How long to search past the first descents; 0 stops after the first descent.
    prove
        Whether to compute bounds.
    sweep
        What it has from the searches for larger k, and leaves for those to come.
    """

    name: ClassVar[str] = "dpcd"
    effort: float = 1.0
    prove: bool = True
    sweep: Sweep = field(default_factory=Sweep, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_numbers(self, "effort", least=0.0)
        check_flags(self, "prove")

    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Find a dense set and prove what can be proven; the start `x` is not used."""
        sweep, size = self.sweep, OneSize.of(problem, run, self.prove)
        k, known = size.k, sweep.loads_for(size.k)
        sweep.bounds[k] = size.bounds
        if size.one_descent_will_do(sweep, self.effort):
            sweep.loads, status = size.descend_once()
            return status
        rng = sweep.rng or rng
        before = Searches.resumed(run, rng)
        done = before or Searches(rng)

        # the core that a first solution says is needed, with balanced loads
        scouted = size.scout(known, reporting=before is None)
        if before is None and (ended := size.ended_early(scouted, sweep)) is not None:
            return ended
        core, loads = size.needed_core(scouted, known)
        sweep.loads = known or CoreLoads(core, loads)
        size.add_bounds(core, sweep.loads)

        # search it, and a wider one when it turned out too small
        first = [scouted.nodes, *sweep.given]
        if before is None and size.published_sets_are_cheap(self.effort):
            first += size.graph.published_sets(k)
        for last in (False, True):
            status = Status.LOCAL_OPTIMUM
            if done.finished == int(last):
                masks = [] if run.holds(Walks) else _start_masks(core, first, k)
                with run.inside(done):
                    status = Search(core, k, loads, rng, self.effort, run).find(masks)
                size.note_end(done, core, status)
            wider = None if last else size.wider_core(core, done.wider_cap)
            if status is not Status.LOCAL_OPTIMUM or wider is None:
                break
            core, loads, first = wider, size.balanced(wider, done.weight), [size.best_nodes]
            sweep.loads = CoreLoads(core, loads)
            size.add_bounds(core, sweep.loads)

        if status is Status.LOCAL_OPTIMUM:
            status = self._close_gap(size, core, loads, rng, shared=known is not None)
        if sweep.record is not None:
            sweep.record.add(size.bounds, sweep.loads)
        return status

    def _close_gap(self, size: OneSize, core: Core, loads: Floats, rng: np.random.Generator, *, shared: bool) -> Status:
        """After the search: look for a hidden clique, prove, and use what is left of a time limit."""
        status = size.searched_for_clique(core, rng, CLIQUE_WORK * self.effort)
        if status is None and self.prove:
            status = size.proven(core, loads, self.effort, shared=shared)
        if status in (None, Status.LOCAL_OPTIMUM) and size.run.limits.time_limit is not None:
            rng = np.random.default_rng(copy.deepcopy(rng).integers(2**62))  # another walk than the first
            status = size.searched_for_clique(core, rng, math.inf)
        return status or Status.LOCAL_OPTIMUM


@dataclass(eq=False)
class OneSize:
    """What the search for one k decides about cores, loads and bounds."""

    graph: WholeGraph
    k: int
    run: Run
    prove: bool
    bounds: SubgraphBounds

    @classmethod
    def of(cls, problem: Problem, run: Run, prove: bool) -> OneSize:
        """The decisions for a problem of `SubgraphObjective` and `Cardinality`."""
        objective, constraint = problem.objective, problem.constraint
        assert isinstance(objective, SubgraphObjective)
        assert isinstance(constraint, Cardinality)
        k = int(constraint.count)
        return cls(objective.graph, k, run, prove, SubgraphBounds(k, objective.graph.unit))

    def proven(self, core: Core, loads: Floats, effort: float, *, shared: bool) -> Status:
        """Prove what can be proven after a search; `shared` loads are those of a larger k."""
        if self.run.gap_reached:
            return self.run.ended_by_proof or Status.LOCAL_OPTIMUM
        if shared:  # they served the search; a proof deserves loads of its own
            core, loads = self.own_loads()
            self.add_bounds(core, CoreLoads(core, loads))
        self.add_bipartite_bound()
        add_pair_bound(self.bounds, core, loads, self.run, PAIR_WORK * effort)
        status = self.run.ended_by_proof or self.looked_at_all(MOST_WORK * effort)
        if status is None:
            subset = Subset.of(core.graph, np.isin(core.nodes, self.best_nodes))
            least = float(min(subset.degrees[subset.mask], default=0.0))
            add_semidefinite_bound(self.bounds, core, loads, self.run, effort, self.graph.weight_range[1], least)
            status = self.run.ended_by_proof or self.run.stopped
        return status or Status.LOCAL_OPTIMUM

    def add_bipartite_bound(self) -> None:
        """Note that k nodes of a bipartite graph have at most k^2 / 4 pairs between the sides, where that is news."""
        most = self.k**2 // 4 * max(self.graph.weight_range[1], 0.0)
        if isinstance(self.graph, GraphInMemory) and most < self.bounds.best[1] and self.graph.bipartite:
            proof = partial(bipartite_proof, self.graph.graph)
            self.bounds.add("bipartite", most if self.graph.unit else most * (1.0 + 1e-15), proof)
            self.run.raise_bound(-2.0 * self.bounds.best[1])

    def searched_for_clique(self, core: Core, rng: np.random.Generator, work: float) -> Status | None:
        """Look for a clique where the best set is nearly one and no bound excludes it; a status means: stop now."""
        pairs = clique_bound(self.k, 1.0)
        excluded = self.bounds.known and self.bounds.best[1] < pairs
        if excluded or work == 0.0 or self.graph.unit != 1.0 or not may_hide_clique(self.best_weight, self.k):
            return None
        if core.cap > self.k - 2:
            core = self.graph.core_above(float(self.k - 2))
        share = 1.0
        if work < math.inf:  # a proof comes after this: some of the time, more where that would take long, too
            small = core.graph.n <= FULL_SPECTRUM
            share = SMALL_SHARE if small else CLIQUE_SHARE
            work = work if small or self.run.limits.time_limit is None else math.inf
        until = self.run.seconds + share * self.run.seconds_left

        def stop() -> object | None:
            return self.run.check_time() or (Status.TIME_LIMIT if self.run.seconds > until else None)

        nodes = find_clique(core, self.k, copy.deepcopy(rng), stop, work)
        if nodes is None:
            return self.run.stopped
        x = np.where(np.isin(np.arange(self.graph.n), nodes), 1.0, -1.0)
        return self.run.step(x, -2.0 * pairs) or self.run.ended_by_proof

    def looked_at_all(self, work: float) -> Status | None:
        """Walk through all sets of a small graph; a status when that came to its end, or the time did."""
        if self.graph.n > MOST_NODES:
            return None
        graph, exact = self.graph.subgraph(np.arange(self.graph.n)), self.graph.unit > 0.0
        best = best_of_all(graph, self.k, self.best_nodes, exact=exact, run=self.run, work=work)
        if best is None:
            return self.run.stopped
        x = np.full(self.graph.n, -1.0)
        x[best.nodes] = 1.0
        self.run.incumbent = Incumbent(x, -2.0 * best.weight)  # the best one exactly, also where rounding hides it
        self.bounds.add("exact", best.weight)
        self.run.raise_bound(-2.0 * best.weight)
        return self.run.step(x, -2.0 * best.weight) or Status.OPTIMAL

    @property
    def best_nodes(self) -> Ints:
        """The best set so far."""
        assert self.run.best_x is not None
        return np.flatnonzero(self.run.best_x > 0)

    @property
    def best_weight(self) -> float:
        """E of the best set so far."""
        return -self.run.best_value / 2.0

    def one_descent_will_do(self, sweep: Sweep, effort: float) -> bool:
        """Whether neither a search nor a bound is wanted, of a graph on which anything more takes long."""
        fresh = not sweep.given and sweep.loads_for(self.k) is None
        return fresh and effort == 0 and not self.prove and self.graph.n_arcs > LARGE_ARCS

    def descend_once(self) -> tuple[CoreLoads, Status]:
        """One descent, from the nodes of largest degree in a core: all there is to effort 0 without a bound."""
        core = self.graph.core_of_size(2 * self.k + SCOUT_NODES)
        subset = Subset.of(core.graph, starts.by_degree(core.graph, self.k))
        self.run.count_evaluation()
        descend(subset)
        halves = 0.5 * positive_degrees(core.graph).astype(np.float64)
        return CoreLoads(core, halves), report(self.run, core, subset) or Status.LOCAL_OPTIMUM

    def ended_early(self, scouted: FirstSolution, sweep: Sweep) -> Status | None:
        """A status when no time is left after the first solution, or all sets of a small graph were looked at."""
        loaded, status = sweep.loads_for(self.k), None
        if self.run.seconds_left <= 0.0 and (status := self.run.check_time()) is not None:
            loaded = sweep.loads = CoreLoads(scouted.core, scouted.loads)
            if self.prove:
                self.bounds.add("loads", top_sum(scouted.loads, self.k, scouted.core.cap))
                self.run.raise_bound(-2.0 * self.bounds.best[1])
        elif self.prove and self.run.pool is None:
            status = self.looked_at_all(QUICK_WORK)
        if status is not None and sweep.record is not None:
            sweep.record.add(self.bounds, loaded)
        return status

    def scout(self, known: CoreLoads | None, *, reporting: bool) -> FirstSolution:
        """A first solution from a small core, or from the one that is known."""
        small = self.graph.core_of_size(2 * self.k + SCOUT_NODES) if known is None else known.core
        first = Subset.of(small.graph, starts.by_degree(small.graph, self.k))
        clock, subset = self.run.clock, first
        descend(first, clock)
        if reporting:
            self.run.count_evaluation()
            report(self.run, small, first)
        rough = balanced_loads(small, [self.k], passes=10, clock=clock) if known is None else known.loads
        if not (reporting and clock.expired):
            subset = Subset.of(small.graph, starts.top(rough, self.k))
            descend(subset, clock)
            if reporting:
                self.run.count_evaluation()
                report(self.run, small, subset)
        if first.weight > subset.weight:
            subset = first
        least = float(subset.degrees[subset.mask].min())
        return FirstSolution(small, rough, small.nodes[subset.members], subset.weight, least)

    def needed_cap(self, scouted: FirstSolution, known: CoreLoads | None) -> float | None:
        """The cap of the core that the first solution says is needed; None: the scout's own core will do.

        That may be too small for the answer; the end of the search will say so.
        """
        large = (self.graph.n_arcs if known is None else known.core.graph.n_arcs) > LARGE_ARCS
        late = self.run.seconds_left < CUTTING_SECONDS * self.graph.n_arcs
        if large and (late or self._loads_are_hopeless(scouted.core, scouted.weight)):
            return None
        level = float(np.sort(scouted.loads)[max(0, scouted.loads.size - self.k)])
        cap = float(math.floor((1.0 if large else 0.8) * min(scouted.least, level)))
        return None if self.run.pool is not None and cap > scouted.core.cap else cap  # other answers need room

    def needed_core(self, scouted: FirstSolution, known: CoreLoads | None) -> tuple[Core, Floats]:
        """The core that the first solution says is needed, and its loads."""
        cap = self.needed_cap(scouted, known)
        core = scouted.core if cap is None else self.core_above(cap, scouted.core, known)
        if known is not None:
            return core, known.loads[np.searchsorted(known.core.nodes, core.nodes)]
        return core, scouted.loads if cap is None else self.balanced(core, scouted.weight)

    def core_above(self, cap: float, small: Core, known: CoreLoads | None) -> Core:
        """The core of the known one (None: of the whole graph) above `cap`, unless it is too large for the search."""
        most = 30 * self.k + MOST_CORE_NODES
        base = None if known is None else known.core
        n, known_cap = (self.graph.n, -1.0) if base is None else (base.graph.n, base.cap)
        if n <= 2 * self.k + SCOUT_NODES or cap <= max(known_cap, 0.0):
            return self.graph.core_of_size(most) if base is None else core_of_size(base, most)
        if cap > small.cap:
            core = core_above(small, cap)
            return core if core.graph.n >= self.k else small
        core = self.graph.core_above(cap) if base is None else core_above(base, cap)
        if core.graph.n <= most:
            return core
        return self.graph.core_of_size(most) if base is None else core_of_size(base, most)

    def balanced(self, core: Core, found: float) -> Floats:
        """Loads for the bound; where that is not wanted or cannot win, only well enough for a start.

        `found` is the weight of a set that is known.
        """
        passes = START_PASSES
        if self.prove:
            passes = 10 if self._loads_are_hopeless(core, found) else 200
        return balanced_loads(core, [self.k], passes=passes, clock=self.run.clock)

    def own_loads(self) -> tuple[Core, Floats]:
        """The core and the loads that a search for this k alone would begin with."""
        scouted = self.scout(None, reporting=False)
        cap = self.needed_cap(scouted, None)
        if cap is None:
            return scouted.core, scouted.loads
        core = self.core_above(cap, scouted.core, None)
        return core, self.balanced(core, self.best_weight)

    def _loads_are_hopeless(self, core: Core, found: float) -> bool:
        """Whether the load bound cannot win: it is at least the density of any larger part of the graph."""
        if core.graph.n_edges * self.k < found * core.graph.n:
            return False  # every bound is at least what was found
        simple = simple_bounds(core, self.k, self.graph.weight_range[1], self.graph.unit, self.run.clock)
        return core.graph.n_edges * self.k >= simple.best[1] * core.graph.n and core.graph.n >= self.k

    def note_end(self, done: Searches, core: Core, status: Status) -> None:
        """Note that a search in a core is over, unless something stopped it, and what the first of them calls for."""
        if status is not Status.LOCAL_OPTIMUM:
            return
        if done.finished == 0:
            done.weight, done.wider_cap = self.best_weight, self._wider_cap(core)
        done.finished += 1
        self.run.keep(done)

    def _wider_cap(self, core: Core) -> float | None:
        """At which cap to look again, when nodes outside the core could still improve the best set; else None."""
        subset = Subset.of(core.graph, np.isin(core.nodes, self.best_nodes))
        least = float(subset.degrees[subset.mask].min())
        if core.is_whole or core.cap <= least:
            return None
        if self.graph.n_arcs > LARGE_ARCS:  # by one full gradient: could a node outside replace the weakest of the set?
            above = self.graph.nodes_above(self.best_nodes, least)
            if not np.setdiff1d(above, core.nodes).size:
                return None
        return least - 1.0

    def wider_core(self, core: Core, cap: float | None) -> Core | None:
        """The core above a lower cap, where that has more nodes."""
        wider = None if cap is None else self.core_above(cap, core, None)
        return wider if wider is not None and wider.graph.n > core.graph.n else None

    def published_sets_are_cheap(self, effort: float) -> bool:
        """Whether the published methods on the whole graph are no great work, and may still help."""
        in_time = self.run.seconds_left > PUBLISHED_SECONDS * self.graph.n_arcs
        small = in_time and self.graph.n_arcs <= LARGE_ARCS and self.graph.weight_range[0] >= 0.0
        return effort > 0 and small and self.run.ended_by_proof is None

    def add_bounds(self, core: Core, loaded: CoreLoads) -> None:
        """Prove what costs little, where that is wanted."""
        if self.prove:
            add_cheap_bounds(self.bounds, core, loaded, self.graph.weight_range[1], self.run.clock)
            self.run.raise_bound(-2.0 * self.bounds.best[1])


def _start_masks(core: Core, sets: list[Ints], k: int) -> list[Bools]:
    """Sets of nodes of the whole graph as masks of k nodes of the core; what is outside the core is dropped."""
    return [starts.completed(core.graph, np.isin(core.nodes, nodes), k) for nodes in sets]
