"""Sets of k nodes of a sharded graph, improved by DPCD and bounded from above; arcs and degrees stay with the workers.

One update of `descend_subgraph`, with d the degrees into the set (the gradient is -d), is that of `densest.subset`:
1. the level, the k-th largest degree, by counting: each round every worker counts its degrees above 63 levels;
2. S_plus, members below the level, and S_minus, as many others above it and then at it, the first by number: their
   numbers and degrees are all that is sent (12 or 16 bytes for each flip), sorted and paired here;
3. the flips go to every worker (4 or 8 bytes for each), which brings its own degrees up to date, and the new weight
   comes back as one sum from each. A batch that does not improve is flipped back and quartered; when it is small the
   pairs come with the subgraph on them, and those that improve at their turn are exchanged here.
At the end the m weakest members and the m strongest others come with the subgraph on them, and best exchanges are made
here; m doubles until no exchange that could improve is left out, or m is 1024.

`load_bound`: for any split of every edge between its ends, k nodes hold at most the k largest loads (see
`densest.bounds`). Here the split is a mean of splits, each of which gives every edge to its less loaded end:
Frank-Wolfe for the balanced loads (Danisch, Chan and Sozio 2017). A mean of splits is a split, so the bound holds
after any number of passes, whoever computed which rows in which order; a pass is a function of the loads alone, and a
worker that dies costs one pass. It converges more slowly than the balancing of one machine, whose shares need memory
for every arc. Peeled nodes carry at most the cap. Sent are 8 bytes a pass for each node that is left: down to each
worker, up once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from flipwise.densest.bounds import top_sum
from flipwise.densest.subset import MOST_BATCHES, SMALL_BATCH, Subset
from flipwise.distributed.graph import EPS, ShardedGraph
from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.errors import InvalidInput

LEVELS = 63
"""Levels between which one round of counting places the k-th largest degree."""
CANDIDATES = 64
"""m at first: how many of each side come for the last exchanges ..."""
MOST_CANDIDATES = 1024
"""... and at last: beyond, ties are so many that the search for an exchange ends."""


class Candidates(NamedTuple):
    """Members that may leave and others that may come, the most promising first, with their degrees into the set."""

    leaving: Ints
    leaving_degrees: npt.NDArray[Any]
    entering: Ints
    entering_degrees: npt.NDArray[Any]


class ShardedDescent:
    """A set, its weight E(S), and the moves that improve it."""

    def __init__(self, graph: ShardedGraph, nodes: Ints) -> None:
        self.graph, self.k = graph, nodes.size
        self.inside = np.zeros(graph.n, dtype=bool)
        self.inside[nodes] = True
        self.flips = 0
        self.shared = graph.shared_set(nodes)
        self.weight = self._inner_weight()

    def run(self) -> Ints:
        """Descend until no exchange of two nodes improves, as far as is looked; the members, ascending."""
        if 0 < self.k < self.graph.n:
            for _ in range(MOST_BATCHES):
                if not self.update():
                    break
            while self._exchange_best():
                pass
        return np.flatnonzero(self.inside)

    def _inner_weight(self) -> float:
        """E(S): every worker adds up its own members' degrees."""
        return float(sum(self.shared.ask("total"))) / 2

    def _flip(self, nodes: Ints) -> float:
        """Flip nodes; the change of E."""
        before = self.weight
        self.inside[nodes] ^= True
        self.flips += nodes.size
        self.shared.flip(nodes)
        self.weight = self._inner_weight()
        return self.weight - before

    def update(self) -> bool:
        """One principal coordinate update; whether anything was exchanged."""
        pairs = self.principal_coordinates()
        size = pairs.leaving.size
        tolerance = 0.0 if self.graph.integral else 1e-12 * self.weight
        while size > SMALL_BATCH:
            batch = np.concatenate([pairs.leaving[:size], pairs.entering[:size]])
            if self._flip(batch) > tolerance:
                return True
            self._flip(batch)
            size //= 4
        return self._exchange_improving(pairs) if size else False

    def principal_coordinates(self) -> Candidates:
        """S_plus and S_minus, paired: members that should leave, the weakest first, and who comes in their place."""
        level = self._count_level()
        sides = self.shared.ask("sides", level)
        count, above = sum(a for a, _, _ in sides), sum(b for _, b, _ in sides)
        left = count - above  # of the ties those with the least numbers: the parts are in the order of the nodes
        quotas = []
        for _, _, ties in sides:
            quotas.append((level, min(left, ties)))
            left -= quotas[-1][1]
        return self._exchange_candidates("chosen", count, arguments=quotas)

    def _exchange_candidates(self, question: str, most: int, **arguments: Any) -> Candidates:
        """The `most` weakest members and the `most` strongest others of those that the workers name."""
        answers = self.shared.ask(question, **arguments)
        out, out_degrees, into, into_degrees = (np.concatenate(each) for each in zip(*answers, strict=True))
        first, second = np.argsort(out_degrees, kind="stable")[:most], np.argsort(-into_degrees, kind="stable")[:most]
        return Candidates(out[first], out_degrees[first], into[second], into_degrees[second])

    def _exchange_improving(self, pairs: Candidates) -> bool:
        """Exchange the pairs that improve at their turn; whether any did."""
        nodes, subset = self._subset_on(pairs)
        leaving, entering = (np.searchsorted(nodes, each[:MOST_CANDIDATES]) for each in (pairs.leaving, pairs.entering))
        before = subset.mask
        made = subset.exchange_improving(leaving, entering)
        if made:
            self._flip(nodes[subset.mask != before])
        return made > 0

    def _subset_on(self, candidates: Candidates) -> tuple[Ints, Subset]:
        """The first candidates, ascending, and the set among them with their degrees into the whole set."""
        chosen = Candidates(*(each[:MOST_CANDIDATES] for each in candidates))
        nodes = np.sort(np.concatenate([chosen.leaving, chosen.entering]))
        degrees = np.zeros(nodes.size, dtype=chosen.leaving_degrees.dtype)
        degrees[np.searchsorted(nodes, chosen.leaving)] = chosen.leaving_degrees
        degrees[np.searchsorted(nodes, chosen.entering)] = chosen.entering_degrees
        inside = self.inside[nodes].astype(np.uint8)
        return nodes, Subset(self.graph.subgraph(nodes), inside, degrees, self.weight)

    def _count_level(self) -> float:
        """The k-th largest degree, found by counting between ever closer levels."""
        ends = self.shared.ask("extremes")
        low, high = min(a for a, _ in ends), max(b for _, b in ends)  # at least k degrees reach `low`
        while low < high:
            levels = _levels_between(low, high, self.graph.integral)
            reached = np.sum(self.shared.ask("at-least", levels), axis=0)
            good = int(np.count_nonzero(reached >= self.k))
            low = float(levels[good - 1]) if good else low
            high = float(np.nextafter(levels[good], -np.inf)) if good < levels.size else high
            if self.graph.integral:
                high = float(np.floor(high))
        return float(low)

    def _exchange_best(self) -> bool:
        """Best exchanges among the m weakest members and the m strongest others; whether any was made."""
        m = CANDIDATES
        while True:
            found = self._exchange_candidates("weakest", m, argument=m)
            flips = self._best_flips(found)
            if flips.size:
                return self._flip(flips) > 0
            # an exchange that was left out gains at most the difference of the degrees
            slack = -min(0.0, self.graph.weight_range[0])
            missed = [found.entering_degrees[0] - found.leaving_degrees[-1]] if found.leaving.size == m else []
            missed += [found.entering_degrees[-1] - found.leaving_degrees[0]] if found.entering.size == m else []
            if m >= MOST_CANDIDATES or max(missed, default=-np.inf) + slack <= 1e-12 * abs(self.weight):
                return False
            m *= 2

    def _best_flips(self, candidates: Candidates) -> Ints:
        """The nodes that change sides when best exchanges among the candidates are made until none improves."""
        nodes, subset = self._subset_on(candidates)
        W = subset.graph.to_scipy().toarray()
        degrees, before = subset.degrees.astype(np.float64), subset.mask
        inside = before.copy()
        while True:
            u, v = np.flatnonzero(inside), np.flatnonzero(~inside)
            gains = degrees[v][None, :] - degrees[u][:, None] - W[np.ix_(u, v)]
            best = int(np.argmax(gains))
            if gains.flat[best] <= 1e-12 * abs(self.weight) * (not self.graph.integral):
                return np.asarray(nodes[inside != before])
            i, j = u[best // v.size], v[best % v.size]
            inside[i], inside[j] = False, True
            degrees += W[:, j] - W[:, i]


def descend_subgraph(graph: ShardedGraph, nodes: Sequence[int] | Ints) -> tuple[Ints, float]:
    """Improve a set of nodes of a sharded graph until no exchange of two nodes does; returns (nodes, density).

    Nothing but flips, sums and candidates is sent: for sets so large that not even the core fits into one process. In
    all other cases `flipwise.densest_subgraph` searches far more thoroughly.

    Examples
    --------
    >>> import flipwise.distributed, tempfile
    >>> from distributed import Client, LocalCluster
    >>> edges = [[0, 1], [0, 2], [1, 2], [2, 3], [3, 4], [4, 5]]
    >>> with (
    ...     tempfile.TemporaryDirectory() as folder,
    ...     LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster,
    ...     Client(cluster) as client,
    ... ):
    ...     _ = flipwise.distributed.shard_graph((6, edges), folder, shards=2)
    ...     graph = flipwise.distributed.ShardedGraph(folder, client)
    ...     found, density = flipwise.distributed.descend_subgraph(graph, [0, 1, 5])
    >>> found.tolist(), density
    ([0, 1, 2], 2.0)
    """
    start = np.unique(np.asarray(nodes, dtype=np.int64))
    if start.size == 0 or start[0] < 0 or start[-1] >= graph.n:
        raise InvalidInput(f"`nodes` must hold node numbers from 0 to {graph.n - 1}, at least one.")
    descent = ShardedDescent(graph, start)
    return descent.run(), 2.0 * descent.weight / start.size


def load_bound(graph: ShardedGraph, nodes: Ints, passes: int = 100) -> float:
    """No set of as many nodes as `nodes` has a density above this; the denser `nodes` are, the less work it is.

    Examples
    --------
    >>> import flipwise.distributed, tempfile
    >>> from distributed import Client, LocalCluster
    >>> edges = [[0, 1], [0, 2], [1, 2], [2, 3], [3, 4], [4, 5]]
    >>> with (
    ...     tempfile.TemporaryDirectory() as folder,
    ...     LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster,
    ...     Client(cluster) as client,
    ... ):
    ...     _ = flipwise.distributed.shard_graph((6, edges), folder, shards=2)
    ...     graph = flipwise.distributed.ShardedGraph(folder, client)
    ...     2.0 <= flipwise.distributed.load_bound(graph, [0, 1, 2]) < 2.1
    True
    """
    chosen = np.unique(np.asarray(nodes, dtype=np.int64))
    if chosen.size == 0 or chosen[0] < 0 or chosen[-1] >= graph.n or passes < 1:
        raise InvalidInput(f"`nodes` must hold numbers from 0 to {graph.n - 1}, `passes` must be at least 1.")
    k = chosen.size
    # The k largest loads are half the density on average, at least: below that a load hardly matters.
    cap = max(0.0, math.floor(graph.inner_weight(chosen) / k / 2.0) - 1.0)
    left, _ = graph.peeled(cap)
    loads = np.concatenate(left.ask("halves"))
    most = graph.heaviest
    slack = 4.0 * EPS * (graph.manifest.largest_degree + passes + 2.0)
    best = math.inf
    for t in range(passes + 1):
        best = min(best, top_sum(loads * (1.0 + slack) + slack * most, k, graph.rounded_cap(cap)))
        if t < passes:
            taken: Floats = np.concatenate(left.ask("loads", loads))
            loads = loads + (taken - loads) * (2.0 / (t + 3.0))
    if graph.integral:
        best = math.floor(best)
    return math.nextafter(2.0 * best / k, math.inf)


def _levels_between(low: float, high: float, integral: bool) -> npt.NDArray[np.float64]:
    """Ascending levels above `low`, up to `high`."""
    levels = np.linspace(low, high, LEVELS + 1)[1:]
    return np.unique(np.ceil(levels)) if integral else np.unique(np.maximum(levels, np.nextafter(low, np.inf)))
