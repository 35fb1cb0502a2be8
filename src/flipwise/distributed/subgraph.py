"""Sets of k nodes of a sharded graph, improved by DPCD and bounded from above; arcs and degrees stay with the workers.

One iteration of `descend_subgraph`, with d the degrees into the set (the gradient is -2d), as in `graphs.subset`:
1. the level, the k-th largest degree, by counting: each round every worker counts its degrees above 63 levels;
2. S_plus, members below the level, and S_minus, as many others above it and then at it, the first by number: their
   numbers and degrees are all that is sent (12 or 16 bytes for each flip), sorted and paired here;
3. the flips go to every worker (4 or 8 bytes for each), which brings its own degrees up to date, and the new weight
   comes back as one sum from each. A batch that does not improve is flipped back and quartered.
At the end the m weakest members and the m strongest others come with the subgraph on them, and best exchanges are made
here; m doubles until no exchange that could improve is left out, or m is 1024.

`load_bound`: for any split of every edge between its ends, k nodes hold at most the k largest loads (see
`certify.loads`). Here the split is a mean of splits, each of which gives every edge to its less loaded end: Frank-Wolfe
for the balanced loads (Danisch, Chan and Sozio 2017). A mean of splits is a split, so the bound holds after any number
of passes, whoever computed which rows in which order; a pass is a function of the loads alone, and a worker that dies
costs one pass. It converges more slowly than the balancing of one machine, whose shares need memory for every arc.
Peeled nodes carry at most the cap. Sent are 8 bytes a pass for each node that is left: down to each worker, up once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.densest.bounds import top_sum
from flipwise.distributed.graph import EPS, ShardedGraph
from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.errors import InvalidInput

LEVELS = 63
CANDIDATES = 64
"""m at first: how many of each side come for the last exchanges ..."""
MOST_CANDIDATES = 1024
"""... and at last: beyond, ties are so many that the search for an exchange ends."""


class Descent:
    """A set, its weight E(S), and the moves that improve it."""

    def __init__(self, graph: ShardedGraph, nodes: Ints) -> None:
        self.graph, self.k = graph, nodes.size
        self.inside = np.zeros(graph.n, dtype=bool)
        self.inside[nodes] = True
        self.flips = 0
        self.shared = graph.shared_set(nodes)
        self.weight = self._weight()

    def run(self, most: int = 200) -> Ints:
        """Descend until no exchange of two nodes improves, as far as is looked; the members, ascending."""
        if 0 < self.k < self.graph.n:
            for _ in range(most):
                if not self._batch():
                    break
            while self._exchanges():
                pass
        return np.flatnonzero(self.inside)

    def _weight(self) -> float:
        return float(sum(self.shared.ask("total"))) / 2

    def _flip(self, nodes: Ints) -> float:
        """Flip nodes; the change of E."""
        before = self.weight
        self.inside[nodes] ^= True
        self.flips += nodes.size
        self.shared.flip(nodes)
        self.weight = self._weight()
        return self.weight - before

    def _batch(self) -> bool:
        level = self._level()
        sides = self.shared.ask("sides", level)
        count, above = sum(a for a, _, _ in sides), sum(b for _, b, _ in sides)
        if count == 0:
            return False
        left = count - above  # of the ties those with the least numbers: the parts are in the order of the nodes
        quotas = []
        for _, _, ties in sides:
            quotas.append((level, min(left, ties)))
            left -= quotas[-1][1]
        out, out_degrees, into, into_degrees = _joined(self.shared.ask("chosen", arguments=quotas))
        S_plus = out[np.argsort(out_degrees, kind="stable")]
        S_minus = into[np.argsort(-into_degrees, kind="stable")]
        tolerance = 0.0 if self.graph.integral else 1e-12 * self.weight
        while count:
            batch = np.concatenate([S_plus[:count], S_minus[:count]])
            if self._flip(batch) > tolerance:
                return True
            self._flip(batch)
            count //= 4
        return False

    def _level(self) -> float:
        """The k-th largest degree, found by counting between ever closer levels."""
        ends = self.shared.ask("extremes")
        low, high = min(a for a, _ in ends), max(b for _, b in ends)  # at least k degrees reach `low`
        while low < high:
            levels = _between(low, high, self.graph.integral)
            reached = np.sum(self.shared.ask("at-least", levels), axis=0)
            good = int(np.count_nonzero(reached >= self.k))
            low = float(levels[good - 1]) if good else low
            high = float(np.nextafter(levels[good], -np.inf)) if good < levels.size else high
            if self.graph.integral:
                high = float(np.floor(high))
        return float(low)

    def _exchanges(self) -> bool:
        """Best exchanges among the m weakest members and the m strongest others; whether any was made."""
        m = CANDIDATES
        while True:
            out, out_degrees, into, into_degrees = _joined(self.shared.ask("weakest", m))
            first, second = np.argsort(out_degrees, kind="stable")[:m], np.argsort(-into_degrees, kind="stable")[:m]
            out, out_degrees, into, into_degrees = out[first], out_degrees[first], into[second], into_degrees[second]
            flips = self._best(out, out_degrees, into, into_degrees)
            if flips.size:
                return self._flip(flips) > 0
            # an exchange that was left out gains at most the difference of the degrees
            slack = -min(0.0, self.graph.weight_range[0])
            missed = [into_degrees[0] - out_degrees[-1]] if out.size == m else []
            missed += [into_degrees[-1] - out_degrees[0]] if into.size == m else []
            if m >= MOST_CANDIDATES or max(missed, default=-np.inf) + slack <= 1e-12 * abs(self.weight):
                return False
            m *= 2

    def _best(self, out: Ints, out_degrees: Any, into: Ints, into_degrees: Any) -> Ints:
        nodes = np.sort(np.concatenate([out, into]))
        part = self.graph.subgraph(nodes)
        W = part.to_scipy().toarray()
        degrees = np.zeros(nodes.size)
        degrees[np.searchsorted(nodes, out)] = out_degrees
        degrees[np.searchsorted(nodes, into)] = into_degrees
        before = self.inside[nodes]
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
    descent = Descent(graph, start)
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


def _joined(answers: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    return tuple(np.concatenate(each) for each in zip(*answers, strict=True))


def _between(low: float, high: float, integral: bool) -> npt.NDArray[np.float64]:
    """Ascending levels above `low`, up to `high`."""
    levels = np.linspace(low, high, LEVELS + 1)[1:]
    return np.unique(np.ceil(levels)) if integral else np.unique(np.maximum(levels, np.nextafter(low, np.inf)))
