"""The alternating loops of the label losses: codes given W by a B-step, W given codes in closed form.

As in the paper: at most 5 rounds, 20 DPCD updates a round. Rows are the distinct label sets with their counts, or,
to repeat the paper's timings, all items; with the coupling term nu ||B - F(X)||^2 of SDH rows are items in any case.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from flipwise.foundation.arrays import Floats, Ints
from flipwise.hashing.bstep import CodeMatrix, solve_rows
from flipwise.hashing.functions.ridge import Targets, chunks, solve_positive
from flipwise.hashing.label_losses import ProjectedLabels, RowQuadratic
from flipwise.hashing.labels import LabelSets
from flipwise.hashing.pace import out_of_time, seconds_left, tell_round
from flipwise.minimization import minimize

REFINED_SETS = 128
"""With at most so many classes their code words are refined."""


@dataclass(frozen=True)
class Schedule:
    """How a loss is alternated."""

    optimizer: str = "dpcd"
    rounds: int = 5
    updates: int = 20
    alpha: float | tuple[float, float] = 1.0
    distinct: bool = True


@dataclass
class Learned:
    """Code words, which row each item has, and what the learning cost."""

    B: CodeMatrix
    of_item: Ints
    values: list[float] = field(default_factory=list)
    b_step_seconds: float = 0.0

    @property
    def targets(self) -> Targets:
        """What a hash function is fitted to."""
        own_rows = np.array_equal(self.of_item, np.arange(len(self.B)))
        return Targets(self.B, None if own_rows else self.of_item)


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of B: label sets with their counts, or items."""

    of_item: Ints
    set_of_row: Ints
    weights: Floats

    @classmethod
    def make(cls, sets: LabelSets, distinct: bool) -> Rows:
        if distinct:
            return cls(sets.of_item, np.arange(len(sets.Y)), sets.counts)
        return cls(np.arange(sets.of_item.size), sets.of_item, np.ones(sets.of_item.size))

    def sums_by_set(self, B: CodeMatrix, n_sets: int) -> Floats:
        """Sum of weighted rows of B for each label set."""
        total = np.zeros((n_sets, B.shape[1]))
        for rows in chunks(len(B)):
            size = len(B[rows])
            E = sp.csr_array((self.weights[rows], (self.set_of_row[rows], np.arange(size))), shape=(n_sets, size))
            total += np.asarray(E @ B[rows].astype(np.float64))
        return total

    def gram(self, B: CodeMatrix) -> Floats:
        """B'MB; counts below 2^24 are exact in float32, which is twice as fast."""
        unit = bool((self.weights == 1.0).all())
        total = np.zeros((B.shape[1], B.shape[1]))
        for rows in chunks(len(B)):
            if unit:
                single = B[rows].astype(np.float32)
                total += single.T @ single
            else:
                part = B[rows].astype(np.float64)
                total += part.T @ (self.weights[rows, None] * part)
        return total


def learn_sdh(
    sets: LabelSets,
    n_bits: int,
    delta: float,
    schedule: Schedule,
    rng: np.random.Generator,
    coupling: tuple[float, Callable[[CodeMatrix], Floats]] | None = None,
) -> Learned:
    """min ||Y - BW||^2 + delta ||W||^2 (+ nu ||B - F||^2); `coupling` is (nu, codes of all items -> F)."""
    rows = Rows.make(sets, schedule.distinct and coupling is None)
    Y = sets.Y
    label_norm = float(sets.counts @ (Y * Y).sum(axis=1))

    def loss_given(B: CodeMatrix) -> RowQuadratic:
        A = rows.gram(B)
        A[np.diag_indices_from(A)] += max(delta, 1e-12)
        W = solve_positive(A, rows.sums_by_set(B, len(Y)).T @ Y)
        P, which, constant = Y @ W.T, rows.set_of_row, label_norm + delta * float((W * W).sum())
        if coupling is not None:
            nu, fitted = coupling
            F = fitted(B)
            P, which = P[which] + nu * F, np.arange(len(B))
            constant += nu * (float((F * F).sum()) + B.size)
        return RowQuadratic(W, P, which, rows.weights, constant)

    return _alternated(rows, sets, n_bits, schedule, rng, loss_given)


