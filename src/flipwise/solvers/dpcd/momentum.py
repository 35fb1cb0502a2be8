"""DPCD with momentum, not monotone: the discrete counterpart of momentum and Adam that the paper leaves to the future.

    m <- decay * m + (1 - decay) * g                                                                            (1)
    v <- decay_squares * v + (1 - decay_squares) * g^2                                                          (2)
    flip the q coordinates with the largest x_i m_i / sqrt(v_i) > 0, whatever f does; m <- 0 there                (3)

q falls from a share of n to 1. For binary networks the form without (2) and with a threshold in the place of q is
known as Bop (Helwegen et al., NeurIPS 2019).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats
from flipwise.foundation.checks import check_flags, check_numbers, check_wholes, is_number
from flipwise.foundation.errors import InvalidInput
from flipwise.model.evaluation import draws_samples
from flipwise.model.problem import Problem
from flipwise.solvers.dpcd.budget import budget_within
from flipwise.solvers.dpcd.finish import descend
from flipwise.solvers.dpcd.nonmonotone import Cooling, Momentum, walk
from flipwise.solvers.dpcd.relaxation import relax


@dataclass(frozen=True)
class MomentumDPCD:
    """The method "momentum": the largest averaged slopes flip, the best point met is kept, then DPCD descends.

    Parameters
    ----------
    decay, decay_squares
        Of the averages of gradients and of squared gradients.
    normalised
        Divide the average by the root of the mean square, as Adam does.
    share
        The share of coordinates that flip in the first step; by default such that each could flip about three times.
    steps
        Evaluations when there is no limit; with `time_limit` or `max_iterations` nine tenths of those.

    Examples
    --------
    >>> import flipwise, numpy as np
    >>> flipwise.minimize(1.0 - np.eye(6), method=flipwise.MomentumDPCD(steps=50), seed=0).value
    -6.0
    """

    name: ClassVar[str] = "momentum"
    decay: float = 0.97
    decay_squares: float = 0.99
    normalised: bool = True
    share: float | None = None
    steps: int = 1000

    def __post_init__(self) -> None:
        check_flags(self, "normalised")
        check_wholes(self, "steps")
        check_numbers(self, "decay", "decay_squares", least=0.0, most=0.99999)
        if self.share is not None and not (is_number(self.share) and 0.0 < self.share <= 1.0):
            raise InvalidInput(f"`share` must be None or a number above 0 and of at most 1, got {self.share!r}.")

    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Walk from `x`, then descend."""
        rule = Momentum(self.decay, self.decay_squares if self.normalised else None, self.share)
        found, _, stop = walk(problem, x, rng, run, budget_within(run, self.steps), rule)
        return _descended_from(problem, found, run, stop)


@dataclass(frozen=True)
class CooledDPCD:
    """The method "cooled": coordinates flip by their slopes with noise that is cooled down, then DPCD descends.

    Parameters
    ----------
    hot
        The first temperature, in units of the root mean square of the first gradient.
    share
        The share of coordinates that flip in the first step at most; it falls to one coordinate.
    steps
        Evaluations when there is no limit; with `time_limit` or `max_iterations` nine tenths of those.

    Examples
    --------
    >>> import flipwise, numpy as np
    >>> flipwise.minimize(1.0 - np.eye(6), method=flipwise.CooledDPCD(steps=50), seed=0).value
    -6.0
    """

    name: ClassVar[str] = "cooled"
    hot: float = 0.7
    share: float = 0.1
    steps: int = 1000

    def __post_init__(self) -> None:
        check_wholes(self, "steps")
        check_numbers(self, "hot", above=0.0)
        check_numbers(self, "share", above=0.0, most=1.0)

    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Walk from `x`, then descend."""
        budget = budget_within(run, self.steps)
        found, _, stop = walk(problem, x, rng, run, budget, Cooling(self.hot, self.share))
        return _descended_from(problem, found, run, stop)


@dataclass(frozen=True)
class MeanField:
    """The method "mean-field": the annealed relaxation of `dpcd.relaxation`, then DPCD descends.

    It looks at points inside the cube, where the function must be defined too.

    Parameters
    ----------
    hot
        The first temperature, in units of the root mean square of the gradient at the start.
    rate
        How far the fields move towards their new values in one step.
    steps
        Evaluations when there is no limit; with `time_limit` or `max_iterations` nine tenths of those.

    Examples
    --------
    >>> import flipwise, numpy as np
    >>> flipwise.minimize(1.0 - np.eye(6), method=flipwise.MeanField(steps=50), seed=0).value
    -6.0
    """

    name: ClassVar[str] = "mean-field"
    hot: float = 1.5
    rate: float = 0.2
    steps: int = 1000

    def __post_init__(self) -> None:
        check_wholes(self, "steps")
        check_numbers(self, "hot", above=0.0)
        check_numbers(self, "rate", above=0.0, most=1.0)

    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Follow the fields, then descend."""
        if not run.resuming:
            run.offer(x, problem.objective.value(x))
        budget = budget_within(run, self.steps)
        found, _, stop = relax(problem, x, rng, run, budget, hot=self.hot, rate=self.rate)
        return _descended_from(problem, found, run, stop)


def _descended_from(problem: Problem, x: Floats, run: Run, stop: Status | None) -> Status:
    """The monotone descent from `x`, unless the run is over."""
    if stop is None and not draws_samples(problem.objective):
        _, _, stop = descend(problem, x, run)
    return Status.CONVERGED if stop is None else stop
