"""The parts of one iteration of DPCD: direction, thresholds, update, neighbourhood search; and its options checked.

Direction: what takes the gradient's place in the thresholds: itself, or (the paper's future work) an average of past
gradients as a continuous method keeps it. Which flips are made is still decided by their exact effect, so every variant
of the improved algorithm stays monotone.

Update: to the letter of the paper, or keeping only the flips that improve.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.checks import check_whole, check_wholes, is_number
from flipwise.foundation.errors import IncompatibleObjective, InvalidInput
from flipwise.model.constraints import (
    Cardinality,
    Constraint,
    allowed_moves,
    disjoint_moves,
    is_built_in,
)
from flipwise.model.flips import EvaluatedFlips
from flipwise.model.objective import Objective, SupportsExchange, SupportsFlips, SupportsLipschitz
from flipwise.model.quadratic import Quadratic
from flipwise.solvers.dpcd.neighbourhood import SampledSearch
from flipwise.solvers.dpcd.walks import Walk, make_walk

if TYPE_CHECKING:
    from flipwise.solvers.dpcd.algorithm import DPCD

PAPER_SIZE = 5
"""The paper's m."""
_TINY = 1e-12


def check_options(options: DPCD) -> None:
    """Refuse options that make no sense, naming the option."""
    pair = options.alpha if isinstance(options.alpha, tuple | list) else (options.alpha, options.alpha)
    if len(pair) != 2 or not all(is_number(a) and a >= 0 for a in pair):
        raise InvalidInput(f"`alpha` must be a number of at least 0 or a pair of them, got {options.alpha!r}.")
    if options.thresholds not in ("mean", "lipschitz"):
        raise InvalidInput(f'`thresholds` must be "mean" or "lipschitz", got {options.thresholds!r}.')
    if options.epsilon is not None and not (is_number(options.epsilon) and options.epsilon > 0):
        raise InvalidInput(f"`epsilon` must be None or a number above 0, got {options.epsilon!r}.")
    if options.variant not in ("plain", "momentum", "adam", "adagrad"):
        raise InvalidInput(f'`variant` must be "plain", "momentum", "adam" or "adagrad", got {options.variant!r}.')
    check_whole("neighbourhood", options.neighbourhood, 0, optional=True)
    check_wholes(options, "neighbourhood_every", "neighbourhood_samples")
    for name in ("decay", "decay_squares"):
        given = getattr(options, name)
        if not (is_number(given) and 0 <= given < 1):
            raise InvalidInput(f"`{name}` must be at least 0 and below 1, got {given!r}.")


# --- direction -------------------------------------------------------------------------------------------------------


class Direction:
    """From the gradient of this iteration to the direction used in its place, here the gradient itself.

    `memory` holds what a variant remembers of earlier iterations.
    """

    def __init__(self, options: DPCD) -> None:
        self.decay = options.decay
        self.decay_squares = options.decay_squares
        self.memory: dict[str, Any] = {}

    def __call__(self, g: Floats) -> Floats:
        return g


class _Momentum(Direction):
    """m <- decay * m + (1 - decay) * g."""

    def __call__(self, g: Floats) -> Floats:
        m: Floats | None = self.memory.get("m")
        m = g.copy() if m is None else self.decay * m + (1.0 - self.decay) * g
        self.memory["m"] = m
        return m


class _Adam(Direction):
    """Averages of g and g^2 with bias correction: m / sqrt(v)."""

    def __call__(self, g: Floats) -> Floats:
        zero = np.zeros_like(g)
        m: Floats = self.decay * self.memory.get("m", zero) + (1.0 - self.decay) * g
        v: Floats = self.decay_squares * self.memory.get("v", zero) + (1.0 - self.decay_squares) * g * g
        t = int(self.memory.get("t", 0)) + 1
        self.memory.update(m=m, v=v, t=t)
        unbiased = m / (1.0 - self.decay**t)
        return unbiased / (np.sqrt(v / (1.0 - self.decay_squares**t)) + _TINY)


class _Adagrad(Direction):
    """g divided by the root of the sum of its squares so far: coordinates that were often steep count less."""

    def __call__(self, g: Floats) -> Floats:
        squares: Floats = self.memory.get("squares", 0.0) + g * g
        self.memory["squares"] = squares
        return g / (np.sqrt(squares) + _TINY)


