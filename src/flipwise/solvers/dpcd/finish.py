"""The monotone descent that ends a scheme, by as few evaluations as can be, and restarts of it.

The coordinates whose slope promises something, steepest first: all of them, then the first half, a quarter, ... until f
falls; then from there again (`descend`). Where even the steepest alone does not help, single moves can be tried in the
order of their promise, at one evaluation each (`improve_singly`); a slope says little where f is far from linear.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import chain

import numpy as np

from flipwise.engine.limits import OutOfTime, Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats, Ints
from flipwise.model.constraints import allowed_moves, is_built_in
from flipwise.model.evaluation import Slopes, evaluator
from flipwise.model.flips import single_moves
from flipwise.model.problem import Problem
from flipwise.solvers.dpcd.budget import Budget, Meter
from flipwise.solvers.dpcd.exchanges import circles, exchanges
from flipwise.solvers.dpcd.principal import PrincipalMoves

LEAST = 10
"""Evaluations that a descent gets in any case."""
PARTNERS = 3
"""Swaps that are tried of those whose first half is the same."""
SHARES = (0.1, 0.03, 0.3, 0.01)
"""Share of the coordinates that are turned before another descent, in turn."""


def descend(problem: Problem, x: Floats, run: Run, most: float = math.inf) -> tuple[Floats, float, Status | None]:
    """Descend from `x` by about `most` evaluations; returns where it ends, its value, and why to stop."""
    moves = PrincipalMoves(problem.constraint, problem.shape)
    evaluate = evaluator(problem.objective)
    end = run.evaluations + most
    f, g = evaluate(x)
    stop = run.step(x, f)
    while stop is None and run.evaluations < end:
        steeper = _lower_by_batches(evaluate, moves, x, f, g) or _lower_by_exchanges(evaluate, moves, x, f, g)
        if steeper is None:
            break
        x, f, g, flips = steeper
        stop = run.step(x, f, flips=flips)
    return x, f, stop


def _lower_by_batches(
    evaluate: Callable[[Floats], tuple[float, Slopes]], moves: PrincipalMoves, x: Floats, f: float, g: Slopes
) -> tuple[Floats, float, Slopes, int] | None:
    """The first of ever shorter batches that lowers f, carried out; None when none does."""
    batch = moves.ordered(x, g)
    while len(batch):
        flips = batch if moves.built_in else allowed_moves(moves.constraint, x, batch)
        y = x.copy()
        y.reshape(-1)[flips.reshape(-1)] *= -1.0
        if flips.size:
            value, slopes = evaluate(y)
            if value < f - 1e-12 * abs(f):
                return y, value, slopes, int(flips.size)
        batch = batch[: len(batch) // 2]
    return None


def _lower_by_exchanges(
    evaluate: Callable[[Floats], tuple[float, Slopes]], moves: PrincipalMoves, x: Floats, f: float, g: Slopes
) -> tuple[Floats, float, Slopes, int] | None:
    """The same for circles of exchanges among groups with one choice each."""
    batch = circles(x, g, moves.labels)
    while batch:
        flips = np.concatenate(batch)
        y = x.copy()
        y.reshape(-1)[flips] *= -1.0
        value, slopes = evaluate(y)
        if value < f - 1e-12 * abs(f):
            return y, value, slopes, int(flips.size)
        batch = batch[: len(batch) // 2]
    return None


def perturbed(problem: Problem, x: Floats, share: float, rng: np.random.Generator) -> Floats:
    """`x` with about this share of its coordinates turned, made feasible again."""
    shape = problem.shape
    share = max(share, 1.5 / problem.n)
    if not problem.constraint.swaps:
        turned = np.where(rng.random(shape) < share, -x, x)
        return turned if problem.constraint.violation(turned) is None else problem.constraint.project(turned)
    ones, others = np.flatnonzero(x > 0), np.flatnonzero(x < 0)
    if is_built_in(problem.constraint) and int(problem.constraint.labels(shape).max(initial=0)) == 0:
        few = min(ones.size, others.size, max(2, round(share * min(ones.size, others.size))))
        turned = x.copy()
        turned.reshape(-1)[np.concatenate([rng.choice(side, few, replace=False) for side in (ones, others)])] *= -1.0
        return turned
    disturbed = x + 4.0 * rng.standard_normal(shape) * (rng.random(shape) < share)
    return problem.constraint.project(disturbed)


def improve_singly(
    problem: Problem, x: Floats, f: float, run: Run, meter: Meter, *, fully: bool = True
) -> tuple[Floats, float, bool, Status | None]:
    """Make the single moves that lower f, most promising first; says whether all were looked at and none does.

    Under counts swaps in two steps come first, and without `fully` those alone where they can be made.
    """
    labels = problem.constraint.labels(problem.shape) if problem.constraint.swaps else None
    evaluate = evaluator(problem.objective)
    if labels is not None:
        two_steps = TwoSteps(evaluate, labels)
        x, f, stop = two_steps.descend(x, f, run, meter)
        if stop is not None or (two_steps.possible and not fully):
            return x, f, False, stop
    while True:
        g = evaluate(x)[1]
        meter.step()
        candidates, all_of_them = single_moves(x, g, labels)
        improved = False
        for move in chain(candidates, exchanges(x, g, labels)):
            if meter.spent >= 1.0:
                return x, f, False, None
            flat = x.reshape(-1)
            if move.size > 1 and not (flat[move[0::2]] > flat[move[1::2]]).all():
                continue  # an earlier move of this pass has turned one of them
            flat[move] *= -1.0
            value = problem.objective.value(x)
            meter.step()
            if not value < f - 1e-12 * abs(f):
                flat[move] *= -1.0
                continue
            f, improved = value, True
            stop = run.step(x, f, flips=move.size)
            if stop is not None:
                return x, f, False, stop
        if not improved:
            return x, f, all_of_them, None


class TwoSteps:
    """Swaps whose second half is chosen by the slopes after the first.

    Sites that serve the same clients, sets that cover the same items: what could take the place of an entry shows only
    when that is gone. So one evaluation lies between the two flips, at a point with one entry too few (or too many,
    where fewer are -1). A function that fails there is not asked again.
    """

    def __init__(self, evaluate: Callable[[Floats], tuple[float, Slopes]], labels: Ints) -> None:
        self.evaluate = evaluate
        self.labels = labels
        self.possible = True

    def descend(self, x: Floats, f: float, run: Run, meter: Meter) -> tuple[Floats, float, Status | None]:
        """Swap while that lowers f; from each entry of the smaller side, those first whose flip looks best."""
        side = 1.0 if np.count_nonzero(x > 0) * 2 <= x.size else -1.0
        while True:
            g = self.evaluate(x)[1].reshape(-1)
            meter.step()
            flat = x.reshape(-1)
            ready = np.flatnonzero(flat == side)
            improved = False
            for i in ready[np.argsort(-side * g[ready], kind="stable")]:
                if meter.spent >= 1.0 or not self.possible:
                    return x, f, None
                found = self._best_with_partner(x, int(i), side, f, meter)
                if found is None:
                    continue
                x, f, improved = *found, True
                stop = run.step(x, f, flips=2)
                if stop is not None:
                    return x, f, stop
            if not improved:
                return x, f, None

    def _best_with_partner(self, x: Floats, i: int, side: float, f: float, meter: Meter) -> tuple[Floats, float] | None:
        """The best point with i and one of its most promising partners flipped, and its value; None without gain."""
        y = x.copy()
        flat = y.reshape(-1)
        flat[i] = -side
        meter.step()
        try:
            with np.errstate(all="ignore"):
                value, slopes = self.evaluate(y)
        except OutOfTime:
            raise
        except Exception:  # whatever it is, it comes of a point that the function was never promised
            self.possible = False
            return None
        others = np.flatnonzero((flat == -side) & (self.labels == self.labels[i]))
        others = others[others != i]
        promised = value + 2.0 * side * slopes.reshape(-1)[others]
        if others.size > PARTNERS:
            best = np.argpartition(promised, PARTNERS)[:PARTNERS]
            others, promised = others[best], promised[best]
        found = None
        lowest = f - 1e-12 * abs(f)
        for j, hoped in zip(others.tolist(), promised.tolist(), strict=True):
            if hoped < lowest:
                z = y.copy()
                z.reshape(-1)[j] *= -1.0
                value = self.evaluate(z)[0]
                meter.step()
                if value < lowest:
                    found, lowest = z, value
        return None if found is None else (found, lowest)


def restart(
    problem: Problem, x: Floats, rng: np.random.Generator, run: Run, budget: Budget, *, singly: bool
) -> tuple[Floats, float, Status | None]:
    """Descents from points near the best of them, beginning near `x`; with `singly` to the end of single moves."""
    singly = singly and is_built_in(problem.constraint)
    meter = Meter(budget, run)
    best_x, best_value, base, turn = x, np.inf, x, 0
    while meter.spent < 1.0:
        before = run.evaluations
        most = max(LEAST, int((1.0 - meter.spent) * budget.steps))
        if singly and problem.constraint.swaps:
            most = 1  # without batches first, swaps in two steps stay nearer by
        found, value, stop = descend(problem, perturbed(problem, base, SHARES[turn % len(SHARES)], rng), run, most)
        for _ in range(run.evaluations - before):
            meter.step()
        if stop is None and singly:
            found, value, _, stop = improve_singly(problem, found, value, run, meter, fully=False)
        if value < best_value:
            best_x, best_value, base = found, value, found
        if stop is not None:
            return best_x, float(best_value), stop
        turn += 1
    return best_x, float(best_value), None
