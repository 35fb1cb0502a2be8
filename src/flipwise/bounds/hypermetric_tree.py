"""Branch and bound on the semidefinite bound with hypermetric inequalities, for dense parts.

A node decides that some spins are equal or opposite; they become one, so that a node is a smaller part. The pair that X
leaves most open is decided next. Few spins are enumerated.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.bounds.enumeration import least_point
from flipwise.bounds.hypermetric import HypermetricBound
from flipwise.bounds.journal import Journal
from flipwise.bounds.parts import Allowance, Node, Part, branch_and_bound
from flipwise.foundation.arrays import Floats, Ints

ENUMERATED = 18
"""A node of so many spins is enumerated."""
ROUNDS = 60
"""The most rounds of inequalities in one node."""
ALPHA_FALLS, ALPHA_RISES = 0.93, 1.5
"""By what the weight of the smoothing changes from round to round, and from a node to its children."""
ENUMERATION_WORK = 0.02
"""What the enumeration of a node takes (see `Allowance`)."""
BITS = 60
"""Multipliers are rounded to this many bits below the largest coupling, in certificates."""
PATIENCE = 10.0
"""A node is split when the last rounds promise to close its gap in more than so many."""


@dataclass(eq=False)
class Contracted:
    """The couplings of a node: E = constant + sum_{i<j} J_ij t_i t_j, where spin p is signs[p] * t[place[p]]."""

    J: npt.NDArray[np.object_]
    constant: int
    place: Ints
    signs: Ints

    def child(self, i: int, j: int, sign: int) -> Contracted:
        """The same with t_i = sign * t_j."""
        J = self.J.copy()
        constant = self.constant + sign * J[i, j]
        row = sign * J[i]
        J[j] = J[j] + row
        J[:, j] = J[:, j] + row
        J = np.delete(np.delete(J, i, axis=0), i, axis=1)
        to = j - (j > i)
        J[to, to] = 0
        place = np.where(self.place == i, to, self.place - (self.place > i))
        signs = np.where(self.place == i, sign * self.signs, self.signs)
        return Contracted(J, constant, place, signs)

    def spins(self, t: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
        return (self.signs * t[self.place]).astype(np.int8)


@dataclass(eq=False)
class HypermetricTree:
    """The relaxation of one part."""

    part: Part
    allowed: Allowance

    def __post_init__(self) -> None:
        n = self.part.n
        self.unit = max(map(abs, self.part.J), default=1)
        self.root = Contracted(self.part.matrix(), 0, np.arange(n), np.ones(n, dtype=np.int64))
        self.journal = Journal()
        self.part.journals.append(self.journal)

    def run(self) -> None:
        """Prove the part, or as much as there is time for."""
        lowest = self.part.lift(-sum(map(abs, self.part.J)))
        self.journal.note(0, lowest, {"shift": 0, "rows": []}, 0)
        root = Node(lowest if self.part.bound is None else max(self.part.bound, lowest), 0, self.root)
        branch_and_bound(self.part, self.evaluate, root, lambda: self.allowed.is_over, self.journal)

    def evaluate(self, node: Node) -> tuple[int, list[Node]]:
        part, at = self.part, node.decided
        assert isinstance(at, Contracted)
        n = at.J.shape[0]
        if n - 1 <= ENUMERATED:
            found = least_point(at.J[:-1, :-1], at.J[:-1, -1], [])
            self.allowed.spend(ENUMERATION_WORK)
            assert found is not None
            part.offer(at.spins(np.append(found[1], 1).astype(np.int8)))
            self.journal.note(node.number, at.constant + found[0], {"enumerate": True}, 1)
            return max(at.constant + found[0], node.bound, part.energy), []
        Q = (
            at.J.astype(np.float64) / (2.0 * self.unit)
            if self.unit < 2**900
            else (at.J / (2 * self.unit)).astype(float)
        )
        state = HypermetricBound.begin(Q)
        if node.memory is not None:
            state.u, state.cuts, state.alpha, state.X = node.memory
        bound = max(node.bound, self._improved_bound(state, node))
        if bound >= part.energy or self.allowed.is_over:
            return bound, []
        return bound, self._child_nodes(state, at, bound)

    def _improved_bound(self, state: HypermetricBound, node: Node) -> int:
        """Rounds of inequalities until the node is done with, or they no longer promise to."""
        part, at, bound = self.part, node.decided, node.bound
        goal = float(Fraction(part.energy - at.constant, self.unit))
        history: list[float] = []
        for number in range(ROUNDS):
            reached = state.improve()
            self.allowed.spend(round_work(state.N, state.cuts.products.nnz, state.evaluations))
            history.append(reached)
            near = part.lift(at.constant + _ceiling_in_units(reached, self.unit))
            if near >= part.energy or at is self.root:
                bound = max(bound, self._proven_bound(state, node))
            if at is self.root:  # what is proven here holds for all
                part.raise_bound(min(bound, part.energy))
                part.offer(_rounded_spins(state.X, state.Q))
                goal = float(Fraction(part.energy - at.constant, self.unit))
            if bound >= part.energy or self.allowed.is_over:
                return bound
            state.alpha *= ALPHA_FALLS
            state.exchange()
            if number >= 7 and goal - reached > PATIENCE * (history[-1] - history[-4]) / 3.0:
                break
        return max(bound, self._proven_bound(state, node))

    def _proven_bound(self, state: HypermetricBound, node: Node) -> int:
        """The bound of a node, which is kept with its multipliers."""
        at = node.decided
        bound = self.part.lift(at.constant + _ceiling_in_units(state.proven(), self.unit))
        if self.journal.wants(node.number, bound):
            self.journal.note(node.number, bound, *self._multipliers_in_integers(state, at))
        return bound

    def _multipliers_in_integers(self, state: HypermetricBound, at: Contracted) -> tuple[dict[str, Any], int]:
        """The multipliers in integers, and of the spins that stand for the others: of equal or opposite ones the first.

        U and Z prove E 2^shift >= constant 2^shift + sum U - sum_t Z_t r_t, where J 2^shift - 2 Diag(U) - sum_t Z_t B_t
        is positive semidefinite (see `hypermetric`, whose matrices are half as large).
        """
        u, cuts = state.at_best
        shift = max(0, BITS - self.unit.bit_length())
        large = Fraction(self.unit) * 2**shift
        _, first = np.unique(at.place, return_index=True)
        rank, signs = np.argsort(np.argsort(first)), at.signs[first]
        U = [0] * state.N
        for place, value in enumerate((u + state.least).tolist()):
            U[rank[place]] = int(Fraction(value) * large // 1)
        kept = cuts.kept(cuts.z > 0.0)
        Z = [int(Fraction(z) * large // 1) for z in kept.z.tolist()]
        b = np.zeros(kept.b.shape, dtype=np.int64)
        b[:, rank] = kept.b * signs
        return {"shift": shift, "U": U, "Z": Z, "b": b}, 2 * int(np.count_nonzero(b)) + len(Z) + state.N

    def _child_nodes(self, state: HypermetricBound, at: Contracted, bound: int) -> list[Node]:
        X = state.X
        self.part.offer(at.spins(_rounded_spins(X, state.Q)))
        open_ = np.abs(X)
        np.fill_diagonal(open_, np.inf)
        i, j = divmod(int(np.argmin(open_)), state.N)
        i, j = max(i, j), min(i, j)
        u, cuts = state.at_best
        children = []
        for sign in (1, -1):
            smaller = np.delete(u, i)
            smaller[j] += u[i]
            centre = np.delete(np.delete(X, i, 0), i, 1)
            memory = smaller, cuts.contracted(i, j, sign), state.alpha * ALPHA_RISES, centre
            p, q = (int(np.flatnonzero(at.place == place)[0]) for place in (i, j))
            decision = p, q, int(sign * at.signs[p] * at.signs[q])
            children.append(Node(bound, 0, at.child(i, j, sign), memory, decision))
        return children


def round_work(N: int, products: int, evaluations: int) -> float:
    """What a round takes (see `Allowance`): its evaluations, which are eigenvalues, then new inequalities."""
    evaluation = 6e-5 + 1e-8 * products + 4e-8 * N**2 + 2e-10 * N**3
    return evaluations * evaluation + 2.5e-5 * N + 3e-9 * N**3


def _ceiling_in_units(value: float, unit: int) -> int:
    """The least integer not below value * unit, where energies are integers; very little where value is no number."""
    return -int(-Fraction(value) * unit // 1) if np.isfinite(value) else -(10**400)


def _rounded_spins(X: Floats, Q: Floats) -> npt.NDArray[np.int8]:
    """Spins by the signs of the first eigenvector, then single flips that improve."""
    return _after_descent(Q, np.where(np.linalg.eigh(X)[1][:, -1] >= 0.0, 1.0, -1.0))


def _after_descent(Q: Floats, s: Floats) -> npt.NDArray[np.int8]:
    """Spins after single flips that lower s'Qs, the best first, until none does (in float64)."""
    field = Q @ s
    for _ in range(10 * s.size):
        gain = s * field
        i = int(np.argmax(gain))
        if gain[i] <= 1e-12:
            break
        field -= 2.0 * s[i] * Q[:, i]
        s[i] = -s[i]
    return s.astype(np.int8)


def descend_often(part: Part, starts: int = 60) -> None:
    """Descents from random spins, for parts that are proven before any search."""
    unit = 2 * max(map(abs, part.J), default=1)
    Q = (part.matrix() / unit).astype(np.float64)
    rng = np.random.default_rng(0)
    for _ in range(starts):
        part.offer(_after_descent(Q, rng.choice([-1.0, 1.0], part.n)))