def learn_fsdh(sets: LabelSets, n_bits: int, delta: float, schedule: Schedule, rng: np.random.Generator) -> Learned:
    """min ||B - YW||^2 + delta ||W||^2: labels are regressed onto codes, so the B-step is linear."""
    rows = Rows.make(sets, schedule.distinct)
    Y = sets.Y
    A = Y.T @ (sets.counts[:, None] * Y)
    A[np.diag_indices_from(A)] += max(delta, 1e-12)
    total = float(rows.weights.sum()) * n_bits

    def loss_given(B: CodeMatrix) -> RowQuadratic:
        W = solve_positive(A, Y.T @ rows.sums_by_set(B, len(Y)))
        T = Y @ W
        constant = total + float(sets.counts @ (T * T).sum(axis=1)) + delta * float((W * W).sum())
        return RowQuadratic(np.zeros((n_bits, 0)), T, rows.set_of_row, rows.weights, constant)

    return _alternated(rows, sets, n_bits, schedule, rng, loss_given)


def _alternated(
    rows: Rows,
    sets: LabelSets,
    n_bits: int,
    schedule: Schedule,
    rng: np.random.Generator,
    loss_given: Callable[[CodeMatrix], RowQuadratic],
) -> Learned:
    """Rounds of a B-step on the loss with the best W for the codes before, until nothing moves."""
    learned = Learned(_start(rows, sets, n_bits, rng), rows.of_item)
    for _ in range(schedule.rounds):
        loss = loss_given(learned.B)
        started = time.perf_counter()
        new = solve_rows(loss, learned.B, schedule.optimizer, rng, updates=schedule.updates, alpha=schedule.alpha)
        learned.b_step_seconds += time.perf_counter() - started
        learned.values.append(loss.value(new))
        flips = int(np.count_nonzero(new != learned.B))
        learned.B = new
        tell_round(lambda: learned.values[-1], flips)
        if (flips == 0 and schedule.optimizer != "fsdh") or out_of_time():  # FSDH's authors make all rounds
            break
    return learned


def refine_words(
    sets: LabelSets, B: CodeMatrix, delta: float, schedule: Schedule, rng: np.random.Generator
) -> CodeMatrix:
    """Code words of classes with a lower SDH loss, W eliminated.

    B itself with more than `REFINED_SETS` classes, and with several labels an item: there the loss would drive apart
    sets that share labels.
    """
    if sets.multilabel or len(sets.Y) > REFINED_SETS:
        return B
    loss = ProjectedLabels(sets.Y, B.shape[1], sets.counts, max(delta, 1e-6))
    found = minimize(
        loss, x0=B, seed=rng, alpha=schedule.alpha, max_iterations=50 * schedule.rounds, time_limit=seconds_left()
    )
    tell_round(lambda: found.value, int(np.count_nonzero(found.x != B)))
    return np.asarray(found.x, dtype=np.int8)


def _start(rows: Rows, sets: LabelSets, n_bits: int, rng: np.random.Generator) -> CodeMatrix:
    """Random codes of items, or the words of label sets that items with random codes give after one round.

    Then W' = Y'B / n is noise with covariance Y'MY, so small that Y W' decides alone: B = sgn(YR) with R drawn from
    that distribution. Sets that share frequent labels share bits.
    """
    if len(rows.weights) == len(sets.Y):
        root = np.sqrt(sets.counts)[:, None] * sets.Y
        R = root.T @ rng.standard_normal((len(root), n_bits))
        return np.where(sets.Y @ R >= 0.0, 1, -1).astype(np.int8)
    return (2 * rng.integers(0, 2, size=(rows.weights.size, n_bits), dtype=np.int8) - 1).astype(np.int8)
