"""Alternation: codes given everything else by a B-step, everything else given the codes in closed form.

As in the paper: at most 5 rounds, 20 DPCD updates a round. The answer of a fit is the code matrix of its last round,
better than those before it or not: with some optimisers the loss may rise, and what follows was fitted to these codes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from flipwise.engine.limits import Clock, Limits, OutOfTime, Status
from flipwise.engine.run import Run
from flipwise.engine.states import check_array
from flipwise.foundation.arrays import Floats
from flipwise.foundation.errors import InvalidInput
from flipwise.hashing.codes import CodeMatrix
from flipwise.hashing.label_losses import CodeWordLoss, LabelLoss
from flipwise.hashing.row_loss import RowQuadratic
from flipwise.kernels import codes as kernels
from flipwise.kernels.compile_time import working_time
from flipwise.minimization import METHODS
from flipwise.model.constraints import Free
from flipwise.model.problem import Problem
from flipwise.solvers.dpcd import DPCD
from flipwise.solvers.registry import as_solver

DCC_SWEEPS = 10
"""Sweeps of the authors' B-step in SDH, which also stops when a sweep changes nothing."""
CANDIDATES = 16
"""Sets of flips looked at in one neighbourhood search of a row."""
NEIGHBOURHOOD = 5
"""Flips in one of these sets."""
EVERY = 10
"""Updates of a row between two neighbourhood searches."""
FEW_ENTRIES = 10_000
"""Code matrices as small as this are checked for rest before the kernel is called."""

# --- what every fit shares -------------------------------------------------------------------------------------------


@dataclass
class FitContext:
    """What a fit carries along beside its codes.

    Attributes
    ----------
    rng
        The generator from which everything in the fit is drawn, from the first codes to the hash function.
    clock
        The time since the fit began.
    b_step_seconds
        Time spent in B-steps.
    rotation
        The last rotation of ITQ, None elsewhere.
    data
        What is fitted, by which a checkpoint knows its own: the features, or features and labels.
    """

    rng: np.random.Generator
    clock: Clock
    b_step_seconds: float = 0.0
    rotation: Floats | None = None
    data: Any = None

    @contextmanager
    def timed_b_step(self) -> Iterator[None]:
        """Count the time inside the block as that of a B-step."""
        started = working_time()
        try:
            yield
        finally:
            self.b_step_seconds += working_time() - started


def end_round(run: Run, B: Any, value: float, flips: int, state: Any = None) -> Status | None:
    """Record a round whose codes, an array of -1 and +1, are the answer from now on; a status means: stop now.

    They are not copied, although the next round may change them: they are codes at any moment of it, and a copy of them
    in each round is what small rounds on many items would spend most of their time on.
    """
    if run.resumption is not None:  # a file holds points as float64
        B = B.astype(np.float64)
    run.incumbent.x, run.incumbent.value = B, value
    return run.step(B, value, flips=flips, state=state)


# --- the alternation of the label losses -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Schedule:
    """How a label loss is minimised.

    `rounds` of a B-step by the `optimizer`; DPCD makes `updates` in each with this `alpha`. `distinct` gives every
    label set one row of codes, otherwise every item has its own.
    """

    optimizer: str = "dpcd"
    rounds: int = 5
    updates: int = 20
    alpha: float | tuple[float, float] = 1.0
    distinct: bool = True


@dataclass
class Round:
    """Where an alternation stands: its codes, the rounds done, whether the rounds are over, and the generator."""

    B: CodeMatrix
    done: int
    over: bool
    rng: np.random.Generator


