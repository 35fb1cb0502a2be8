"""Bounds on the weight among k nodes of a graph that need no linear programme, and all of them gathered.

clique   k nodes have k(k-1)/2 pairs, each of at most the largest weight.
order    In any order of all nodes, let o_i be the number of neighbours of i that come later. Each edge of S belongs to
         its earlier end, and the member with t members after it owns at most min(o_i, t) of them:
             E(S) <= sum over t = 0..k-1 of min(t, the (t+1)-th smallest of the k largest o).
         (Pairing both in ascending order is the worst case, since min is supermodular.) The peeling order makes every
         o_i at most the largest core number D, so k > D nodes have at most kD - D(D+1)/2 edges.
loads    Split every edge between its ends: shares a_ij + a_ji >= w_ij, a >= 0, with loads l_i = sum_j a_ij. Then
             E(S) <= sum over i in S of l_i <= sum of the k largest loads,        x'Wx = 2 E(S).
         Balanced loads (no edge can move weight to a less loaded end) are least in majorisation order, hence best for
         every k at once; they are the optimum of the linear relaxation max sum w_ij y_ij, y_ij <= x_i, y_ij <= x_j,
         sum x = k (Charikar 2000; Danisch, Chan and Sozio 2017 for the balanced loads). Negative weights are left out,
         which only raises the bound. Nodes outside the core carry at most `core.cap` (see `densest.core`).

The bound by pairs is in `densest.pairs`. Of all bounds, each with its name and value, the least one wins.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from flipwise.densest.certifying import MOST_EDGES, loads_proof, order_proof
from flipwise.densest.core import Core, arc_weights
from flipwise.engine.limits import Clock
from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.checks import check_memory
from flipwise.kernels import bounds as kernels
from flipwise.kernels.jit import thread_count, threads, threads_worth
from flipwise.kernels.peeling import later_neighbours

_EPS = float(np.finfo(np.float64).eps)
PEELING, SPLITTING = 5e-8, 4e-8
"""About the seconds that the order bound, and splitting the edges before they are balanced, take for each arc of a
large graph: neither is begun where less time is left."""
PASSES = 10
"""Passes over the edges between two looks at what they have brought."""
MOST_AT_ONCE = 1_000_000
"""Edges up to which so many passes are made without a look at the clock."""
SERIAL_EDGES = 400_000
"""Up to this many edges one thread splits them: others would wait for each other sixteen times a pass."""


@dataclass(eq=False)
class SubgraphBounds:
    """Proven upper bounds on E(S), the weight of the edges inside S, over all sets S of k nodes."""

    k: int
    unit: float
    """Every E(S) is a multiple of this, exactly; 0 where the weights have no common divisor to speak of."""
    known: dict[str, float] = field(default_factory=dict)
    proofs: dict[str, Callable[[], dict[str, Any] | None] | None] = field(default_factory=dict)
    """Of each the proof, for a certificate, where it has one."""

    def add(self, name: str, bound: float, proof: Callable[[], dict[str, Any] | None] | None = None) -> None:
        """Note a bound, rounded down to a weight that a set can have: an integer where all weights are integers."""
        if self.unit:
            bound = math.floor(bound / self.unit) * self.unit
        if bound < self.known.get(name, math.inf):
            self.proofs[name] = proof
        self.known[name] = min(float(bound), self.known.get(name, math.inf))

    @property
    def best(self) -> tuple[str, float]:
        """The name and the value of the least bound."""
        name = min(self.known, key=lambda each: self.known[each])
        return name, self.known[name]

    def densities(self) -> dict[str, float]:
        """The bounds as densities 2 E / k, rounded up where the division is not exact."""
        return {name: self.density(bound) for name, bound in self.known.items()}

    def density(self, weight: float) -> float:
        """2 E / k; where E is exact by the same expression as the density of a set, so equal ones compare equal."""
        quotient = 2.0 * weight / self.k
        return quotient if self.unit or weight == 0.0 else math.nextafter(quotient, math.inf)


def simple_bounds(core: Core, k: int, largest: float, unit: float, clock: Clock | None = None) -> SubgraphBounds:
    """The bounds that cost next to nothing; `largest` is the largest weight between two nodes of the whole graph.

    Of a large graph that is not peeled yet the order bound is left out where the time of `clock` is too short for it.
    """
    bounds = SubgraphBounds(k, unit)
    clique = clique_bound(k, largest)
    bounds.add("clique", clique if unit else clique + 1e-15 * abs(clique))
    if core.graph.weights is None and ("peeling" in vars(core) or _in_time(clock, PEELING, core)):
        known = core.kept.setdefault("orders", {})
        if k not in known:
            known[k] = order_bound(core, core.peeling.order, k)
        bounds.add("order", known[k], partial(order_proof, core))
    return bounds


def _in_time(clock: Clock | None, seconds: float, core: Core) -> bool:
    """Whether there is time for something that takes so many seconds for each arc."""
    return clock is None or seconds * core.graph.n_arcs < clock.seconds_left


def clique_bound(k: int, largest_weight: float) -> float:
    """All pairs of k nodes at the largest weight, which is negative where all nodes are joined by negative weights."""
    return k * (k - 1) / 2 * largest_weight + 0.0


def order_bound(core: Core, order: Ints, k: int) -> int:
    """The order bound of an unweighted core by an order of its nodes; outside ones come first and own at most `cap`."""
    graph = core.graph
    place = np.empty(graph.n, dtype=np.int64)
    place[order] = np.arange(graph.n)
    later = np.zeros(graph.n, dtype=np.int64)
    with threads_worth(graph.n_arcs):
        later_neighbours(graph.indptr, graph.indices, place, later)
    outside = int(max(core.cap, 0.0))
    largest = np.sort(np.maximum(later, outside))[max(0, graph.n - k) :]
    largest = np.concatenate([np.full(k - largest.size, outside, dtype=np.int64), largest])
    return int(np.minimum(np.arange(k), largest).sum())


# --- loads -----------------------------------------------------------------------------------------------------------


class CoreLoads(NamedTuple):
    """A core with balanced loads, which hold for every k whose k-th load is above the core's cap."""

    core: Core
    loads: Floats


