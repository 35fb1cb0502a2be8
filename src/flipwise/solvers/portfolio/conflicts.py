"""Conflict graphs: independent sets, cliques, colourings, packings, written as quadratics with penalties.

In bits, f(x) = -sum_i g_i x_i + sum_ij b_ij x_i x_j. Where every b_ij >= 0 and none is smaller than both of the gains
g_i and g_j, of two chosen nodes with a coupling the one that gains less can be left out without loss, until no such
pair is left: some optimum has no conflict, and the problem is the independent set with the largest sum of gains. Nodes
with g_i <= 0 stay out. The same holds with the meaning of 0 and 1 exchanged (covers).

The size of the penalties then no longer matters: walks move along sets without a conflict (`kernels.conflicts`), or
along sets of one size (`kernels.covers`), where single flips would have to climb over a penalty.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import scipy.sparse as sp

from flipwise.engine.limits import Clock
from flipwise.foundation.arrays import Bools, Floats, Ints, Signs
from flipwise.foundation.errors import InvalidFile
from flipwise.kernels import conflicts as kernels
from flipwise.kernels import covers
from flipwise.kernels.sparse import csr_fields
from flipwise.model.forms import IsingForm
from flipwise.solvers.portfolio.annealing import random_state
from flipwise.solvers.portfolio.population import Member, Population, PopulationState, Task

FIRST_LOOK = 10_000
"""Couplings that are looked at before all are: most problems are none of conflicts, and the first show it."""
TOLERANCE = 1e-9
"""What rounding may have done to a gain, relative to it."""
STEPS_A_NODE = 20
"""Steps of the shortest walk, for each node of a large graph."""
SHORTEST = 50_000
"""Steps of the shortest walk on any but small graphs."""
CHUNK_WORK = 4_000_000
"""Nodes and edges looked at between two looks at the clock (about 10 ms)."""
PATIENCES = (4_000, 10_000, 100_000)
"""Steps without success after which a walk begins anew, for each thousand nodes."""
TIME_SHARE, STEP_SECONDS = 0.05, 2e-6
"""The share of the time since the start that a walk takes at least, at so many seconds a step."""
FIRST_PATIENCE, LONGER_PATIENCE = 2.0, 1.5
"""Rounds after which the kind of search that is behind has its first turn, and how much longer it waits for others."""
FROM_SCRATCH = 0.5
"""Share of the walks that do not begin with the best set so far."""
DELAYS = (2, 15, 15, 45)
"""Phases after which penalties fall by one."""


@dataclass(frozen=True, eq=False)
class ConflictGraph:
    """The spins that can gain, what each gains when it has the value `sign`, and who excludes whom (CSR)."""

    nodes: Ints
    sign: int
    gains: Floats
    indptr: Ints
    indices: Ints

    @property
    def n(self) -> int:
        """Number of nodes."""
        return int(self.nodes.size)

    @cached_property
    def equal_gains(self) -> bool:
        """Whether every node gains the same, so that the size of a set is all that counts."""
        return bool(np.ptp(self.gains) <= TOLERANCE * self.gains.max()) if self.n else True

    @cached_property
    def edges(self) -> tuple[Ints, Ints, Ints, Ints]:
        """(the edge of each CSR entry, the two entries of each edge, the first ends, the second ends)."""
        rows = np.repeat(np.arange(self.n, dtype=np.int32), np.diff(self.indptr))
        there = np.flatnonzero(rows < self.indices)
        # entries sorted by column, then row, are the entries of the transposed matrix in order
        back = np.lexsort((rows, self.indices))[there]
        edge_of = np.empty(rows.size, dtype=np.int32)
        edge_of[there] = edge_of[back] = np.arange(there.size, dtype=np.int32)
        entries: Ints = np.stack([there, back]).astype(np.int64)
        return edge_of, entries, rows[there], self.indices[there]

    def sum_over(self, chosen: Bools, values: Ints) -> Ints:
        """The sum of `values` of each node's chosen neighbours."""
        before = np.concatenate([[0], np.cumsum(np.where(chosen, values, 0)[self.indices])])
        return np.asarray(before[self.indptr[1:]] - before[self.indptr[:-1]])

    def without_conflicts(self, s: Signs) -> Bools:
        """The chosen nodes of a point but those that a better or earlier chosen neighbour excludes."""
        chosen = s[self.nodes] == self.sign
        rank = np.empty(self.n, dtype=np.int64)
        rank[np.lexsort((np.arange(self.n), -self.gains))] = np.arange(self.n)
        rows = np.repeat(np.arange(self.n), np.diff(self.indptr))
        both = chosen[rows] & chosen[self.indices]
        worse = np.where(rank[rows] > rank[self.indices], rows, self.indices)[both]
        chosen[worse] = False
        return np.asarray(chosen)

    def spins(self, chosen: Bools, n: int) -> Signs:
        """The point of n spins that chooses these nodes and no others."""
        s = np.full(n, -self.sign, dtype=np.int8)
        s[self.nodes[chosen]] = self.sign
        return s


