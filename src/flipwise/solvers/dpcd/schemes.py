"""A small portfolio of first-order schemes for any differentiable function, which share the run by success.

No scheme wins everywhere: averaged gradients where many weak slopes must add up (networks), noise that is cooled down
where there are many good valleys (glasses, polynomials), exact single moves where a slope says little (coverage). So
each scheme has a line of its own, the best point it has come to, and goes on from there whenever it is its turn. After
every round the better half of the lines stays, and turns become twice as long; the last line has the rest of the run,
a third and then all of it. Every turn ends with the monotone descent.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.engine.states import check_array
from flipwise.foundation.arrays import Floats
from flipwise.foundation.errors import InvalidFile
from flipwise.model.constraints import is_built_in
from flipwise.model.evaluation import draws_samples
from flipwise.model.problem import Problem
from flipwise.solvers.dpcd.budget import Budget, Pace
from flipwise.solvers.dpcd.finish import descend, improve_singly, restart
from flipwise.solvers.dpcd.nonmonotone import Cooling, Momentum, Tabu, walk

EVALUATIONS = 1000
"""Evaluations at effort 1 when nothing else limits the run; the single moves at its end get at most as many again."""
FEWEST = 200
"""With fewer evaluations than this for each of them, not all schemes are tried."""
SHORTEST = 20
"""Evaluations of the shortest turn."""
FIRST_DESCENT = 4
"""Evaluations of the descent that gives the first answer; what one takes is known only then."""
FIRST_SHARE = 0.015
"""Share of all evaluations that the first turn of each scheme gets."""

Turn = tuple[Floats, float, Status | None]
Scheme = Callable[[Problem, Floats, np.random.Generator, Run, Budget], Turn]


def _normalised(problem: Problem, x: Floats, rng: np.random.Generator, run: Run, budget: Budget) -> Turn:
    return walk(problem, x, rng, run, budget, Momentum(0.97, 0.99, None))


def _averaged(problem: Problem, x: Floats, rng: np.random.Generator, run: Run, budget: Budget) -> Turn:
    return walk(problem, x, rng, run, budget, Momentum(0.97, None, None))


def _cooled(problem: Problem, x: Floats, rng: np.random.Generator, run: Run, budget: Budget) -> Turn:
    return walk(problem, x, rng, run, budget, Cooling(0.7, 0.1))


def _tabu(problem: Problem, x: Floats, rng: np.random.Generator, run: Run, budget: Budget) -> Turn:
    return walk(problem, x, rng, run, budget, Tabu(problem.n))


def _restarted(problem: Problem, x: Floats, rng: np.random.Generator, run: Run, budget: Budget) -> Turn:
    return restart(problem, x, rng, run, budget, singly=False)


def _singly(problem: Problem, x: Floats, rng: np.random.Generator, run: Run, budget: Budget) -> Turn:
    return restart(problem, x, rng, run, budget, singly=True)


SCHEMES: dict[str, Scheme] = {
    "momentum, normalised": _normalised,
    "cooled noise": _cooled,
    "descents": _restarted,
    "single moves": _singly,
    "tabu": _tabu,
    "momentum": _averaged,
}
"""The schemes by name, those first that are tried first where there is time for a few only."""


@dataclass
class Line:
    """The best point that one scheme has come to."""

    x: Floats
    value: float


@dataclass
class Rota:
    """Whose turn it is, for checkpoints; `end` is the evaluation or iteration that ends the run where time does not.

    `index` and `steps` are the line and the length of a turn that has begun; `alone` says whether the last line has had
    its third.
    """

    end: int
    rounds: int
    length: int
    place: int
    order: list[int]
    lines: list[Line]
    rng: np.random.Generator
    index: int = 0
    steps: int = 0
    alone: bool = False

    def check(self, shape: tuple[int, ...]) -> None:
        """Refuse what no portfolio on arrays of this shape can have left behind."""
        for line in self.lines:
            check_array("x", line.x, shape, signs=True)
        if not set(self.order) <= set(range(len(self.lines))) or not 0 <= self.place < len(self.order):
            raise InvalidFile("the checkpoint's order of schemes is not one.")
        if self.length < 1 or self.rounds < 0 or self.steps < 0 or not 0 <= self.index < len(self.lines):
            raise InvalidFile(f"the checkpoint's turns have a length of {self.length} in round {self.rounds}.")


class _Allowance:
    """The evaluations that the run has left, as far as can be told."""

    def __init__(self, run: Run, effort: float) -> None:
        self.run = run
        self.timed = run.limits.time_limit is not None and run.limits.max_iterations is None
        most = run.limits.max_iterations
        self.end = run.iterations + most if most is not None else run.evaluations + max(1, int(EVALUATIONS * effort))

    @property
    def left(self) -> int:
        """Evaluations until the end."""
        if self.timed:
            cost = self.run.seconds / max(1, self.run.evaluations)
            return int(max(0.0, self.run.seconds_left) / max(cost, 1e-7))
        counted = self.run.evaluations if self.run.limits.max_iterations is None else self.run.iterations
        return max(0, self.end - counted)

    def budget(self, steps: int) -> Budget:
        """A turn of about so many evaluations."""
        if not self.timed:
            return Budget(max(1, steps))
        cost = self.run.seconds / max(1, self.run.evaluations)
        return Budget(max(1, steps), max(0.0, min(self.run.seconds_left, steps * cost)))


def schemes_for(problem: Problem, evaluations: int) -> list[str]:
    """The names of the schemes that fit a problem and so many evaluations."""
    names = [name for name in SCHEMES if name != "momentum"]  # the normalised form was better wherever either led
    if draws_samples(problem.objective):  # differences of sampled values say nothing about a single move
        names = ["momentum, normalised", "momentum", "cooled noise"]
    elif not is_built_in(problem.constraint):
        names.remove("single moves")
    return names[: max(1, evaluations // FEWEST)]


def improve_by_schemes(problem: Problem, x: Floats, rng: np.random.Generator, run: Run, effort: float) -> Status:
    """A first answer by the monotone descent from `x`, then the schemes until a limit."""
    before = run.resume(Rota)
    allowance = _Allowance(run, effort)
    if before is None:
        _, _, stop = descend(problem, x, run, FIRST_DESCENT)
        if stop is not None:
            return stop
        evaluations = allowance.left
        schemes = [SCHEMES[name] for name in schemes_for(problem, evaluations)]
        length = max(SHORTEST, int(FIRST_SHARE * evaluations))
        lines = [Line(x.copy(), math.inf) for _ in schemes]  # each from the start: they are judged by what they find
        rota = Rota(allowance.end, 0, length, 0, list(range(len(schemes))), lines, rng)
    else:
        before.check(problem.shape)
        rota = before
        allowance.end = rota.end
        rng.bit_generator.state = rota.rng.bit_generator.state
        rota.rng = rng
        schemes = [SCHEMES[name] for name in schemes_for(problem, FEWEST * len(rota.lines))]
    while allowance.left > 0:
        stop = _take_turn(problem, run, allowance, rota, schemes)
        if stop is not None:
            return stop
        rota.place += 1
        if rota.place >= len(rota.order):
            rota.order.sort(key=lambda index: rota.lines[index].value)
            staying = (len(rota.order) + (rota.length > SHORTEST << rota.rounds)) // 2  # one more where there is time
            rota.order = rota.order[: max(1, staying)]
            rota.place, rota.length, rota.rounds = 0, 2 * rota.length, rota.rounds + 1
    return _looked_around(problem, run, max(1, int(EVALUATIONS * effort)))


def _take_turn(problem: Problem, run: Run, allowance: _Allowance, rota: Rota, schemes: list[Scheme]) -> Status | None:
    """Let the next line go on; returns why to stop, if so."""
    if not rota.steps:  # otherwise an earlier part of a resumed run has begun this turn
        _plan_turn(problem, allowance.left, rota)
    line = rota.lines[rota.index]
    if run.resumption and not run.resuming:
        run.keep(rota)
    with run.inside(rota):
        budget = allowance.budget(rota.steps)
        found, value, stop = schemes[rota.index](problem, line.x.copy(), rota.rng, run, budget)
        if stop is None and not draws_samples(problem.objective):
            found, value, stop = descend(problem, found, run, max(4, rota.steps // 5))
    if value < line.value:
        rota.lines[rota.index] = Line(found.copy(), value)
    rota.steps = 0
    rota.alone = len(rota.order) == 1
    return stop


def _plan_turn(problem: Problem, left: int, rota: Rota) -> None:
    """Whose turn it is, and how long."""
    rota.index, rota.steps = rota.order[rota.place], rota.length
    if len(rota.order) == 1:
        rota.steps = left if rota.alone else max(rota.length, left // 3)
    if 2 * rota.steps > left:  # what is left would not do for another turn
        rota.index = min(rota.order, key=lambda index: rota.lines[index].value)
        rota.steps = max(1, left - int(math.log2(problem.n)) - 4)


def _looked_around(problem: Problem, run: Run, evaluations: int) -> Status:
    """Single moves from the best point, as many as `evaluations` allow; says what is known about it."""
    if run.limits.max_iterations is not None:
        return Status.ITERATION_LIMIT
    if draws_samples(problem.objective) or not is_built_in(problem.constraint):
        return Status.EFFORT
    assert run.best_x is not None
    pace = Pace(Budget(evaluations), run)
    _, _, all_of_them, stop = improve_singly(problem, run.best_x.copy(), run.best_value, run, pace)
    if stop is not None:
        return stop
    if pace.spent >= 1.0:
        return Status.EFFORT
    return Status.LOCAL_OPTIMUM if all_of_them else Status.PARTIAL_OPTIMUM
