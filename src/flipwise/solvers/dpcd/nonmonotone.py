"""Walks that are not monotone: flip the principal coordinates whatever f does, and keep the best point met.

Notation, as in `algorithm.py`
    x   the point         g   the gradient of f at x, or of a batch of its terms
    f   the value at x    d   the direction in the gradient's place
    q   how many coordinates flip in one step: it falls from a share of n to 1 while the budget is spent

A rule says what d is and how q falls: averages of past gradients (the momentum and Adam of the paper's future work),
the gradient with noise that is cooled down, sums of gradients, or the gradient without the coordinates that have just
flipped.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.engine.states import check_array
from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.errors import InvalidFile
from flipwise.model.evaluation import Slopes, SupportsSamples, draws_samples, evaluator
from flipwise.model.problem import Problem
from flipwise.solvers.dpcd.budget import Budget, Meter
from flipwise.solvers.dpcd.principal import PrincipalMoves

LOOKS = 20
"""How often a walk on sampled terms looks at all of them."""
TURNOVER = 3.0
"""By default a walk begins with so many flips that it could turn each coordinate about so often."""
LARGEST_SHARE = 0.06
"""But no more than this share of them in one step, unless there are very few steps."""
SHIFTS = 1 << 16
"""Places where a step's noise can begin."""
_TINY = 1e-30


@dataclass
class WalkState:
    """Where a walk stands, for checkpoints."""

    x: Floats
    best_x: Floats
    best_value: float
    spent: float
    rng: np.random.Generator
    memory: dict[str, Any]

    def check(self, shape: tuple[int, ...]) -> None:
        """Refuse what no walk on arrays of this shape can have left behind."""
        check_array("x", self.x, shape, signs=True)
        check_array("best_x", self.best_x, shape, signs=True)
        for name, value in self.memory.items():
            if isinstance(value, np.ndarray):
                check_array(name, value, shape)
            elif not isinstance(value, int | float) or not math.isfinite(value):
                raise InvalidFile(f"the checkpoint's `{name}` must be a number, found {value!r}.")
        if not (math.isfinite(self.best_value) and self.spent >= 0.0):
            raise InvalidFile("the checkpoint's value or the share that is spent is out of range.")


class Momentum:
    """d = m, an average of past gradients; normalised it is divided by the root of their mean squares.

    The average begins anew where a coordinate flips, or the old reasons would flip it back at once.
    """

    def __init__(self, decay: float, decay_squares: float | None, share: float | None) -> None:
        self.decay = decay
        self.decay_squares = decay_squares
        self.share = share
        self.memory: dict[str, Any] = {}

    def direction(self, g: Slopes, spent: float, rng: np.random.Generator) -> Slopes:
        """Take a gradient in; returns d."""
        m = self.memory.setdefault("m", np.zeros_like(g))
        m *= self.decay
        m += (1.0 - self.decay) * g
        if self.decay_squares is None:
            return np.asarray(m)
        v = self.memory.setdefault("v", np.zeros_like(g))
        v *= self.decay_squares
        v += (1.0 - self.decay_squares) * (g * g)
        return np.asarray(m / (np.sqrt(v) + _TINY))

    def flips(self, n: int, spent: float, steps: int) -> int:
        """q: falls geometrically to 1."""
        share = min(max(LARGEST_SHARE, 1.0 / steps), TURNOVER / steps) if self.share is None else self.share
        first = max(1.0, n * share)
        return max(1, int(first ** (1.0 - spent)))

    def choose(self, moves: PrincipalMoves, x: Floats, d: Slopes, q: int, rng: np.random.Generator) -> Ints:
        """The q largest x_i d_i."""
        return moves.choose(x, d, q)

    def flipped(self, chosen: Ints) -> None:
        """Forget the average of the coordinates that have flipped."""
        self.memory["m"].reshape(-1)[chosen] = 0.0


class Cooling:
    """d = g with noise: a flip of cost c looks good with probability 1 / (1 + exp(c / T)); any q of those are made.

    T falls linearly from `hot` to a fourteenth of it, in units of the root mean square of the first gradient, or of one
    that was measured before and is smaller.
    """

    COLD = 1.0 / 14.0

    def __init__(self, hot: float, share: float) -> None:
        self.hot = hot
        self.share = share
        self.memory: dict[str, Any] = {}

    def measure(self, g: Slopes) -> None:
        """Lower the unit of heat to the root mean square of `g`."""
        size = float(np.sqrt(np.mean(np.square(g, dtype=np.float64))))
        self.memory["scale"] = min(size, self.memory.get("scale", size))

    def direction(self, g: Slopes, spent: float, rng: np.random.Generator) -> Slopes:
        """The gradient with noise of temperature T."""
        if not self.memory.get("begun"):
            self.measure(g)
            self.memory["begun"] = 1
        T = self.memory["scale"] * self.hot * (1.0 + (self.COLD - 1.0) * min(spent, 1.0))
        first = int(rng.integers(SHIFTS))
        noise = _logistic_draws(SHIFTS + g.size)[first : first + g.size].reshape(g.shape)
        return np.asarray(g + g.dtype.type(0.5 * T) * noise)  # a flip costs -2 x_i g_i

    def flips(self, n: int, spent: float, steps: int) -> int:
        """q: falls linearly to 1."""
        return max(1, int(n * self.share * (1.0 - spent)))

    def choose(self, moves: PrincipalMoves, x: Floats, d: Slopes, q: int, rng: np.random.Generator) -> Ints:
        """Any q of those whose x_i d_i is positive."""
        return moves.choose(x, d, q, rng)

    def flipped(self, chosen: Ints) -> None:
        """Nothing is remembered."""