@dataclass(frozen=True)
class Alternation:
    """Rounds of a B-step on the loss with the best W for the codes before, until nothing moves.

    With `words` the code words are then refined by DPCD on that loss, which has W eliminated.
    """

    begins_itself: ClassVar[bool] = True

    schedule: Schedule
    loss: LabelLoss = field(repr=False)
    context: FitContext = field(repr=False)
    words: CodeWordLoss | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """The optimiser of the B-steps."""
        return self.schedule.optimizer

    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Alternate from the start of the loss; `x` is not used."""
        schedule, loss = self.schedule, self.loss
        before = run.resume(Round)
        if before is None:
            now = Round(loss.start(rng), 0, False, rng)
        else:
            check_array("B", before.B, loss.shape, signs=True)
            now = before
        self.context.rng = rng = now.rng
        status, fitted = Status.ITERATION_LIMIT, loss.fitted(now.B)
        while not now.over:
            with self.context.timed_b_step():
                B = solve_rows(fitted.rows, now.B, schedule, rng, run)
            flips = int(np.count_nonzero(B != now.B))
            run.count_evaluation()
            fitted = loss.fitted(B) if flips else fitted
            # FSDH's authors make all rounds
            still = flips == 0 and schedule.optimizer != "fsdh"
            now = Round(B, now.done + 1, still or now.done + 1 == schedule.rounds, rng)
            stop = end_round(run, B, fitted.value, flips, now)
            if stop is not None:
                return stop
            status = Status.CONVERGED if flips == 0 else status
        if self.words is None:
            return status
        if not run.resuming:
            run.begin_descent()
            run.incumbent.value = math.inf
        try:
            with run.inside(now), self.context.timed_b_step():
                descent = DPCD(alpha=schedule.alpha)
                return descent.solve(Problem(self.words, Free()), now.B.astype(np.float64), rng.spawn(1)[0], run)
        finally:
            run.evaluations += self.words.evaluations


# --- B-steps of independent rows -------------------------------------------------------------------------------------


def solve_rows(loss: RowQuadratic, B: CodeMatrix, schedule: Schedule, rng: np.random.Generator, run: Run) -> CodeMatrix:
    """The codes after the B-step of a loss whose rows are independent, from `B`, which stays as it is.

    "dpcd" runs Algorithm 1 in each row; "dcc" is the original of SDH; "fsdh" and "itq" are the closed form of a linear
    loss; any other name is a method of the library, with its own limits.
    """
    optimizer = schedule.optimizer
    if optimizer in ("dpcd", "fsdh", "itq") and not loss.W.any():
        # linear: by Lemma 1 the update with L_0 = 0 flips every wrong sign, and ends
        return np.where(loss.P >= 0.0, 1, -1).astype(np.int8)[loss.which]
    if optimizer in ("fsdh", "itq"):
        raise InvalidInput(f'optimizer="{optimizer}" is a closed form for linear losses only.')
    if optimizer == "dpcd":
        return _dpcd_rows(loss, B, rng, schedule)
    kernels.compile_for(*loss.shape)
    if optimizer == "dcc":
        return _dcc_rows(loss, B)
    return _solve_by_method(loss, B, optimizer, rng, run)


def _dpcd_rows(loss: RowQuadratic, B: CodeMatrix, rng: np.random.Generator, schedule: Schedule) -> CodeMatrix:
    """DPCD in each row, all rows with the same candidates in their neighbourhood searches."""
    if B.size <= FEW_ENTRIES and _at_rest(loss, B):
        return B
    kernels.compile_for(*loss.shape)
    r = B.shape[1]
    m = min(NEIGHBOURHOOD, r)
    candidates = rng.random((CANDIDATES, r)).argpartition(m - 1, axis=1)[:, :m]
    new = np.array(B, dtype=np.int8, order="C")
    flips = np.zeros(len(new), dtype=np.int64)
    alphas = DPCD(alpha=schedule.alpha).alphas
    kernels.dpcd_rows(
        loss.W, loss.Q, loss.P, loss.which, *alphas, schedule.updates, EVERY, candidates, loss.slack, new, flips
    )  # fmt: skip
    return new


def _at_rest(loss: RowQuadratic, B: CodeMatrix) -> bool:
    """Whether no flip improves any row, so that a B-step from there, with its neighbourhood searches, is left out.

    That is the end of the alternation over few label sets, where W fits the labels as soon as code words differ; to
    call the kernel would cost more than to find that out.
    """
    h = B @ loss.W @ loss.W.T
    h -= loss.P[loss.which]
    h *= B
    h -= np.diagonal(loss.Q)  # flipping j changes f by -4 h_j
    largest = float(h.max(initial=0.0))
    return largest == 0.0 or 4.0 * largest <= loss.slack


def _dcc_rows(loss: RowQuadratic, B: CodeMatrix) -> CodeMatrix:
    """Discrete cyclic coordinate descent in each row."""
    new = np.array(B, dtype=np.int8, order="C")
    changed = np.zeros(len(new), dtype=np.int64)
    for _ in range(DCC_SWEEPS):
        kernels.dcc_sweep_rows(loss.Q, loss.P, loss.which, new, changed)
        if not changed.any():
            break
    return new


def _solve_by_method(loss: RowQuadratic, B: CodeMatrix, method: str, rng: np.random.Generator, run: Run) -> CodeMatrix:
    """The best codes that a method of the library finds from B, with the limits its authors suggest."""
    problem = Problem(loss, Free())
    part = run.part(problem, Limits())
    solver = as_solver(method, problem, {}, METHODS)
    with suppress(OutOfTime):
        solver.solve(problem.counting(run.count_evaluation), B.astype(np.float64), rng.spawn(1)[0], part)
    return B if part.best_x is None else part.best_x.astype(np.int8)
