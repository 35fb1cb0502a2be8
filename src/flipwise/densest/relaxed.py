"""The semidefinite bound on a core, with what nodes outside it can add, and branch and bound on top.

A set of k nodes has k - q nodes in the core and q outside. Outside nodes come first in the order of peeling, where each
is tied by at most `cap` to what comes later, and to t members by at most t times the largest weight w. So
    E <= (a bound for k - q nodes of the core) + sum over t = k-q .. k-1 of min(cap, t w),      for some q = 0 .. k.

Branch and bound: a node of the graph is taken or left, the open subproblem with the largest bound comes first, and each
is a relaxation that begins where its parent stood. In every subproblem nodes that no better set can have, or that every
better set must have, are found by their sums (`DualCertificate.decided`) and fixed.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field
from functools import partial
from itertools import count

import numpy as np

from flipwise.densest.bounds import SubgraphBounds, clique_bound, top_sum
from flipwise.densest.certifying import MOST_ROWS, square_proof
from flipwise.densest.core import Core, core_above, weight_matrix
from flipwise.densest.semidefinite import FULL_SPECTRUM, DualCertificate, Relaxation
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.blas import one_blas_thread

WORK = 1e11
"""Floating-point operations at effort 1 without a time limit: some three seconds."""
FEWEST_STEPS = 60
"""Where that is not enough for so many steps, none is made."""
MOST_NODES = 3000
"""The largest core that is relaxed."""
MOST_BRANCHED = 300
"""The largest core that is branched on."""
STEPS = 20
"""Steps between two proofs."""
PIECE = 4
"""Steps between two looks at the clock."""
STALLED = 1e-4
"""Proofs whose progress is less than this part of the gap, `PATIENCE` times in a row, are the end."""
NEAR = 1.25
"""The relaxation begins from the spectral bound when this is at most so many times what was found."""
ROUGH_STEPS = 200
"""After so many steps the relaxed solution is good enough to look for triangles that it violates."""
PATIENCE = 3
"""So many times in a row."""
SLOWER = 0.7
"""Multipliers of triangles that overshoot rise by so much less from then on, ..."""
LEAST_RISE = 2e-4
"""... down to this."""
SLOW, ENOUGH = 0.01, 30
"""Where branching can go on: so many proofs in a row, each of which closes less than this part of the gap, end it."""
MOST_PROOFS = 12
"""Proofs of one subproblem, at most."""
SURE = 1.0 - 1e-9


@dataclass(eq=False)
class ProofBudget:
    """What a proof may spend: work where there is no time limit, otherwise the time."""

    run: Run
    work: float

    def spent(self, work: float) -> bool:
        """Take some work away; whether nothing is left."""
        if self.run.limits.time_limit is None:
            self.work -= work
            return self.work <= 0.0 or self.run.check_time() is not None
        return self.run.check_time() is not None


@one_blas_thread()
def add_semidefinite_bound(
    bounds: SubgraphBounds, core: Core, loads: Floats, run: Run, effort: float, largest: float, least: float
) -> None:
    """Note the semidefinite bound, then that of branch and bound, for what other bounds leave open.

    `largest` is the largest weight of the whole graph, `least` the least degree inside the best set.
    """
    k, best = bounds.k, -run.best_value / 2.0
    goal = next_below(best, bounds.unit)
    if effort == 0.0 or bounds.best[1] <= goal or k < 2:
        return
    chosen = _relaxed_core(core, k, best, least, largest)
    if chosen.graph.n > MOST_NODES or chosen.graph.n <= k:
        return
    if chosen is not core:
        loads = loads[np.searchsorted(core.nodes, chosen.nodes)]
    proof = _CoreProof(bounds, chosen, loads, run, ProofBudget(run, WORK * effort), max(largest, 0.0), goal)
    relaxation = Relaxation(proof.W, k)
    if run.limits.time_limit is None and FEWEST_STEPS * relaxation.work > proof.budget.work:
        return
    certificate = proof.relax(relaxation, proof.spectral(relaxation, best))
    if certificate is not None and bounds.best[1] > goal and chosen.graph.n <= MOST_BRANCHED:
        proof.branch(relaxation, certificate)


def next_below(best: float, unit: float) -> float:
    """A bound of at most this proves the best set: below the next weight that a set can have."""
    return best + unit * SURE if unit else best + 1e-9 * abs(best)


def _relaxed_core(core: Core, k: int, best: float, least: float, largest: float) -> Core:
    """A core as small as it can be while sets with nodes outside it are likely to be no better than the best one.

    How E grows with the number of nodes is taken from the best set: like a power, with its least degree as the slope.
    """
    if core.graph.n <= max(2 * k, MOST_BRANCHED) or best <= 0.0:
        return core
    power = min(2.0, max(1.0, least * k / best))
    inner = np.arange(k + 1.0)
    grown = best * (inner / k) ** power  # of 0, 1, ..., k nodes of the core
    low, high = max(0.0, core.cap), math.ceil(2.0 * best / k) + 1.0
    while high - low > 1.0:
        cap = float(math.floor(0.5 * (low + high)))
        outside = np.concatenate([[0.0], np.cumsum(np.minimum(cap, np.arange(k) * max(largest, 0.0)))])
        low, high = (cap, high) if np.all(grown + outside[k] - outside <= best) else (low, cap)
    if low <= max(0.0, core.cap):
        return core
    narrow = core_above(core, low)
    return narrow if narrow.graph.n >= 2 * k else core


@dataclass(order=True)
class _Open:
    """A subproblem: its bound (negative, so that the largest comes first), and what is fixed in it."""

    minus_bound: float
    number: int
    taken: Ints = field(compare=False)
    """Nodes of the core in every set, ..."""
    left: Ints = field(compare=False)
    """... and those that are open, in the order of the relaxation."""
    constant: float = field(compare=False)
    """The weight among the nodes that are taken."""
    relaxation: Relaxation = field(compare=False)
    certificate: DualCertificate = field(compare=False)


@dataclass(eq=False)
class _CoreProof:
    """The proof for one core."""

    bounds: SubgraphBounds
    core: Core
    loads: Floats
    run: Run
    budget: ProofBudget
    largest: float
    goal: float
    """A bound of at most this is a proof."""

    def __post_init__(self) -> None:
        self.W = weight_matrix(self.core.graph)

    def spectral(self, relaxation: Relaxation, weight: float) -> DualCertificate | None:
        """Note the spectral bound, and begin from it where it is near the weight of the best set."""
        if 8 * self.bounds.k < relaxation.N:
            return None
        relaxation.begin_from_spectrum()
        certificate = relaxation.certificate(keep=relaxation.N <= MOST_ROWS)
        if certificate is not None:
            bound = self.whole_bound(certificate)
            self.note("spectral", bound, certificate)
            if bound <= NEAR * weight:
                return certificate
        relaxation.begin_anew()
        return None

    def relax(self, relaxation: Relaxation, best: DualCertificate | None) -> DualCertificate | None:
        """Relax until the bound is a proof, stalls, or the budget is spent; returns the best certificate.

        Triangles come in after some steps; from then on it stalls when their multipliers rise too fast.
        """
        reached, stalled, slow = math.inf if best is None else self.whole_bound(best), 0, 0
        known = self.bounds.best[1]
        if reached <= self.goal:
            return best
        steps = STEPS if relaxation.N <= FULL_SPECTRUM else 2 * STEPS
        while stalled < PATIENCE:
            spent = self.steps_spent(relaxation, steps)
            certificate = relaxation.certificate(keep=relaxation.N <= MOST_ROWS)
            bound = math.inf if certificate is None else self.whole_bound(certificate)
            progress = reached - bound
            if progress > 0.0:
                best, reached = certificate, bound
                self.note("semidefinite", bound, certificate)
            slow = slow + 1 if progress < SLOW * (reached - self.goal) else 0
            if reached <= self.goal or spent or (slow > ENOUGH and self.core.graph.n <= MOST_BRANCHED):
                break
            hopeless = relaxation.steps >= 4 * STEPS and min(reached, relaxation.value) > 1.01 * known
            stalled = stalled + 1 if progress < STALLED * (reached - self.goal) or hopeless else 0
            if not hopeless and self.goes_on_otherwise(relaxation, stalled):
                stalled = 0
        return best

    def goes_on_otherwise(self, relaxation: Relaxation, stalled: int) -> bool:
        """Let triangles come in, or their multipliers rise more slowly, when it is time; whether either was done."""
        if not relaxation.rise and (stalled or relaxation.steps >= ROUGH_STEPS):
            relaxation.tighten()
            return True
        if stalled == PATIENCE and relaxation.rise > LEAST_RISE and relaxation.triangles.z.any():
            relaxation.rise *= SLOWER
            return True
        return False

    def steps_spent(self, relaxation: Relaxation, steps: int) -> bool:
        """Make some steps; whether the budget was spent on the way."""
        for _ in range(0, steps, PIECE):
            relaxation.run(PIECE)
            if self.budget.spent(PIECE * relaxation.work):
                return True
        return False

    def note(self, name: str, bound: float, certificate: DualCertificate | None = None) -> None:
        """Note a bound on E, and what proves it."""
        proof = None
        if certificate is not None and certificate.square is not None:
            proof = partial(square_proof, self.core, self.run.problem.n, certificate, self.bounds.k)
        self.bounds.add(name, bound, proof)
        self.run.raise_bound(-2.0 * self.bounds.best[1])

    def whole_bound(self, certificate: DualCertificate) -> float:
        """The bound for all sets of the whole graph."""
        k = self.bounds.k
        bound = certificate.bound(k)
        return bound if self.core.is_whole else max(bound, self.outside_bound(certificate, bound))

    def outside_bound(self, certificate: DualCertificate, enough: float) -> float:
        """A bound for the sets with some nodes outside the core; less than `enough` is all the same."""
        k, cap, reached = self.bounds.k, max(self.core.cap, 0.0), -math.inf
        outside = 0.0
        for inner in range(k - 1, -1, -1):
            outside += min(cap, inner * self.largest)
            bound = min(clique_bound(inner, self.largest), top_sum(self.loads, inner, -1.0) if inner else 0.0)
            if bound + outside > max(reached, enough) and inner:
                bound = min(bound, certificate.bound(inner))
            reached = max(reached, bound + outside)
        return reached + 1e-12 * abs(reached)

    # --- branch and bound --------------------------------------------------------------------------------------------

    def branch(self, relaxation: Relaxation, certificate: DualCertificate) -> None:
        """Take and leave nodes until no subproblem is open; the largest bound of an open one is noted all the time."""
        outside = -math.inf if self.core.is_whole else self.outside_bound(certificate, self.goal)
        if outside > self.goal:
            return
        numbers, n = count(), self.core.graph.n
        none, every = np.empty(0, np.int64), np.arange(n)
        bound = certificate.bound(self.bounds.k)
        heap = [_Open(-bound, next(numbers), none, every, 0.0, relaxation, certificate)]
        proven = self.bounds.best[1]
        while heap and not (self.run.check_time() is not None or self.budget.work <= 0.0):
            node = heapq.heappop(heap)
            if -node.minus_bound <= self.goal:
                break
            if -node.minus_bound < proven:
                proven = -node.minus_bound
                self.note("branching", max(proven, outside))
            for taken, left in self._subproblems(node):
                solved = self._relaxed_subproblem(node, taken, left, next(numbers))
                if solved is not None:
                    heapq.heappush(heap, solved)
        if not heap or -heap[0].minus_bound <= self.goal:
            self.note("branching", max(self.goal, outside))

    def _subproblems(self, node: _Open) -> list[tuple[Ints, Ints]]:
        """What is taken and left open when one more node is taken, and when it is not; nodes that are decided too."""
        # the constant and the bonus are sums that may have been rounded
        margin = 1e-12 * (abs(self.goal) + abs(node.constant) + float(np.abs(node.relaxation.bonus).sum()))
        always, never = node.certificate.decided(node.relaxation.k, self.goal - node.constant - margin)
        fixed = always | never
        x = np.where(fixed, 9.0, node.relaxation.x)
        at = int(np.argmin(np.abs(x - 0.5)))
        taken, left = np.concatenate([node.taken, node.left[always]]), ~fixed
        if fixed.all():
            return [(taken, node.left[left])]
        left[at] = False
        return [(np.append(taken, node.left[at]), node.left[left]), (taken, node.left[left])]

    def _relaxed_subproblem(self, parent: _Open, taken: Ints, left: Ints, number: int) -> _Open | None:
        """A subproblem whose relaxation has gone far enough; None when it has no set above the goal."""
        k = self.bounds.k - taken.size
        if k < 0 or left.size < k:
            return None
        if k == 0 or k == left.size:
            self._report_if_better(np.concatenate([taken, left]) if k else taken)
            return None
        bonus = self.W[np.ix_(left, taken)].sum(axis=1)
        constant = float(self.W[np.ix_(taken, taken)].sum()) / 2.0
        relaxation = Relaxation(self.W[np.ix_(left, left)], k, bonus)
        relaxation.begin_from(parent.relaxation, np.isin(parent.left, left), np.isin(parent.left, taken))
        best, reached = parent.certificate, -parent.minus_bound
        done = False
        for _ in range(MOST_PROOFS):
            spent = self.steps_spent(relaxation, STEPS)
            certificate = relaxation.certificate()
            if certificate is not None:
                bound = constant + certificate.bound(k)
                bound += 1e-12 * (abs(bound) + float(np.abs(bonus).sum()) + abs(constant))
                if bound <= self.goal:
                    return None
                if not done or bound < reached:
                    best, reached, done = certificate, min(bound, reached), True
            value = constant + relaxation.value
            if done and (spent or (value > self.goal and reached - value < 0.1 * (reached - self.goal))):
                break
        self._report_if_better(np.concatenate([taken, left[np.argsort(-relaxation.x, kind="stable")[:k]]]))
        if not done:  # no proof of its own: what its parent has proven is kept, and nothing fixed
            best = DualCertificate(0.0, np.zeros(left.size), np.full(left.size, 1e300), np.zeros(left.size))
        return _Open(-reached, number, taken, left, constant, relaxation, best)

    def _report_if_better(self, nodes: Ints) -> None:
        """Tell the run of a set that is better than the best one."""
        weight = float(self.W[np.ix_(nodes, nodes)].sum()) / 2.0
        if -2.0 * weight < self.run.best_value:
            x = np.full(self.run.problem.n, -1.0)
            x[self.core.nodes[nodes]] = 1.0
            self.run.step(x, -2.0 * weight)
            self.goal = next_below(weight, self.bounds.unit)