@lru_cache(maxsize=2)
def _logistic_draws(size: int) -> npt.NDArray[np.float32]:
    """So many draws of the logistic distribution, always the same: a step takes a stretch of them from anywhere."""
    u = np.random.default_rng(0).random(size, dtype=np.float32)
    np.clip(u, 1e-7, 1.0 - 1e-7, out=u)
    noise: npt.NDArray[np.float32] = np.log(u / (1.0 - u))
    return noise


class Sums:
    """The sign of minus a sum of averaged gradients, each entry divided by its own and by the common root mean square.

    Where f is a maximum of many slopes, each gradient shows one of them only; their sum knows all. What is summed
    begins small and with the signs of the first point. With the own root alone it is how networks with binary weights
    are trained (straight-through estimation with Adam, Hubara et al. 2016); with the common one an entry counts for
    more where its slope is steeper. The rate falls, but hardly where there are few steps.
    """

    SPREAD, RATE, DECAY, DECAY_SQUARES = 0.1, 0.02, 0.9, 0.99
    SHORT, FASTEST, LONG = 40, 3.0, 300

    def __init__(self) -> None:
        self.rate = 0.0
        self.memory: dict[str, Any] = {"k": 0}

    def direction(self, g: Slopes, spent: float, rng: np.random.Generator) -> Slopes:
        """Take a gradient in; returns by what the sum changes, without the rate."""
        self.memory["k"] += 1
        k = self.memory["k"]
        m = self.memory.setdefault("m", np.zeros_like(g))
        v = self.memory.setdefault("v", np.zeros_like(g))
        m *= self.DECAY
        m += (1.0 - self.DECAY) * g
        v *= self.DECAY_SQUARES
        v += (1.0 - self.DECAY_SQUARES) * (g * g)
        root = np.sqrt(v)
        root += math.sqrt(float(v.mean())) + _TINY
        unbiased = math.sqrt(1.0 - self.DECAY_SQUARES**k) / (1.0 - self.DECAY**k)
        return np.asarray(np.divide(m, root, out=root) * (2.0 * unbiased))

    def flips(self, n: int, spent: float, steps: int) -> int:
        """q: as many as change their sign."""
        falls = min(1.0, steps / self.LONG) * min(1.0, spent)
        self.rate = self.RATE * min(max(1.0, self.SHORT / steps), self.FASTEST) * min(1.0, self.LONG / steps)
        self.rate *= 1.0 - falls
        return n

    def choose(self, moves: PrincipalMoves, x: Floats, d: Slopes, q: int, rng: np.random.Generator) -> Ints:
        """Add to the sum; where it, or under a constraint its projection, has another sign than x."""
        if "w" not in self.memory:
            spread = np.abs(rng.standard_normal(x.shape, dtype=np.float32))
            self.memory["w"] = (self.SPREAD * spread * x).astype(d.dtype)
        w = self.memory["w"]
        w -= d * d.dtype.type(self.rate)
        np.clip(w, -1.0, 1.0, out=w)
        if not moves.built_in:
            return moves.choose(x, -w, q)
        target = w if not moves.constraint.swaps else moves.constraint.project(w)
        return np.flatnonzero((target < 0.0) != (x < 0.0))

    def flipped(self, chosen: Ints) -> None:
        """The sum goes on."""


