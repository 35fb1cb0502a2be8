"""DPCD on a similarity loss ||B'MB||^2 - 2<MB, KMB>, K = Z diag(s) Z', without the machinery of a general run.

G = B'MB and U = diag(s) Z'MB are kept up to date by the flips, so an update costs two products (BG and ZU) and the
flips themselves.

This is a second form of `solvers/dpcd/algorithm.py`, held to its iterates by a test: S_plus and S_minus of Eq. (6), of
them the flips whose exact change, from the present G and U, is negative, and alpha lowered by the same rule. It departs
from it in two places: there is no neighbourhood search, and in a large problem the updates end when one has gained less
than a hundredth of what all before it have, not only when nothing moves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.engine.solver import Solver
from flipwise.engine.states import check_array
from flipwise.foundation.arrays import Floats, Ints
from flipwise.hashing.alternation import FitContext, end_round
from flipwise.hashing.codes import CodeMatrix
from flipwise.hashing.gram_loss import GramMatch, Products
from flipwise.minimization import METHODS
from flipwise.model.constraints import Free
from flipwise.model.problem import Problem
from flipwise.solvers.dpcd import DPCD
from flipwise.solvers.dpcd.steps import ImprovingUpdate
from flipwise.solvers.registry import as_solver

LITTLE = 0.01
"""Share of the whole gain below which an update of a large problem is the last."""
LARGE = 100_000
"""With fewer entries than this the updates are cheap, and all are made."""


@dataclass
class Updates:
    """Where a descent stands: codes, products, alphas, and what the updates have gained."""

    x: Floats
    G: Floats
    U: Floats
    alpha1: float
    alpha2: float
    gained: float


@dataclass(frozen=True)
class SimilarityDescent:
    """Principal coordinate updates from `x`, which is changed in place; the run limits their number."""

    name: ClassVar[str] = "dpcd"

    alpha: float | tuple[float, float]
    loss: GramMatch = field(repr=False)
    context: FitContext = field(repr=False)

    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Update until nothing moves or little is gained; every update is reported to `run`."""
        loss, lower = self.loss, ImprovingUpdate(self.loss, problem.constraint).lower
        before = run.resume(Updates)
        if before is None:
            products = loss.products(x)
            alpha, gained = DPCD(alpha=self.alpha).alphas, 0.0
        else:
            check_array("x", before.x, x.shape, signs=True)
            x[...], products = before.x, Products(before.G, before.U)
            alpha, gained = (before.alpha1, before.alpha2), before.gained
        while True:
            with self.context.timed_b_step():
                chosen = principal_coordinates(loss.flip_gradient_from(x, products), x, alpha)
                flips, change = loss.flip_with(x, products, chosen)
            gained -= change
            over = max(alpha) == 0.0 and -change <= (LITTLE * gained if x.size > LARGE else 0.0)
            alpha = lower(alpha, flips)
            run.count_evaluation()
            now = None if over else Updates(x, *products, *alpha, gained)
            stop = end_round(run, x, loss.value_from(products), flips, now)
            if stop is not None:
                return stop
            if over:
                return Status.CONVERGED if flips else Status.LOCAL_OPTIMUM


def principal_coordinates(d: Floats, B: Floats, alpha: tuple[float, float]) -> Ints:
    """S_plus and S_minus of Algorithm 1 as positions, in their order; Eq. (6) in one pass less."""
    if max(alpha) == 0.0:
        return np.flatnonzero(d * B > 0.0)
    above, below = d > 0.0, d < 0.0
    L1 = float(d.sum(where=above)) / max(1, int(np.count_nonzero(above)))
    L2 = -float(d.sum(where=below)) / max(1, int(np.count_nonzero(below)))
    return np.flatnonzero(((d > alpha[0] * L1) & (B > 0.0)) | ((d < -alpha[1] * L2) & (B < 0.0)))


@dataclass(frozen=True)
class LibraryMethod:
    """A method of the library on a similarity loss, its time counted as that of a B-step."""

    method: Solver
    context: FitContext = field(repr=False)

    @property
    def name(self) -> str:
        """The name of the method."""
        return str(getattr(self.method, "name", type(self.method).__name__))

    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Run the method as part of the fit."""
        with self.context.timed_b_step():
            return self.method.solve(problem, x, rng, run)


@dataclass
class CodesSoFar:
    """All that the steps of the originals go on from."""

    x: Floats


def resume_codes(run: Run, x: Floats) -> None:
    """Let `x` be the codes that a checkpoint holds, where there is one."""
    before = run.resume(CodesSoFar)
    if before is not None:
        check_array("x", before.x, x.shape, signs=True)
        x[...] = before.x


@dataclass
class Started:
    """The generator as it was when the first codes had been made."""

    rng: np.random.Generator


@dataclass(frozen=True)
class FromFirstCodes:
    """A solver that begins with codes made by `first_codes(rng, run)`, drawn from the generator of the fit."""

    begins_itself: ClassVar[bool] = True

    solver: Solver
    first_codes: Callable[[np.random.Generator, Run], CodeMatrix] = field(repr=False)
    context: FitContext = field(repr=False)

    @property
    def name(self) -> str:
        """The name of the solver."""
        return str(getattr(self.solver, "name", type(self.solver).__name__))

    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Make the first codes and run the solver from there; `x` is not used."""
        before = run.resume(Started)
        if before is None:
            x = self.first_codes(rng, run).astype(np.float64)
        else:  # the solver has a state of its own to go on from
            x, rng = np.ones(problem.shape), before.rng
        self.context.rng = rng
        with run.inside(Started(rng)):
            return self.solver.solve(problem, x, rng.spawn(1)[0], run)


def similarity_solver(
    loss: GramMatch,
    optimizer: str,
    alpha: float | tuple[float, float],
    original: Solver,
    first_codes: Callable[[np.random.Generator, Run], CodeMatrix],
    context: FitContext,
) -> FromFirstCodes:
    """From the first codes by DPCD, by the steps that the loss was published with, or by a method of the library."""
    solver: Solver
    if optimizer == SimilarityDescent.name:
        solver = SimilarityDescent(alpha, loss, context)
    elif optimizer == getattr(original, "name", None):
        solver = original
    else:
        solver = LibraryMethod(as_solver(optimizer, Problem(loss, Free()), {}, METHODS), context)
    return FromFirstCodes(solver, first_codes, context)
