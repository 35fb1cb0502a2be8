"""The search for a dense set of k nodes in a core: many starts, descent, then walks that can move whole pieces.

1. Each start (see `graphs.starts`) descends by DPCD (see `graphs.subset`); the best few different sets are kept.
2. From these a tabu walk makes best exchanges, better or worse.
3. Whenever there is a new best set, whole cliques are exchanged (see `graphs.subset`) until none improves it.
4. Piece moves: grow a dense piece of q nodes somewhere outside, drop the q weakest nodes elsewhere, descend and walk.
   A single exchange cannot do this: the first nodes of a new piece have almost no edge into the old set.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from flipwise.densest import starts
from flipwise.densest.core import Core
from flipwise.densest.subset import Subset, clique_exchanges, descend
from flipwise.engine.checkpoint import kept_array
from flipwise.engine.limits import Status
from flipwise.foundation.arrays import Bools, Floats
from flipwise.foundation.container import State
from flipwise.foundation.errors import InvalidFile
from flipwise.kernels import subgraph as kernels

GROWTH_WORK = 2e8
"""Elements looked at while growing starts from seeds, at effort 1."""
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
MOST_MOVES = 100
"""Piece moves at effort 1, at most: what is not found on a small graph by then is not there."""
POOL = 6
"""Different sets kept."""

Told = Callable[[Subset], Status | None]
"""Called with every set that is a candidate for the best; a status means: stop now."""


@dataclass(eq=False)
class Search:
    """The state of one search."""

    core: Core
    k: int
    loads: Floats
    rng: np.random.Generator
    effort: float
    told: Told
    check_time: Callable[[], Status | None]
    walked: Callable[[], None] = lambda: None
    pool: list[Subset] = field(default_factory=list)
    stopped: Status | None = None
    walking: bool = False
    work: float = 0.0
    first_steps: int = 0
    queue: list[Subset] = field(default_factory=list)
    moves: int = 0
    settled: float = -math.inf
    """The weight of the best set when its cliques were exchanged last."""

    def run(self, given: Sequence[Bools] = ()) -> Status:
        """Search until the effort is spent or someone says stop; the best set is `pool[0]`."""
        for mask in () if self.walking else self._starts(given):
            subset = Subset.of(self.core.graph, mask)
            descend(subset)
            self._offer(subset)
            self.stopped = self.stopped or self.check_time()
            if self.stopped:
                return self.stopped
        if 0 < self.k < self.core.graph.n and self.effort > 0:
            self._walk_and_move()
        return self.stopped or Status.LOCAL_OPTIMUM

    def _starts(self, given: Sequence[Bools]) -> Iterator[Bools]:
        graph, k = self.core.graph, self.k
        yield from given
        yield starts.top(self.loads, k)
        if self.effort == 0:
            return
        steps = int(min(100.0, max(10.0, GROWTH_WORK * self.effort / (graph.n_arcs + 1))))
        yield starts.by_spectrum(graph, k, steps // 2)
        yield starts.by_frank_wolfe(graph, k, steps)
        yield starts.by_degree(graph, k)
        yield starts.by_peeling(self.core, k)
        yield starts.at_random(graph, k, self.rng)
        count = int(min(MOST_SEEDS, GROWTH_WORK * max(self.effort, 0.1) / (k * graph.n + graph.n_arcs)))
        if count < 2 and k * graph.n < GROWTH_MOST:
            count = 2
        yield from starts.grown_from_seeds(self.core, self.loads, k, count)

    def _offer(self, subset: Subset) -> bool:
        """Keep a set if it is new and among the best; returns whether it is the best."""
        if any(kept.weight == subset.weight and np.array_equal(kept.inside, subset.inside) for kept in self.pool):
            return False
        best = not self.pool or subset.weight > self.pool[0].weight
        self.pool.append(subset.copy())
        self.pool.sort(key=lambda kept: -kept.weight)
        del self.pool[POOL:]
        if best:
            self.stopped = self.told(subset)
        return best

    def state(self) -> dict[str, Any]:
        """From where to go on between two walks, for a checkpoint."""
        plan = {"work": self.work, "first_steps": self.first_steps, "moves": self.moves}
        plan["settled"] = self.settled
        return plan | _stacked("pool", self.pool) | _stacked("queue", self.queue)

    def restore(self, state: State) -> None:
        self.walking = True
        self.work, self.settled = float(state["work"]), float(state["settled"])
        self.first_steps, self.moves = int(state["first_steps"]), int(state["moves"])
        self.pool, self.queue = (_unstacked(name, state, self.core, self.k) for name in ("pool", "queue"))
        if not self.pool or not 1 <= self.first_steps <= max(200, 20 * self.k) or not self.moves >= 0:
            raise InvalidFile("the checkpoint's search has no set to go on from.")

    def _walk_and_move(self) -> None:
        graph, k = self.core.graph, self.k
        per_step = graph.n + 2 * graph.n_arcs / graph.n
        if not self.walking:
            self.walking = True
            self.work = WALK_WORK * self.effort
            self.first_steps = max(200, int(min(20 * k, self.work / 4 / len(self.pool) / per_step)))
            self.queue = list(self.pool)
        while self.queue:
            self.work -= self.first_steps * per_step
            over = self._walk(self.queue.pop(0).copy(), self.first_steps)
            self.walked()
            if over:
                return
        chance = self.loads + 1e-3 * max(float(self.loads.max(initial=0.0)), 1e-9)
        for move in range(self.moves, int(np.ceil(MOST_MOVES * self.effort))):
            if self._exchange_cliques():
                return
            if self.work <= 0:
                return
            subset = self.pool[min(int(self.rng.geometric(0.5)) - 1, len(self.pool) - 1)].copy()
            outside = np.flatnonzero(subset.inside == 0)
            largest = max(1, min(k // 2, outside.size // 2, int(PIECE_WORK / graph.n)))
            size = int(self.rng.integers(1, 1 + largest))
            at = self.rng.random() * float(chance[outside].sum())
            seed = int(outside[min(int(np.searchsorted(np.cumsum(chance[outside]), at)), outside.size - 1)])
            piece = subset.grow(seed, size, int(self.rng.choice([1, 2, 4])))
            subset.shed(size, piece)
            descend(subset)
            steps = max(50, min(2 * k, 1000))
            self.work -= (2 * size + steps + 50) * per_step
            over = self._walk(subset, steps)
            self.moves = move + 1
            self.walked()
            if over:
                return

    def _exchange_cliques(self) -> bool:
        """Exchange cliques of the best set while that improves it. Returns whether to stop."""
        share = CLIQUE_SHARE * WALK_WORK * self.effort
        tried = math.ceil(MOST_CLIQUES * min(1.0, math.sqrt(self.effort)))  # the first few find most
        while self.pool[0].weight > self.settled and self.work > 0:
            self.settled = self.pool[0].weight
            self.work -= share
            for subset in islice(clique_exchanges(self.pool[0], self.loads, share), tried):
                descend(subset)
                self._offer(subset)
                self.stopped = self.stopped or self.check_time()
                if self.stopped:
                    return True
        return False

    def _walk(self, subset: Subset, steps: int) -> bool:
        """A tabu walk; its best set is descended once more and offered. Returns whether to stop."""
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
        found = Subset.of(self.core.graph, best_inside.astype(bool))
        descend(found)
        self._offer(found)
        if self.stopped is None:
            self.stopped = self.told(self.pool[0])
        return self.stopped is not None


def _stacked(name: str, subsets: list[Subset]) -> dict[str, Any]:
    """Some subsets as arrays. Degrees are kept, not made anew: their roundings are part of the run."""
    if not subsets:
        return {}
    return {
        f"{name}_inside": np.stack([subset.inside for subset in subsets]).astype(np.int8),
        f"{name}_degrees": np.stack([subset.degrees for subset in subsets]),
        f"{name}_weights": np.array([subset.weight for subset in subsets], dtype=np.float64),
    }


def _unstacked(name: str, state: State, core: Core, k: int) -> list[Subset]:
    if f"{name}_inside" not in state:
        return []
    n = core.graph.n
    inside = kept_array(state, f"{name}_inside", (None, n), "i")
    degrees = kept_array(state, f"{name}_degrees", (len(inside), n), "i" if core.graph.weights is None else "f")
    weights = kept_array(state, f"{name}_weights", (len(inside),), "f")
    if ((inside != 0) & (inside != 1)).any() or (inside.sum(axis=1) != k).any():
        raise InvalidFile("the checkpoint's search holds sets of another size.")
    columns = inside.astype(np.uint8), degrees, weights
    return [Subset(core.graph, mask, each, float(weight)) for mask, each, weight in zip(*columns)]