_VARIANTS = {"plain": Direction, "momentum": _Momentum, "adam": _Adam, "adagrad": _Adagrad}


def make_direction(options: DPCD) -> Direction:
    """A fresh direction rule, without memory of earlier runs."""
    return _VARIANTS[options.variant](options)


# --- thresholds ------------------------------------------------------------------------------------------------------

# --8<-- [start:thresholds]
Thresholds = Callable[[Floats], tuple[float, float]]
"""From a gradient to (L_1, L_2), which decide the coordinates that are principal: Eq. (5) and Eq. (6) of the paper."""


def mean_thresholds(g: Floats) -> tuple[float, float]:
    """Eq. (6): the averages of the positive entries and of the absolute negative entries; 0 where there is none."""
    n1 = int(np.count_nonzero(g > 0))
    n2 = int(np.count_nonzero(g < 0))
    total, absolute = float(g.sum()), float(np.abs(g).sum())
    L1 = (absolute + total) / (2 * n1) if n1 else 0.0
    L2 = (absolute - total) / (2 * n2) if n2 else 0.0
    return L1, L2


def lipschitz_thresholds(objective: Objective, epsilon: float | None) -> Thresholds:
    """Eq. (5): L_1 = L_2 = L_0 + epsilon, whatever the gradient is."""
    if not isinstance(objective, SupportsLipschitz):
        raise IncompatibleObjective(
            'thresholds="lipschitz" needs an objective with a method `lipschitz()`; '
            f'{type(objective).__name__} has none. Use thresholds="mean" or add the method.'
        )
    L0 = objective.lipschitz().value
    L = L0 + (epsilon if epsilon is not None else max(1e-3 * L0, 1e-12))
    return lambda g: (L, L)


def make_thresholds(objective: Objective, options: DPCD) -> Thresholds:
    """The rule the options ask for."""
    if options.thresholds == "mean":
        return mean_thresholds
    return lipschitz_thresholds(objective, options.epsilon)


# --8<-- [end:thresholds]


# --- update ----------------------------------------------------------------------------------------------------------


class LiteralUpdate:
    """Algorithm 1 to the letter: the gradient as it is, every selected coordinate flipped, the gradient made anew."""

    looked_at_all = False
    """The thresholds do not look at every move."""

    def __init__(self, objective: Objective, constraint: Constraint) -> None:
        self.objective = objective
        self.constraint = constraint

    def gauge(self, x: Floats, g: Floats) -> Floats:
        """The gradient in the gauge that the update works in."""
        return g

    def make(self, x: Floats, g: Floats, moves: Ints, *, follow: bool) -> tuple[int, float]:
        """Carry out moves, `x` and `g` in place; returns (flips, change of f)."""
        moves = allowed_moves(self.constraint, x, disjoint_moves(moves))
        if not moves.size:
            return 0, 0.0
        before = self.objective.value(x)
        x.reshape(-1)[moves.reshape(-1)] *= -1.0
        g[...] = self.objective.gradient(x)
        return moves.size, self.objective.value(x) - before

    def lower(self, alpha: tuple[float, float], flips: int) -> tuple[float, float]:
        """The paper keeps alpha as it is."""
        return alpha

    def finish(self, x: Floats, g: Floats) -> tuple[int, float]:
        """The paper has no step after the thresholds have let nothing through."""
        return 0, 0.0


