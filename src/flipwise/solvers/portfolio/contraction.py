"""Spins that are bound to one another in some optimum are one spin for the search.

Where a coupling of spin i is at least as large as all its others together, |J_ij| >= sum_k |J_ik| over k != j, some
optimum has s_i = -sgn(J_ij) s_j, whatever the other spins are: i and j become one, and the couplings of i are added to
those of j, which may bind others. A linear part is a coupling to a spin that is always 1. Weights over many orders of
magnitude, as in long-range chains, often leave next to nothing; single flips would need a temperature of its own for
every scale.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from flipwise.engine.limits import Clock
from flipwise.foundation.arrays import Ints, Signs
from flipwise.model.forms import DENSE_FROM, IsingForm, ising_form
from flipwise.model.quadratic import Quadratic
from flipwise.solvers.portfolio.population import Member, Population, PopulationState, Task

LARGEST = 2500
"""The most spins: the couplings are written out."""
WORTH = 0.95
"""A contraction is kept when it leaves at most this share of the spins."""


@dataclass(frozen=True, eq=False)
class Contraction:
    """The form of the spins that are left, and for each spin of the whole the one that it follows, and how."""

    form: IsingForm
    follows: Ints
    signs: Signs

    def expand(self, s: Signs) -> Signs:
        """The point of the whole; the spin after the last one left is always 1."""
        return np.asarray(self.signs * np.append(s, np.int8(1))[self.follows], dtype=np.int8)

    def restrict(self, s: Signs) -> Signs:
        """The spins that are left, each as the first of those that follow it is."""
        _, first = np.unique(self.follows, return_index=True)
        return np.asarray((s * self.signs)[first[: self.form.n]], dtype=np.int8)


def contraction_of(form: IsingForm) -> Contraction | None:
    """The contraction of all spins that are bound, or None where too few are, or there are too many spins."""
    n = form.n
    if n > LARGEST:
        return None
    J = np.zeros((n + 1, n + 1), dtype=np.float64)  # a sum that rounds only misguides a search of the rest
    J[:n, :n] = (
        form.matrix
        if form.matrix is not None
        else sp.csr_array((form.data, form.indices, form.indptr), shape=(n, n)).toarray()
    )
    J[:n, n] = J[n, :n] = form.h
    follows, signs = _contract_edges(J)
    left = np.unique(follows[follows < n])
    if left.size > WORTH * n:
        return None
    A = J[np.ix_(left, left)] / 2.0
    dense = np.count_nonzero(A) >= DENSE_FROM * A.size
    reduced = ising_form(Quadratic(A if dense else sp.csr_array(A), J[left, n])) if left.size else None
    if left.size and reduced is None:
        return None
    place = np.full(n + 1, left.size)
    place[left] = np.arange(left.size)
    return Contraction(reduced or _empty_form(form), place[follows[:n]], signs[:n])


def _empty_form(form: IsingForm) -> IsingForm:
    """A form without spins."""
    none, start = form.h[:0], np.zeros(1, dtype=np.int64)
    return IsingForm(0, none, 1.0, 0.0, 0.0, None, start, start[:0], none)


def _contract_edges(J: np.ndarray) -> tuple[Ints, Signs]:
    """Contract `J` in place; returns for each spin the one it follows, and its sign. The last spin follows itself."""
    size = len(J)
    follows, signs = np.arange(size), np.ones(size, dtype=np.int8)
    weights = np.abs(J)
    sums, largest = weights.sum(axis=1), weights.max(axis=1)  # `largest` may be too large later, never too small
    alive = np.ones(size, dtype=np.bool_)
    alive[-1] = False  # the others may follow it, it follows none
    while True:
        candidates = np.flatnonzero(alive & (2.0 * largest >= sums) & (sums > 0.0))
        if candidates.size == 0:
            return follows, signs
        for i in candidates:
            row = np.abs(J[i])
            j, largest[i] = int(row.argmax()), row.max()
            sums[i] = row.sum()
            if sums[i] == 0.0 or 2.0 * largest[i] < sums[i]:
                continue
            sign = -1.0 if J[i, j] > 0 else 1.0
            moved = sign * J[i]
            moved[[i, j]] = 0.0
            J[i, :] = J[:, i] = 0.0
            before = np.abs(J[j])
            J[j, :] += moved
            J[:, j] = J[j, :]
            after = np.abs(J[j])
            sums += after - before - row
            sums[j] = after.sum()
            largest = np.maximum(largest, after)
            largest[j] = after.max()
            alive[i] = False
            led = follows == i
            follows[led] = j
            signs[led] *= np.int8(sign)


class ContractedPopulation:
    """A population of the spins that are left, seen as one of the whole."""

    def __init__(self, form: IsingForm, contraction: Contraction, inner: Population) -> None:
        self.form = form
        self.contraction = contraction
        self.inner = inner
        self._best = (inner.best.s, self._expanded_member(inner.best.s))

    def _expanded_member(self, s: Signs) -> Member:
        """The member that a point of the contracted problem stands for."""
        point = self.contraction.expand(s)
        return Member(point, self.form.energy(point, self.form.fields(point)))

    @property
    def best(self) -> Member:
        s = self.inner.best.s
        if s is not self._best[0]:
            self._best = (s, self._expanded_member(s))
        return self._best[1]

    def state(self) -> PopulationState:
        return self.inner.state()

    def restore(self, state: PopulationState) -> None:
        self.inner.restore(state)

    def tasks(self, count: int, clock: Clock) -> list[Task]:
        return self.inner.tasks(count, clock)

    def merge(self, found: list[Member]) -> None:
        self.inner.merge(found)


class DecidedPopulation:
    """The one best point where no couplings are left; there is nothing to do."""

    def __init__(self, form: IsingForm, rng: np.random.Generator) -> None:
        self.rng = rng
        s = np.where(form.h > 0, -1, 1).astype(np.int8)
        self.best = Member(s, form.energy(s, form.h))

    def state(self) -> PopulationState:
        return PopulationState([self.best], self.rng, {})

    def restore(self, state: PopulationState) -> None:
        self.rng = state.rng

    def tasks(self, count: int, clock: Clock) -> list[Task]:
        return []

    def merge(self, found: list[Member]) -> None:
        """Nothing is ever found."""