class Tabu:
    """d = g, one move a step also when it costs; what has flipped stays for a while (Glover 1989).

    After `segment` steps a random part of the coordinates turns, a small one or half of them, and it begins anew; the
    first steps of a segment make many moves at once.
    """

    KICKS = (0.5, 0.03, 0.1)

    def __init__(self, n: int) -> None:
        self.tenure = min(n // 4, n // 50 + 10)
        self.segment = max(60, 4 * n)
        self.memory: dict[str, Any] = {"k": 0, "kicks": 0}

    def direction(self, g: Slopes, spent: float, rng: np.random.Generator) -> Slopes:
        """The gradient itself."""
        self.memory["k"] += 1
        return g

    def flips(self, n: int, spent: float, steps: int) -> int:
        """q: a share in the first quarter of a segment (of all steps, if these are fewer), which falls to 1 there."""
        done = (self.memory["k"] % self.segment) / (0.25 * min(steps, self.segment))
        return max(1, int(max(1.0, 0.1 * n) ** (1.0 - done)))

    def choose(self, moves: PrincipalMoves, x: Floats, d: Slopes, q: int, rng: np.random.Generator) -> Ints:
        """The best move that is allowed; in the beginning of a segment the q best."""
        k = self.memory["k"]
        if k % self.segment == 0:
            share = self.KICKS[self.memory["kicks"] % len(self.KICKS)]
            self.memory["kicks"] += 1
            return moves.choose(x, rng.standard_normal(d.shape), max(2, int(share * moves.n)), rng)
        if q > 1:
            return moves.choose(x, d, q)
        free_at = self.memory.setdefault("free_at", np.zeros(d.shape))
        held = free_at > k
        # Large enough that no held coordinate moves, and one level for all others, so that something always looks good.
        lift = 2.0 * float(np.abs(d).max(initial=0.0)) + _TINY
        chosen = moves.choose(x, np.where(held, -lift * x, d + lift * x), 1)
        free_at.reshape(-1)[chosen] = k + self.tenure + int(rng.integers(10))
        return chosen

    def flipped(self, chosen: Ints) -> None:
        """What has flipped was held when it was chosen."""


Rule = Momentum | Cooling | Sums | Tabu


def walk(
    problem: Problem, x: Floats, rng: np.random.Generator, run: Run, budget: Budget, rule: Rule
) -> tuple[Floats, float, Status | None]:
    """Walk from `x`, which is changed, until the budget is spent; returns the best point, its value, why to stop.

    The best point may be the run's own: it is not to be changed.
    """
    if draws_samples(problem.objective):
        return _walk_on_samples(problem, x, rng, run, budget, rule)
    moves = PrincipalMoves(problem.constraint, problem.shape)
    evaluate = evaluator(problem.objective)
    best_x, best_value, meter = _begin_or_resume(x, rng, run, budget, rule)
    chosen: Ints = np.empty(0, dtype=np.int64)
    while (spent := meter.spent) < 1.0:
        f, g = evaluate(x)
        meter.step()
        d = rule.direction(g, spent, rng)
        flips = chosen.size
        chosen = rule.choose(moves, x, d, rule.flips(moves.n, spent, budget.steps), rng)
        rule.flipped(chosen)
        now = None
        if run.resumption:
            ahead = x.copy()
            ahead.reshape(-1)[chosen] *= -1.0
            best = (x.copy(), f) if f < best_value else (best_x, best_value)
            now = WalkState(ahead, *best, meter.spent, rng, rule.memory)
        stop = run.step(x, f, flips=flips, state=now)
        if f < best_value:  # the run may have copied it already
            best_x, best_value = (run.best_x if run.best_x is not None and run.best_value == f else x.copy()), f
        if stop is not None:
            return best_x, best_value, stop
        x.reshape(-1)[chosen] *= -1.0
    return best_x, best_value, None


def _begin_or_resume(
    x: Floats, rng: np.random.Generator, run: Run, budget: Budget, rule: Rule
) -> tuple[Floats, float, Meter]:
    """Where the walk begins, or where an earlier part of it has come to."""
    before = run.resume(WalkState)
    if before is None:
        return x.copy(), math.inf, Meter(budget, run)
    before.check(x.shape)
    x[...] = before.x
    rng.bit_generator.state = before.rng.bit_generator.state
    rule.memory = before.memory
    return before.best_x, before.best_value, Meter(budget, run, before.spent)


def _walk_on_samples(
    problem: Problem, x: Floats, rng: np.random.Generator, run: Run, budget: Budget, rule: Rule
) -> tuple[Floats, float, Status | None]:
    """The same on gradients of batches; all data are looked at now and then, and at the end."""
    objective = problem.objective
    assert isinstance(objective, SupportsSamples)
    moves = PrincipalMoves(problem.constraint, problem.shape)
    best_x, best_value, meter = _begin_or_resume(x, rng, run, budget, rule)
    flips, looks = 0, int(meter.spent * LOOKS)
    while True:
        spent = meter.spent
        if spent * LOOKS >= looks:
            looks += 1
            f = objective.value(x)
            if f < best_value:
                best_x, best_value = x.copy(), f
            now = WalkState(x, best_x, best_value, meter.spent, rng, rule.memory) if run.resumption else None
            stop = run.step(x, f, flips=flips, state=now)
            flips = 0
            if stop is not None or spent >= 1.0:
                return best_x, best_value, stop
        d = rule.direction(objective.sampled_gradient(x), spent, rng)
        meter.step()
        chosen = rule.choose(moves, x, d, rule.flips(moves.n, spent, budget.steps), rng)
        x.reshape(-1)[chosen] *= -1.0
        rule.flipped(chosen)
        flips += chosen.size