class ImprovingUpdate:
    """The gauges fixed, alpha lowered until something passes, flips made only where the exact change is negative."""

    LEVELS = 4.0
    """Alpha is divided by this when it is lowered, and is 0 where that would be at most 0.1, the paper's least."""
    FEW = 4
    """Alpha is lowered when an update flips at most one coordinate in so many."""

    def __init__(self, objective: SupportsFlips, constraint: Constraint) -> None:
        self.objective = objective
        self.constraint = constraint
        self.size = int(np.prod(objective.shape))
        self._exchanges = type(constraint) is Cardinality and isinstance(objective, SupportsExchange)
        self._labels = constraint.labels(objective.shape) if constraint.swaps else None

    @property
    def looked_at_all(self) -> bool:
        """Whether `finish` has looked at every single flip or swap there is."""
        return not isinstance(self.objective, EvaluatedFlips) or self.objective.looked_at_all

    def gauge(self, x: Floats, g: Floats) -> Floats:
        """The gradient in the diagonal gauge, where -2 * x_i * result_i is the change of a flip."""
        return self.objective.flip_gradient(x, g)

    def make(self, x: Floats, g: Floats, moves: Ints, *, follow: bool) -> tuple[int, float]:
        """Carry out the moves that improve, `x` and `g` in place; returns (flips, change of f).

        With `follow` also those that they make improving.
        """
        if not moves.size:
            return 0, 0.0
        if self._labels is None:
            return self.objective.flip_improving(x, g, moves, follow=follow)
        swaps, change = self.objective.swap_improving(x, g, moves)
        if follow and self._exchanges:
            more, further = self.objective.exchange(x, g)  # type: ignore[attr-defined]
            swaps, change = swaps + more, change + further
        return 2 * swaps, change

    def lower(self, alpha: tuple[float, float], flips: int) -> tuple[float, float]:
        """The next alpha: lower once an update changes little."""
        if self.FEW * flips > self.size:
            return alpha
        a1, a2 = (0.0 if a <= 0.1 * self.LEVELS else a / self.LEVELS for a in alpha)
        return a1, a2

    def finish(self, x: Floats, g: Floats) -> tuple[int, float]:
        """A single flip or swap that improves, wherever it is; (0, 0.0) when none of those looked at does."""
        if self._labels is not None:
            return self.make(x, g, self.objective.improving_swaps(x, g, self._labels), follow=True)
        improving = np.flatnonzero((x * self.objective.flip_gradient(x, g)).reshape(-1) > 0.0)
        return self.objective.flip_improving(x, g, improving, follow=True)


class CheckedUpdate(ImprovingUpdate):
    """The same under a constraint of somebody else's: what breaks it is taken back, and tried again in halves.

    That all moves together keep it does not say that the improving part of them does.
    """

    looked_at_all = False
    """Moves of another kind than flips and swaps may be open to such a constraint."""

    def make(self, x: Floats, g: Floats, moves: Ints, *, follow: bool) -> tuple[int, float]:
        """Carry out the moves that improve and keep the constraint; never more than these."""
        moves = disjoint_moves(moves)
        before = x.copy(), g.copy()
        flips, change = super().make(x, g, moves, follow=False)
        if flips == 0 or self.constraint.violation(x) is None:
            return flips, change
        x[...], g[...] = before
        if len(moves) == 1:
            return 0, 0.0
        flips, change = self.make(x, g, moves[: len(moves) // 2], follow=False)
        more, further = self.make(x, g, moves[len(moves) // 2 :], follow=False)
        return flips + more, change + further

    def finish(self, x: Floats, g: Floats) -> tuple[int, float]:
        """A single flip or swap that improves and keeps the constraint, as far as was looked."""
        if self._labels is not None:
            return super().finish(x, g)
        return self.make(x, g, np.flatnonzero((x * self.objective.flip_gradient(x, g)).reshape(-1) > 0.0), follow=False)


def make_update(objective: SupportsFlips, constraint: Constraint, literal: bool) -> LiteralUpdate | ImprovingUpdate:
    """The way to carry out an update that fits the options and the constraint."""
    if literal:
        return LiteralUpdate(objective, constraint)
    return (ImprovingUpdate if is_built_in(constraint) else CheckedUpdate)(objective, constraint)


def make_search(options: DPCD, objective: SupportsFlips, constraint: Constraint) -> SampledSearch | Walk:
    """The neighbourhood search that the options ask for: the paper's draw, or on quadratics a walk."""
    paper = options.literal or options.neighbourhood is not None
    if not paper and isinstance(objective, Quadratic):
        walk = make_walk(objective, constraint)
        if walk is not None:
            return walk
    m = PAPER_SIZE if options.neighbourhood is None else options.neighbourhood
    every = options.neighbourhood_every if paper else None
    return SampledSearch(objective, constraint, m, options.neighbourhood_samples, every)
