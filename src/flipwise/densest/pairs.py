"""The pair bound, for small k: loads, a price on every node, and a credit for every pair that cannot be avoided.

Give node i a price v_i >= 0 and every listed pair a credit p_ij >= 0, and split between its ends what is left:
    r_ij + r_ji >= w_ij - v_i - v_j + p_ij,   r >= 0.
In a set S of k nodes every node meets k - 1 others, so the prices cost at most (k - 1) v_i for each member; and
x_i x_j >= x_i + x_j - 1, so a credit pays p_ij (x_i + x_j - 1) at least, whatever S is. Hence
    E(S) <= sum p_ij + sum over i in S of ( sum_j r_ij + (k - 1) v_i - sum_j p_ij ) <= sum p + the k largest of these.
v = p = 0 is the load bound, v = 1/2 and r = p = 0 the clique bound. The best v, r, p solve the dual of the linear
relaxation (Sherali and Adams 1990, level 1, on the listed pairs)
    max sum w_ij y_ij,  y_ij <= x_i, x_j,  y_ij >= x_i + x_j - 1,  sum_j y_ij <= (k - 1) x_i,  sum x = k,  0 <= x <= 1.
A primal-dual method only proposes v and p. The proof takes them as they are, balances r for them and adds up.
Nodes outside the core have price 0 and carry at most `core.cap`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from flipwise.densest.bounds import (
    Shares,
    SubgraphBounds,
    positive_edges,
    sorted_by_group,
    split_in_halves,
    top_sum,
)
from flipwise.densest.certifying import MOST_EDGES, pairs_proof
from flipwise.densest.core import Core, core_above
from flipwise.engine.limits import Clock
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats, Ints
from flipwise.kernels import bounds as kernels
from flipwise.kernels.jit import threads_worth

_EPS = float(np.finfo(np.float64).eps)
STEPS = 100
"""Steps between two proofs."""
LISTING_STEPS = (2, 4, 6, 9, 12)
"""After how many proofs non-edges are listed."""
PATIENCE = 4
"""Proofs without progress before giving up."""
BALANCE_PASSES = 10
ACTIVE_NODES = 1500
"""Non-edges are listed among at most this many nodes."""
SMALL_GAP = 1e-3
"""On all but small cores the bound is not tried for less than this."""
NARROW_LEVEL = 0.88
"""The narrow core is cut at this part of the k-th load."""
LARGE_EDGES = 600_000
"""A core with more edges is large."""


class PairProgramme:
    """The primal-dual iteration for one core and one k."""

    def __init__(self, core: Core, k: int) -> None:
        self.core, self.k = core, k
        first, second, weight, _ = positive_edges(core)
        self.first = first.astype(np.int64)
        self.second = second.astype(np.int64)
        self.weight = np.array(np.broadcast_to(weight, first.shape), dtype=np.float64)
        self.scale = float(self.weight.max(initial=0.0)) or 1.0
        n = core.graph.n
        self.x = np.full(n, min(1.0, k / n))
        self.outer = np.zeros(1)
        self.v = np.zeros(n)
        self.y = np.minimum(self.x[self.first], self.x[self.second])
        self.r1, self.r2 = 0.5 * self.weight / self.scale, 0.5 * self.weight / self.scale
        self.p = np.zeros(first.size)
        self.mean_v, self.mean_p = self.v, self.p
        self._index_pairs()

    def _index_pairs(self) -> None:
        """Which pairs meet at each node, and the step lengths that follow from how many."""
        n, m = self.core.graph.n, self.first.size
        ends = np.concatenate([self.first, self.second])
        order = np.argsort(ends, kind="stable")
        counts = np.bincount(ends, minlength=n)
        self.indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        self.pair_of = order % m if m else order
        self.is_first = order < m
        self.x_step = 1.0 / (2.0 * counts + self.k)
        self.v_step = 1.0 / (counts + float(self.k))

    def run(self, steps: int) -> None:
        """Make some steps (Pock and Chambolle 2011); `mean_v` and `mean_p` become the averages over them."""
        n, m = self.core.graph.n, self.first.size
        self.mean_v, self.mean_p = np.zeros(n), np.zeros(m)
        gain, ahead, y_ahead = np.zeros(n), np.zeros(n), np.zeros(m)
        k, cap, weight = float(self.k), max(0.0, self.core.cap) / self.scale, self.weight / self.scale
        with threads_worth(4 * m):
            for _ in range(steps):
                kernels.add_up_gains(
                    self.indptr, self.pair_of, self.is_first, k, self.v, self.r1, self.r2, self.p, gain
                )
                kernels.take_nodes(self.x_step, gain, cap, k, self.outer, self.x, ahead)
                kernels.step_pairs(
                    self.first, self.second, weight, steps, self.v, ahead, self.y, y_ahead, self.r1, self.r2,
                    self.p, self.mean_p,
                )  # fmt: skip
                kernels.step_prices(
                    self.indptr, self.pair_of, k, steps, self.v_step, ahead, y_ahead, self.v, self.mean_v
                )

    def add_non_edges(self) -> int:
        """List the non-edges whose lower limit x_i + x_j - 1 bites; returns how many are new."""
        n = self.core.graph.n
        high = np.flatnonzero(self.x > 0.02)
        high = high[np.argsort(-self.x[high], kind="stable")][:ACTIVE_NODES]
        one, other = np.triu_indices(high.size, 1)
        one, other = high[one], high[other]
        bites = self.x[one] + self.x[other] > 1.0
        low, up = np.minimum(one, other)[bites], np.maximum(one, other)[bites]
        known = np.minimum(self.first, self.second) * n + np.maximum(self.first, self.second)
        new = ~np.isin(low * n + up, known)
        low, up = low[new], up[new]
        zeros = np.zeros(low.size)
        self.first, self.second = np.concatenate([self.first, low]), np.concatenate([self.second, up])
        self.weight = np.concatenate([self.weight, zeros])
        self.y = np.concatenate([self.y, np.maximum(0.0, self.x[low] + self.x[up] - 1.0)])
        self.r1, self.r2 = np.concatenate([self.r1, zeros]), np.concatenate([self.r2, zeros])
        self.p = np.concatenate([self.p, zeros])
        self._index_pairs()
        return int(low.size)


class Priced(NamedTuple):
    """A bound on E(S), and what proves it: the prices, the credits of the pairs, and the split of what is left."""

    bound: float
    v: Floats
    p: Floats
    split: Shares


def proven(core: Core, k: int, first: Ints, second: Ints, weight: Floats, v: Floats, p: Floats, passes: int) -> float:
    """A bound on E(S) for all S of k nodes from any prices and credits, rounded up."""
    return proof_by_prices(core, k, (first, second, weight), v, p, passes).bound


def proof_by_prices(core: Core, k: int, pairs: tuple[Ints, Ints, Floats], v: Floats, p: Floats, passes: int) -> Priced:
    """The same with what proves it."""
    first, second, weight = pairs
    v, p = np.maximum(v, 0.0), np.maximum(p, 0.0)
    priced = v[first] + v[second]
    p = np.where(p > priced - weight, np.maximum(priced - weight, 0.0), p)  # a credit beyond this only adds load
    need = weight - priced + p
    need = np.maximum(need + 8.0 * _EPS * (weight + priced + p), 0.0)  # rounded up: the split must cover it
    credits = np.bincount(first, p, core.graph.n) + np.bincount(second, p, core.graph.n)
    counts = np.bincount(first, minlength=core.graph.n) + np.bincount(second, minlength=core.graph.n)
    offset = (k - 1.0) * v - credits
    offset += 4.0 * _EPS * ((k - 1.0) * v + credits * (counts + 2.0))
    kept = need > 0.0
    kind = core.graph.indices.dtype  # as in the load bound, whose kernels these are
    edges = sorted_by_group(first[kept].astype(kind), second[kept].astype(kind), need[kept])
    shares = split_in_halves(core.graph.n, edges, offset)
    if np.any(kept):
        shares.balance(passes)
    loads = shares.proven_loads()
    total, rest = math.fsum(p), top_sum(loads, k, core.cap)
    return Priced(total + rest + 4.0 * _EPS * (total + abs(rest)), v, p, shares)


class PairBound(NamedTuple):
    """A proven bound on E(S), and the work it took: pairs times steps."""

    bound: float
    work: float
    proof: Callable[[], dict[str, Any] | None] | None = None


def pair_bound(
    core: Core, k: int, known: float, goal: float, *, most_work: float = math.inf, clock: Clock | None = None
) -> PairBound:
    """Improve the bound `known` on E(S) until it is below `goal`, stalls, or `most_work` or the time is used up."""
    programme = PairProgramme(core, k)
    best = known
    proof: Callable[[], dict[str, Any] | None] | None = None
    stalled = 0
    step = 0
    work = 0.0
    while best >= goal and stalled < PATIENCE:
        more = STEPS * programme.first.size
        if work + more >= most_work or (clock is not None and clock.expired):
            break
        work += more
        programme.run(STEPS)
        step += 1
        pairs = programme.first, programme.second, programme.weight
        scale = programme.scale
        proposals = (programme.mean_v, programme.mean_p), (programme.v, programme.p)
        tried = [proof_by_prices(core, k, pairs, scale * v, scale * p, BALANCE_PASSES) for v, p in proposals]
        least = min(tried, key=lambda each: each.bound)
        found = least.bound
        stalled = 0 if found < best * (1.0 - 2e-5) else stalled + 1
        if found < best and programme.first.size <= MOST_EDGES:
            proof = partial(pairs_proof, core, pairs, least.v, least.p, least.split)
        best = min(best, found)
        if step in LISTING_STEPS:
            programme.add_non_edges()
    return PairBound(best, work, proof)


def add_pair_bound(bounds: SubgraphBounds, core: Core, loads: Floats, run: Run, most_work: float) -> None:
    """Note the pair bound for what other bounds leave open; stops once the best set of the run is proven optimal.

    In a large core a narrower one, cut just below the k-th load, comes first, and the whole one gets what is left of
    the work: nodes outside count with the cap, which is cheap and nearly as good.
    """
    k, best = bounds.k, -run.best_value / 2.0
    goal = best + bounds.unit if bounds.unit else best * (1.0 + 1e-9)
    level = float(np.sort(loads)[max(0, loads.size - k)])
    narrow = core_above(core, max(math.floor(NARROW_LEVEL * level), core.cap, 0.0))
    for each in [core] if core.graph.n_edges <= LARGE_EDGES or narrow.graph.n < k else [narrow, core]:
        known = bounds.best[1]
        worth = known > best * (1.0 if each.graph.n_edges < 20_000 else 1.0 + SMALL_GAP)
        if not worth or known <= best or most_work < 300.0 * each.graph.n_edges:
            continue
        found = pair_bound(each, k, known, goal, most_work=most_work, clock=run.clock)
        most_work -= found.work
        if found.bound < known:
            bounds.add("pairs", found.bound, found.proof)
            run.raise_bound(-2.0 * bounds.best[1])
