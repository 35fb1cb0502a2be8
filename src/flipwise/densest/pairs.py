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

import numpy as np

from flipwise.densest.core import Core
from flipwise.densest.loads import positive_edges, shared, top_sum
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


class PairProgramme:
    """The primal-dual iteration for one core and one k."""

    def __init__(self, core: Core, k: int) -> None:
        self.core, self.k = core, k
        first, second, weight = positive_edges(core)
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
        self._index()

    def _index(self) -> None:
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
        """Make some steps; the averages of the prices and credits are in `mean_v` and `mean_p`."""
        n, m = self.core.graph.n, self.first.size
        self.mean_v, self.mean_p = np.zeros(n), np.zeros(m)
        with threads_worth(4 * m):
            kernels.primal_dual(
                self.first, self.second, self.weight / self.scale, self.indptr, self.pair_of, self.is_first,
                float(self.k), max(0.0, self.core.cap) / self.scale, 1.0, self.x, self.outer, self.y, self.v, self.r1,
                self.r2, self.p, self.mean_v, self.mean_p, np.zeros(n), self.x_step, self.v_step, np.zeros(n),
                np.zeros(m), steps,
            )  # fmt: skip

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
        self._index()
        return int(low.size)


def proven(core: Core, k: int, first: Ints, second: Ints, weight: Floats, v: Floats, p: Floats, passes: int) -> float:
    """A bound on E(S) for all S of k nodes from any prices and credits, rounded up."""
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
    shares = shared(core.graph.n, first[kept], second[kept], need[kept], offset)
    if np.any(kept):
        shares.balance(passes)
    loads = shares.proven_loads()
    total, rest = math.fsum(p), top_sum(loads, k, core.cap)
    return total + rest + 4.0 * _EPS * (total + abs(rest))


def pair_bound(core: Core, k: int, known: float, goal: float, more: Callable[[float], bool]) -> float:
    """Improve the bound `known` on E(S) until it is below `goal`, stalls, or `more(work)` says to stop.

    `work` is what will have been spent after the next proof: pairs times steps.
    """
    programme = PairProgramme(core, k)
    best = known
    stalled = 0
    step = 0
    work = 0.0
    while best >= goal and stalled < PATIENCE:
        work += STEPS * programme.first.size
        if not more(work):
            break
        programme.run(STEPS)
        step += 1
        pairs = programme.first, programme.second, programme.weight
        scale = programme.scale
        proposals = (programme.mean_v, programme.mean_p), (programme.v, programme.p)
        found = min(proven(core, k, *pairs, scale * v, scale * p, BALANCE_PASSES) for v, p in proposals)
        stalled = 0 if found < best * (1.0 - 2e-5) else stalled + 1
        best = min(best, found)
        if step in LISTING_STEPS:
            programme.add_non_edges()
    return best