def conflict_graph(form: IsingForm) -> ConflictGraph | None:
    """The graph of conflicts of a form that is nothing else, or None."""
    J = form.matrix.reshape(-1) if form.matrix is not None else form.data
    if J.size == 0 or J[:FIRST_LOOK].min() < 0 or J.min() < 0:
        return None
    sums = _row_sums(form)
    for sign in (1, -1):
        gains = 2.0 * (sums - sign * form.h)
        if (gains > 0.0).any() and _penalties_suffice(form, gains):
            return _graph_of(form, gains, sign)
    return None


def _row_sums(form: IsingForm) -> Floats:
    if form.matrix is not None:
        return np.asarray(form.matrix.sum(axis=1, dtype=np.float64))
    sums = np.empty_like(form.h)
    csr_fields(*form.couplings, np.zeros_like(form.h), np.ones(form.n, dtype=np.int8), sums)
    return sums.astype(np.float64)


def _penalties_suffice(form: IsingForm, gains: Floats) -> bool:
    """Whether no coupling is smaller than the gains of both of its ends."""
    wanted = np.maximum(gains, 0.0) * (1.0 - TOLERANCE)
    step = max(1, FIRST_LOOK * form.n // max(1, form.n if form.dense else form.data.size))
    low = 0
    while low < form.n:  # the first rows, then ever more at once
        high = min(form.n, low + (max(1, step // form.n) if form.dense else step))
        if form.matrix is not None:
            block = form.matrix[low:high]
            short = (block > 0) & (4.0 * block < np.minimum(wanted[low:high, None], wanted[None, :]))
        else:
            entries = slice(form.indptr[low], form.indptr[high])
            rows = np.repeat(np.arange(low, high), np.diff(form.indptr[low : high + 1]))
            block = form.data[entries]
            short = (block > 0) & (4.0 * block < np.minimum(wanted[rows], wanted[form.indices[entries]]))
        if short.any():
            return False
        low, step = high, 4 * step
    return True


def _graph_of(form: IsingForm, gains: Floats, sign: int) -> ConflictGraph:
    """The graph of the conflicts between the spins that gain."""
    nodes = np.flatnonzero(gains > 0.0)
    if form.matrix is not None:
        A = sp.csr_array((form.matrix != 0)[np.ix_(nodes, nodes)])
    else:
        A = sp.csr_array((form.data != 0, form.indices, form.indptr), shape=(form.n, form.n))[nodes][:, nodes]
        A.eliminate_zeros()
    A.sort_indices()
    return ConflictGraph(nodes, sign, gains[nodes], A.indptr.astype(np.int64), A.indices.astype(np.int32))


class ConflictPopulation:
    """Walks of three kinds, each at Luby's lengths, and a population that anneals, which is better on large graphs.

    They take turns round by round while their best points are equally good. Else the one behind has its turn ever more
    seldom, until the lead changes.
    """

    def __init__(
        self, form: IsingForm, graph: ConflictGraph, start: Signs, annealed: Population, rng: np.random.Generator
    ) -> None:
        self.form = form
        self.graph = graph
        self.annealed = annealed
        self.rng = rng
        self.champion = Member(start, form.energy(start, form.fields(start)))
        self.made = self.rounds = 0
        self.walking = True
        self.behind = self.waited = 0.0
        self.patience = FIRST_PATIENCE

    @property
    def best(self) -> Member:
        return min(self.champion, self.annealed.best, key=lambda member: member.energy)

    def state(self) -> PopulationState:
        own = {name: getattr(self, name) for name in ("made", "rounds", "behind", "waited", "patience")}
        own["annealed"] = self.annealed.state()
        return PopulationState([self.champion], self.rng, own)

    def restore(self, state: PopulationState) -> None:
        state.check(self.form.n)
        self.champion, self.rng = state.members[0], state.rng
        self.made, self.rounds = int(state.details["made"]), int(state.details["rounds"])
        if min(self.made, self.rounds) < 0:
            raise InvalidFile("the checkpoint's numbers of walks and of rounds must be at least 0.")
        self.behind, self.waited = float(state.details["behind"]), float(state.details["waited"])
        self.patience = max(1.0, float(state.details["patience"]))
        self.annealed.restore(state.details["annealed"])

    def tasks(self, count: int, clock: Clock) -> list[Task]:
        behind = np.sign(self.annealed.best.energy - self.champion.energy)
        if behind != self.behind:
            self.behind, self.waited, self.patience = behind, 0.0, FIRST_PATIENCE
        self.walking = behind > 0 if behind else self.rounds % 2 == 0
        self.waited += 1.0
        if behind and self.waited > self.patience:
            self.walking = not self.walking
            self.waited, self.patience = 0.0, LONGER_PATIENCE * self.patience
        self.rounds += 1
        return [self._next_task(clock) for _ in range(count)] if self.walking else self.annealed.tasks(count, clock)

    def _next_task(self, clock: Clock) -> Task:
        """The next job: the kinds of walk in turn, each longer from time to time."""
        kinds = ("pack", "cover", "avoid", "cover") if self.graph.equal_gains else ("pack", "pack", "pack", "avoid")
        kind = kinds[self.made % len(kinds)]
        shortest = min(100 * self.graph.n, max(SHORTEST, STEPS_A_NODE * self.graph.n))
        if math.isfinite(clock.seconds_left):  # weights and penalties say more the longer a walk has been
            shortest = max(shortest, int(TIME_SHARE * clock.seconds / STEP_SECONDS))
        steps = shortest * luby(self.made // len(kinds) + 1)
        self.made += 1
        own = self.rng.spawn(1)[0]
        chosen = self.graph.without_conflicts(self.best.s)
        if kind == "avoid" or own.random() < FROM_SCRATCH:
            chosen[:] = False
        walk = CoverWalk(self.graph, chosen, own) if kind == "cover" else PackingWalk(self.graph, chosen, own, kind)
        return partial(self._walk_in_pieces, walk, steps, clock)

    def _walk_in_pieces(self, walk: CoverWalk | PackingWalk, steps: int, clock: Clock) -> Member:
        """Walk so many steps or until time is up; the best set met."""
        degree = self.graph.indices.size // max(1, self.graph.n)
        chunk = max(1, CHUNK_WORK // (min(self.graph.n, covers.NODES_SCANNED) + 2 * degree + 64))
        for done in range(0, steps, chunk):
            if clock.expired:
                break
            walk(min(chunk, steps - done))
        s = self.graph.spins(walk.best, self.form.n)
        return Member(s, self.form.energy(s, self.form.fields(s)))

    def merge(self, found: list[Member]) -> None:
        if not self.walking:
            self.annealed.merge(found)
            return
        for member in found:
            if member.energy <= self.champion.energy:  # an equally good one keeps the search moving
                self.champion = member


class CoverWalk:
    """A walk of `covers.cover_walk` that begins with a set without conflicts."""

    def __init__(self, graph: ConflictGraph, chosen: Bools, rng: np.random.Generator) -> None:
        n, (edge_of, entries, first, second) = graph.n, graph.edges
        self.best = chosen.copy()
        self._graph = graph.indptr, graph.indices, edge_of, entries, first, second
        outside = -graph.sum_over(chosen, np.ones(n, dtype=np.int64))
        score = np.where(chosen, -covers.INSIDE, outside).astype(np.int32)
        weight, lists = np.ones(edge_of.size, dtype=np.int32), np.zeros((2, first.size), dtype=np.int32)
        size = np.count_nonzero(chosen)
        counts = np.array([0, size, size, 0, first.size, -1], dtype=np.int64)
        age, ready = np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.bool_)
        self._arrays = weight, chosen, score, age, ready, *lists, self.best, counts, random_state(rng)

    def __call__(self, steps: int) -> None:
        """Go so many steps on; `best` is the largest set so far."""
        covers.cover_walk(*self._graph, steps, *self._arrays)


class PackingWalk:
    """A walk of `kernels.packing_walk` or, where it is to "avoid" what it knows, of `kernels.penalty_walk`."""

    def __init__(self, graph: ConflictGraph, chosen: Bools, rng: np.random.Generator, kind: str) -> None:
        n = graph.n
        self.best = chosen.copy()
        self._kernel = kernels.penalty_walk if kind == "avoid" else kernels.packing_walk
        patience = PATIENCES[int(rng.integers(len(PATIENCES)))] * max(1, n // 1000)
        self._parameter = DELAYS[int(rng.integers(len(DELAYS)))] if kind == "avoid" else patience
        self._graph = graph.indptr, graph.indices, graph.gains
        tight = np.where(chosen, -1, graph.sum_over(chosen, np.ones(n, dtype=np.int64))).astype(np.int32)
        blockers = graph.sum_over(chosen, np.arange(n))
        nodes, place = np.zeros((2, 3, n), dtype=np.int32)
        lists = [np.flatnonzero(tight == k - 1) for k in (kernels.CHOSEN, kernels.FREE, kernels.TIGHT)]
        for k, inside in enumerate(lists):
            nodes[k, : inside.size] = inside
            place[k, inside] = np.arange(inside.size)
        sizes = np.array([inside.size for inside in lists], dtype=np.int64)
        values = np.full(3, graph.gains[chosen].sum())
        counts = np.array([1, 0] if kind == "avoid" else [0, 0], dtype=np.int64)
        memory = np.zeros((2, n), dtype=np.int64)
        self._arrays = tight, blockers, nodes, place, sizes, memory, self.best, values, counts, random_state(rng)

    def __call__(self, steps: int) -> None:
        """Go so many steps on; `best` is the best set so far."""
        self._kernel(*self._graph, steps, self._parameter, *self._arrays)


def luby(k: int) -> int:
    """The k-th of 1, 1, 2, 1, 1, 2, 4, ...: lengths that suit any distribution of success (Luby et al., 1993)."""
    while (k + 1) & k:  # not one less than a power of two
        k -= (1 << (k.bit_length() - 1)) - 1
    return (k + 1) // 2