def add_cheap_bounds(
    bounds: SubgraphBounds, core: Core, loaded: CoreLoads, largest: float, clock: Clock | None = None
) -> None:
    """Note the simple bounds of a core and those of the loads; `largest` is the largest weight of the whole graph."""
    simple = simple_bounds(core, bounds.k, largest, bounds.unit, clock)
    for name, bound in simple.known.items():
        bounds.add(name, bound, simple.proofs[name])
    split = loaded.core.kept.get("shares")
    proof = None if split is None else partial(loads_proof, loaded.core, split)
    bounds.add("loads", top_sum(loaded.loads, bounds.k, loaded.core.cap), proof)


@dataclass(eq=False)
class Shares:
    """The edges of a graph, sorted into groups, with what each gives to its first end.

    `counts` holds how many edges meet at each node: the sums of so many terms are rounded.
    """

    first: Ints
    second: Ints
    weight: npt.NDArray[np.float64]
    share: Floats
    group_start: npt.NDArray[np.int64]
    rounds: npt.NDArray[np.int64]
    loads: Floats
    offset: Floats
    counts: npt.NDArray[np.int64]

    def balance(self, passes: int) -> None:
        """Pass over all edges so many times; each moves weight to its less loaded end."""
        arrays = self.first, self.second, self.weight, self.share, self.loads, self.group_start
        if self.first.size <= SERIAL_EDGES or thread_count() == 1:
            with threads(1):  # the rounds follow each other inside, where threads would not meet
                kernels.even_out_groups(*arrays, passes, self.rounds)
            return
        for _ in range(passes):
            for r in range(len(self.rounds)):  # threads meet after every round
                kernels.even_out_groups(*arrays, 1, self.rounds[r : r + 1])

    def proven_loads(self) -> Floats:
        """The loads added up anew and rounded up, each at least what the shares really put on the node."""
        loads, counts = np.zeros(self.loads.size), self.counts
        with threads_worth(self.first.size):
            add_up_shares(self.first, self.second, self.weight, self.share, loads, self.group_start, self.rounds)
        largest = float(self.weight.max(initial=0.0))
        up = loads * (1.0 + 2.0 * _EPS * (counts + 2.0)) + 2.0 * _EPS * largest * (counts + 2.0)
        total: Floats = np.where(counts > 0, up, 0.0) + self.offset
        total += 2.0 * _EPS * (up + np.abs(self.offset))
        return total


def add_up_shares(
    first: Ints, second: Ints, weight: Floats, share: Floats, loads: Floats, group_start: Ints, rounds: Ints
) -> None:
    """Add up from scratch what every node carries; the caller accounts for the rounding of these sums."""
    if first.size <= SERIAL_EDGES or thread_count() == 1:
        with threads(1):
            kernels.add_up_groups(first, second, weight, share, loads, group_start, rounds)
        return
    for r in range(len(rounds)):
        kernels.add_up_groups(first, second, weight, share, loads, group_start, rounds[r : r + 1])


