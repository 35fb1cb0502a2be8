"""The search for a dense set of k nodes in a core: many starts, descent, then walks that can move whole pieces.

1. Each start (see `densest.starts`) descends by DPCD (see `densest.subset`); the best few different sets are kept.
2. From these a tabu walk makes best exchanges, better or worse.
3. Whenever there is a new best set, whole cliques are exchanged (see `densest.subset`) until none improves it.
4. Piece moves: grow a dense piece of q nodes somewhere outside, drop the q weakest nodes elsewhere, descend and walk.
   A single exchange cannot do this: the first nodes of a new piece have almost no edge into the old set.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import InitVar, dataclass, field
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.densest import starts
from flipwise.densest.core import Core, Degrees
from flipwise.densest.subset import Subset, clique_exchanges, descend
from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.engine.states import check_array
from flipwise.foundation.arrays import Bools, Floats, Signs
from flipwise.foundation.errors import InvalidFile
from flipwise.kernels import subgraph as kernels

GROWTH_WORK = 2e8
"""Elements looked at while growing starts from seeds, at effort 1."""
ELEMENT_SECONDS = 3e-9
"""About what one takes in a large graph: no start is made that would not be there in time."""
GROWTH_MOST = 3e9
"""Two growths are made in any case while one looks at no more than this."""
PIECE_WORK = 2e8
"""The largest piece is one whose growth looks at no more than this."""
WALK_WORK = 6e8
"""Elements looked at in tabu walks and piece moves, at effort 1."""
CLIQUE_SHARE = 0.1
"""The part of that which one search for cliques may take ..."""
MOST_CLIQUES = 20
"""... and how many it exchanges, at effort 1."""
MOST_SEEDS = 64
"""Seeds from which starts are grown, at most."""
MOST_MOVES = 100
"""Piece moves at effort 1, at most: what is not found on a small graph by then is not there."""
POOL = 6
"""Different sets kept."""
NEARBY, TRIES = 4, 30
"""Of so many nodes more than twice as many as are exchanged, drawn so many times for each answer."""


def report(run: Run, core: Core, subset: Subset) -> Status | None:
    """Tell the run of a set found in a core; a status means: stop now, also because the bound proves it optimal."""
    return run.step(point_of(run, core, subset), -2.0 * subset.weight) or run.ended_by_proof


def point_of(run: Run, core: Core, subset: Subset) -> Floats:
    """A set found in a core as spins of the whole graph."""
    x = np.full(run.problem.n, -1.0)
    x[core.nodes[subset.members]] = 1.0
    return x


@dataclass
class KeptSet:
    """A subset as a checkpoint holds it. Degrees are kept, not made anew: their roundings are part of the run."""

    inside: Signs
    degrees: npt.NDArray[np.number[Any]]
    weight: float


@dataclass
class Walks:
    """Where a search stands between two walks."""

    pool: list[KeptSet]
    """The best sets so far, ..."""
    queue: list[KeptSet]
    """... and those from which a first walk is still to be made, ..."""
    first_steps: int
    """... with so many exchanges each."""
    moves: int
    """Piece moves made."""
    work: float
    """Elements that may still be looked at."""
    settled: float
    """The weight of the best set when its cliques were exchanged last."""
    rng: np.random.Generator


@dataclass(eq=False)
class Search:
    """One search in one core. Every candidate for the best set is reported to `run`."""

    core: Core
    k: int
    loads: Floats
    rng: np.random.Generator
    effort: float
    run: Run
    tell: InitVar[Callable[[Subset], Status | None] | None] = None
    """How a set is reported; None: by its weight."""
    bonus: Degrees | None = None
    """What the nodes weigh themselves, if they do."""
    pool: list[Subset] = field(default_factory=list)
    queue: list[Subset] = field(default_factory=list)
    first_steps: int = 0
    moves: int = 0
    work: float = 0.0
    settled: float = -math.inf

    def __post_init__(self, tell: Callable[[Subset], Status | None] | None) -> None:
        self._report = tell or partial(report, self.run, self.core)

    def find(self, given: Sequence[Bools]) -> Status:
        """Search from the given sets and more until the effort is spent or the run says stop; says why it ended."""
        before = self.run.resume(Walks)
        for mask in () if before is not None else self._start_masks(given):
            subset = Subset.of(self.core.graph, mask, self.bonus)
            self.run.count_evaluation()
            descend(subset, self.run.clock)
            stop = self._offer(subset) or self.run.check_time()
            if stop is not None:
                return stop
        if not 0 < self.k < self.core.graph.n or self.effort == 0:
            return Status.LOCAL_OPTIMUM
        graph = self.core.graph
        work_of_a_step = graph.n + 2 * graph.n_arcs / graph.n
        if before is None:
            self.work = WALK_WORK * self.effort
            self.first_steps = max(200, int(min(20 * self.k, self.work / 4 / len(self.pool) / work_of_a_step)))
            self.queue = list(self.pool)
        else:
            self.restore(before)
        while self.queue:
            self.work -= self.first_steps * work_of_a_step
            found = self._tabu_walk(self.queue.pop(0).copy(), self.first_steps)
            descend(found, self.run.clock)
            stop = self._offer(found) or self._report(self.pool[0])
            self.run.keep(self.state)
            if stop is not None:
                return stop
        steps = max(50, min(2 * self.k, 1000))
        while self.moves < math.ceil(MOST_MOVES * self.effort):
            for subset in self._exchanged_cliques():
                descend(subset, self.run.clock)
                stop = self._offer(subset) or self.run.check_time()
                if stop is not None:
                    return stop
            if self.work <= 0:
                break
            subset, size = self._moved_piece()
            descend(subset, self.run.clock)
            self.work -= (2 * size + steps + 50) * work_of_a_step
            found = self._tabu_walk(subset, steps)
            descend(found, self.run.clock)
            stop = self._offer(found) or self._report(self.pool[0])
            self.moves += 1
            self.run.keep(self.state)
            if stop is not None:
                return stop
        self._offer_nearby()
        return Status.LOCAL_OPTIMUM

    def _start_masks(self, given: Sequence[Bools]) -> Iterator[Bools]:
        """The given sets, then our own, as many as the effort allows."""
        graph, k = self.core.graph, self.k
        yield from given
        yield starts.top(self.loads, k)
        if self.effort == 0:
            return
        steps = int(min(100.0, max(10.0, GROWTH_WORK * self.effort / (graph.n_arcs + 1))))
        if self._in_time(steps * graph.n_arcs):
            yield starts.by_spectrum(graph, k, steps // 2)
        if self._in_time(steps * graph.n_arcs):
            yield starts.by_frank_wolfe(graph, k, steps)
        yield starts.by_degree(graph, k)
        yield starts.by_peeling(self.core, k)
        yield starts.at_random(graph, k, self.rng)
        count = int(min(MOST_SEEDS, GROWTH_WORK * max(self.effort, 0.1) / (k * graph.n + graph.n_arcs)))
        if count < 2 and k * graph.n < GROWTH_MOST:
            count = 2
        if self._in_time(count * k * graph.n):
            yield from starts.grown_from_seeds(self.core, self.loads, k, count)

    def _in_time(self, elements: float) -> bool:
        """Whether so many elements are looked at within the time that is left."""
        return ELEMENT_SECONDS * elements < self.run.seconds_left

    def _offer(self, subset: Subset) -> Status | None:
        """Keep a set if it is new and among the best; one that is the best is reported."""
        if any(kept.weight == subset.weight and np.array_equal(kept.inside, subset.inside) for kept in self.pool):
            return None
        best = not self.pool or subset.weight > self.pool[0].weight
        self._offer_to_user(subset)
        self.pool.append(subset.copy())
        self.pool.sort(key=lambda kept: -kept.weight)
        del self.pool[POOL:]
        return self._report(subset) if best else None

    def _offer_to_user(self, subset: Subset) -> None:
        """For the answers of a run that wants several."""
        if self.run.pool is not None:
            self.run.pool.offer(point_of(self.run, self.core, subset) > 0.0, -2.0 * subset.weight)

    def _offer_nearby(self) -> None:
        """What is next to the best set: weak nodes of it are exchanged for strong others, as many as must differ."""
        answers, best = self.run.pool, self.pool[0]
        if answers is None:
            return
        swaps = -(-answers.wanted.distance // 2)
        ranked = np.argsort(best.degrees, kind="stable")
        weak = ranked[best.inside[ranked] == 1][: 2 * swaps + NEARBY]
        strong = ranked[best.inside[ranked] == 0][::-1][: 2 * swaps + NEARBY]
        rng = np.random.default_rng(0)
        for _ in range(int(TRIES * answers.wanted.size) if swaps <= min(weak.size, strong.size) else 0):
            other = best.copy()
            other.exchange(rng.choice(weak, swaps, replace=False), rng.choice(strong, swaps, replace=False))
            self._offer_to_user(other)

    def _tabu_walk(self, subset: Subset, steps: int) -> Subset:
        """A tabu walk; returns the best set on its way."""
        n, k = self.core.graph.n, self.k
        best_inside, best = subset.inside.copy(), subset.weight
        value = subset.weight
        tenure = max(2, min(k, n - k, 40) // 3)
        free_at = np.zeros(n, dtype=np.int64)
        ties = np.zeros((2, 16), dtype=np.int64)
        integers = subset.graph.weights is None
        for begin in range(0, steps, 5000):
            noise = self.rng.integers(0, 2**30, size=min(5000, steps - begin))
            value, best = kernels.tabu_walk(
                *subset.csr,
                subset.inside,
                subset.degrees,
                best_inside,
                free_at,
                noise,
                tenure,
                ties,
                begin,
                int(value) if integers else value,
                int(best) if integers else best,
            )
        self.run.count_evaluation()
        return Subset.of(self.core.graph, best_inside.astype(bool), self.bonus)

    def _exchanged_cliques(self) -> Iterator[Subset]:
        """The best set with one clique exchanged, as long as one of these becomes the best set."""
        share = CLIQUE_SHARE * WALK_WORK * self.effort
        tried = math.ceil(MOST_CLIQUES * min(1.0, math.sqrt(self.effort)))  # the first few find most
        while self.pool[0].weight > self.settled and self.work > 0:
            self.settled = self.pool[0].weight
            self.work -= share
            yield from islice(clique_exchanges(self.pool[0], self.loads, share), tried)

    def _moved_piece(self) -> tuple[Subset, int]:
        """One of the best sets with a new piece in place of its weakest nodes, and the size of the piece."""
        subset = self.pool[min(int(self.rng.geometric(0.5)) - 1, len(self.pool) - 1)].copy()
        outside = np.flatnonzero(subset.inside == 0)
        largest = max(1, min(self.k // 2, outside.size // 2, int(PIECE_WORK / self.core.graph.n)))
        size = int(self.rng.integers(1, 1 + largest))
        chance = self.loads + 1e-3 * max(float(self.loads.max(initial=0.0)), 1e-9)
        at = self.rng.random() * float(chance[outside].sum())
        seed = int(outside[min(int(np.searchsorted(np.cumsum(chance[outside]), at)), outside.size - 1)])
        piece = subset.grow(seed, size, int(self.rng.choice([1, 2, 4])))
        subset.shed(size, piece)
        return subset, size

    def state(self) -> Walks:
        """From where to go on, for a checkpoint."""
        pool, queue = (
            [KeptSet(each.inside.astype(np.int8), each.degrees, each.weight) for each in sets]
            for sets in (self.pool, self.queue)
        )
        return Walks(pool, queue, self.first_steps, self.moves, self.work, self.settled, self.rng)

    def restore(self, state: Walks) -> None:
        """Go back to where an earlier run stood."""
        self.pool, self.queue = ([self._restored_set(each) for each in sets] for sets in (state.pool, state.queue))
        if not self.pool or not 1 <= state.first_steps <= max(200, 20 * self.k) or state.moves < 0:
            raise InvalidFile("the checkpoint's search has no set to go on from.")
        self.first_steps, self.moves, self.work, self.settled = (
            state.first_steps, state.moves, state.work, state.settled,
        )  # fmt: skip
        self.rng.bit_generator.state = state.rng.bit_generator.state

    def _restored_set(self, kept: KeptSet) -> Subset:
        """A subset that a checkpoint held, checked."""
        graph = self.core.graph
        check_array("inside", kept.inside, (graph.n,))
        check_array("degrees", kept.degrees, (graph.n,))
        inside = kept.inside.astype(np.uint8)
        if inside.max(initial=0) > 1 or int(inside.sum()) != self.k:
            raise InvalidFile("the checkpoint's search holds a set of another size.")
        if graph.weights is None:
            return Subset(graph, inside, kept.degrees.astype(np.int64), kept.weight)
        return Subset(graph, inside, kept.degrees.astype(np.float64), kept.weight)