def schedule() -> npt.NDArray[np.int64]:
    """Rounds in which each block meets at most one other: the circle method, after one round of every block alone."""
    blocks = kernels.BLOCKS
    rounds = np.full((blocks, blocks), -1, dtype=np.int64)
    rounds[0] = [group_of(b, b) for b in range(blocks)]
    others = blocks - 1
    for r in range(others):
        rounds[r + 1, 0] = group_of(r, others)
        for t in range(1, blocks // 2):
            pair = (r + t) % others, (r - t) % others
            rounds[r + 1, t] = group_of(min(pair), max(pair))
    return rounds


def group_of(a: int, b: int) -> int:
    """The number of the group of edges between blocks a <= b."""
    return a * kernels.BLOCKS + b


class SortedEdges(NamedTuple):
    """Edges by their ends and weights (a single weight stands for all), sorted into groups by their blocks."""

    first: Ints
    second: Ints
    weight: npt.NDArray[np.float64]
    group_start: npt.NDArray[np.int64]


def sorted_by_group(first: Ints, second: Ints, weight: npt.NDArray[np.float64]) -> SortedEdges:
    """Edges that somebody lists."""
    blocks = kernels.BLOCKS
    low, high = np.minimum(first % blocks, second % blocks), np.maximum(first % blocks, second % blocks)
    group = (low * blocks + high).astype(np.int16)
    order = np.argsort(group, kind="stable")
    start = np.searchsorted(group[order], np.arange(blocks * blocks + 1)).astype(np.int64)
    return SortedEdges(first[order], second[order], weight[order] if weight.size > 1 else weight, start)


def positive_edges(core: Core) -> SortedEdges:
    """The edges of a core with positive weight, with no more memory than the result takes."""
    graph = core.graph
    weights = arc_weights(graph)
    counts = np.zeros((kernels.BLOCKS, kernels.BLOCKS), dtype=np.int64)
    none = np.empty(0, dtype=graph.indices.dtype), np.empty(0, dtype=graph.indices.dtype), np.ones(1)
    with threads_worth(graph.n_arcs):
        kernels.deal_edges(graph.indptr, graph.indices, weights, counts, *none, False)
    # The edges from a to b and those from b to a are one group, side by side.
    group = np.triu(counts) + np.tril(counts, -1).T
    start = np.concatenate([np.zeros(1, np.int64), np.cumsum(group)])
    places = start[:-1].reshape(counts.shape)
    places = np.triu(places) + np.tril(places.T + counts.T, -1)
    edges = int(start[-1])
    each = 2 * graph.indices.itemsize + (8 if graph.weights is None else 16)
    check_memory(each * edges, f"the load bound on {edges:,} edges")
    first, second = (np.empty(edges, dtype=graph.indices.dtype) for _ in range(2))
    weight = np.ones(1 if graph.weights is None else first.size)
    with threads_worth(graph.n_arcs):
        kernels.deal_edges(graph.indptr, graph.indices, weights, places, first, second, weight, True)
    return SortedEdges(first, second, weight, start)


def split_in_halves(
    n: int, edges: SortedEdges, offset: Floats | None = None, counts: npt.NDArray[np.int64] | None = None
) -> Shares:
    """Every edge gives half of its weight to either end; the loads begin with `offset`.

    `counts` says how many edges meet at each node, where that is known.
    """
    first, second, weight, start = edges
    offset = np.zeros(n) if offset is None else offset
    share = np.array(np.broadcast_to(0.5 * weight, first.shape))
    if counts is None:
        counts = np.bincount(first, minlength=n) + np.bincount(second, minlength=n)
    rounds, loads = schedule(), np.zeros(n)
    with threads_worth(first.size):
        add_up_shares(first, second, weight, share, loads, start, rounds)
    return Shares(first, second, weight, share, start, rounds, loads + offset, offset, counts)


def balanced_loads(
    core: Core,
    ks: list[int],
    *,
    passes: int = 200,
    tolerance: float = 1e-5,
    clock: Clock | None = None,
    offset: Floats | None = None,
) -> Floats:
    """Proven loads on the nodes of a core, balanced until no k of `ks` gains more than `tolerance` from ten passes.

    After any number of passes the loads are a proof, so the clock may end the balancing at any time. `offset` is what
    the nodes weigh themselves.
    """
    graph = core.graph
    if graph.weights is None and offset is None and (_expired(clock) or not _in_time(clock, SPLITTING, core)):
        return graph.degrees.astype(np.float64) / 2.0  # every edge in halves, exactly
    counts = graph.degrees if graph.weights is None else None
    shares = split_in_halves(graph.n, positive_edges(core), offset, counts)
    if shares.first.size == 0:
        return shares.proven_loads()
    before = np.full(len(ks), np.inf)
    for _ in range(0, passes, PASSES):
        over = _balance_in_time(shares, clock)
        now = np.array([top_sum(shares.loads, k, core.cap) for k in ks])
        if over or np.all(before - now <= tolerance * np.abs(now)):
            break
        before = now
    core.kept.pop("shares", None)
    if shares.first.size <= MOST_EDGES:
        core.kept["shares"] = shares
    return shares.proven_loads()


def _balance_in_time(shares: Shares, clock: Clock | None) -> bool:
    """Some passes, on a large graph fewer where time is over; returns whether it is."""
    at_once = PASSES if shares.first.size <= MOST_AT_ONCE else 1
    for _ in range(0, PASSES, at_once):
        shares.balance(at_once)
        if _expired(clock):
            return True
    return False


def _expired(clock: Clock | None) -> bool:
    return clock is not None and clock.expired


def top_sum(loads: Floats, k: int, cap: float) -> float:
    """At least the sum of the k largest among these loads and any number of others of at most `cap`, rounded up."""
    floor = max(cap, 0.0)
    if k < loads.size:
        loads = np.partition(loads, loads.size - k)[loads.size - k :]
    total = math.fsum(np.maximum(loads, floor)) + floor * (k - loads.size)
    return total + 8.0 * _EPS * abs(total)
