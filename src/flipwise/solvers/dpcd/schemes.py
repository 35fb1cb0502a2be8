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
from dataclasses import dataclass, replace

import numpy as np

from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.engine.states import check_array
from flipwise.foundation.arrays import Floats
from flipwise.foundation.errors import InvalidFile
from flipwise.model.constraints import is_built_in
from flipwise.model.evaluation import draws_samples, evaluator
from flipwise.model.problem import Problem
from flipwise.solvers.dpcd.budget import Budget, Meter
from flipwise.solvers.dpcd.finish import descend, improve_singly, restart
from flipwise.solvers.dpcd.nonmonotone import Cooling, Momentum, Sums, Tabu, walk

EVALUATIONS = 1000
"""Evaluations at effort 1 when nothing else limits the run; the single moves at its end get at most as many again."""
FEWEST = 200
"""With fewer evaluations than this for each of them, not all schemes are tried."""
FEW = 600
"""With fewer evaluations than this the last scheme has one turn, and no turn ends with a descent."""
SHORTEST = 20
"""Evaluations of the shortest turn, unless these are a sixth of all."""
FIRST_DESCENT = 2
"""Evaluations of the descent that gives the first answer; what one takes is known only then."""
CLOSE = 0.02
"""Share of the way from the start down to the best within which a line counts as close to it."""
FIRST_SHARE = 0.015
"""Share of all evaluations that the first turn of each scheme gets."""

Turn = tuple[Floats, float, Status | None]
Scheme = Callable[[Problem, Floats, np.random.Generator, Run, Budget], Turn]


def _normalised(problem: Problem, x: Floats, rng: np.random.Generator, run: Run, budget: Budget) -> Turn:
    return walk(problem, x, rng, run, budget, Momentum(0.97, 0.99, None))


def _averaged(problem: Problem, x: Floats, rng: np.random.Generator, run: Run, budget: Budget) -> Turn:
    return walk(problem, x, rng, run, budget, Momentum(0.97, None, None))


def _cooled(problem: Problem, x: Floats, rng: np.random.Generator, run: Run, budget: Budget) -> Turn:
    # From anywhere, for a good point may have much larger slopes than those by which heat is measured; but where they
    # are much smaller there, so is what the walk has to choose between.
    rule = Cooling(0.7, 0.1)
    if not (run.resuming or draws_samples(problem.objective)):
        rule.measure(evaluator(problem.objective)(x)[1])
    return walk(problem, problem.constraint.random(problem.shape, rng), rng, run, budget, rule)


def _summed(problem: Problem, x: Floats, rng: np.random.Generator, run: Run, budget: Budget) -> Turn:
    return walk(problem, x, rng, run, budget, Sums())


def _tabu(problem: Problem, x: Floats, rng: np.random.Generator, run: Run, budget: Budget) -> Turn:
    return walk(problem, x, rng, run, budget, Tabu(problem.n))


def _restarted(problem: Problem, x: Floats, rng: np.random.Generator, run: Run, budget: Budget) -> Turn:
    return restart(problem, x, rng, run, budget, singly=False)


def _singly(problem: Problem, x: Floats, rng: np.random.Generator, run: Run, budget: Budget) -> Turn:
    return restart(problem, x, rng, run, budget, singly=True)


SCHEMES: dict[str, Scheme] = {
    "momentum, normalised": _normalised,
    "summed gradients": _summed,
    "cooled noise": _cooled,
    "descents": _restarted,
    "single moves": _singly,
    "tabu": _tabu,
    "momentum": _averaged,
}
"""The schemes by name, those first that are tried first where there is time for a few only."""
EXACT = ("descents", "single moves", "tabu")
"""Schemes that look at single moves; tried first where there are `MANY` evaluations for each variable."""
MANY = 20


@dataclass
class SchemeLine:
    """The best point that one scheme, which has this name, has come to."""

    scheme: str
    x: Floats
    value: float


@dataclass
class Rota:
    """Whose turn it is, for checkpoints; `end` is the evaluation or iteration that ends the run where time does not.

    `first` is the value of the start, by which others are judged: lines that are `CLOSE` to the best stay.
    `index` and `steps` are the line and the length of a turn that has begun; `alone` says whether the last line has had
    its third, `improved` whether the last turn found anything, `second` is the line that was dropped last.
    """

    end: int
    first: float
    rounds: int
    length: int
    place: int
    order: list[int]
    lines: list[SchemeLine]
    rng: np.random.Generator
    index: int = 0
    steps: int = 0
    alone: bool = False
    improved: bool = True
    second: int = 0

    def check(self, shape: tuple[int, ...]) -> None:
        """Refuse what no portfolio on arrays of this shape can have left behind."""
        for line in self.lines:
            check_array("x", line.x, shape, signs=True)
            if line.scheme not in SCHEMES:
                raise InvalidFile(f"the checkpoint's scheme {line.scheme!r} is not known.")
        if not set(self.order) <= set(range(len(self.lines))) or not 0 <= self.place < len(self.order):
            raise InvalidFile("the checkpoint's order of schemes is not one.")
        if (
            self.length < 1
            or self.rounds < 0
            or self.steps < 0
            or not (0 <= self.index < len(self.lines) > self.second >= 0)
        ):
            raise InvalidFile(f"the checkpoint's turns have a length of {self.length} in round {self.rounds}.")


class _Allowance:
    """The evaluations that the run has left, as far as can be told."""

    def __init__(self, run: Run, effort: float) -> None:
        self.run = run
        self.began = run.seconds, run.evaluations
        self.timed = run.limits.time_limit is not None and run.limits.max_iterations is None
        most = run.limits.max_iterations
        self.wanted = max(1, int(EVALUATIONS * effort))
        if run.limits.max_evaluations is not None:  # half of them, as at the usual end
            self.wanted = max(1, run.limits.max_evaluations // 2)
        self.end = run.iterations + most if most is not None else run.evaluations + self.wanted

    @property
    def left(self) -> int:
        """Evaluations until the end."""
        if self.timed:
            return int(max(0.0, self.run.seconds_left) / self.cost)
        counted = self.run.evaluations if self.run.limits.max_iterations is None else self.run.iterations
        return max(0, self.end - counted)

    def budget(self, steps: int) -> Budget:
        """A turn of about so many evaluations."""
        if not self.timed:
            return Budget(max(1, steps))
        return Budget(max(1, steps), max(0.0, min(self.run.seconds_left, steps * self.cost)))

    @property
    def cost(self) -> float:
        """Seconds of an evaluation and what goes with it, so far."""
        seconds, evaluations = self.began
        return max(1e-7, (self.run.seconds - seconds) / max(1, self.run.evaluations - evaluations))


def schemes_for(problem: Problem, evaluations: int) -> list[str]:
    """The names of the schemes that fit a problem and so many evaluations."""
    names = list(SCHEMES)
    if evaluations >= MANY * problem.n:
        names.sort(key=lambda name: name not in EXACT)
    if draws_samples(problem.objective):  # differences of sampled values say nothing about a single move
        names = ["momentum, normalised", "summed gradients", "momentum", "cooled noise"]
    elif not is_built_in(problem.constraint):
        names.remove("single moves")
    if evaluations < FEWEST:
        return ["summed gradients"]
    return names[: max(2, evaluations // FEWEST)]


def improve_by_schemes(problem: Problem, x: Floats, rng: np.random.Generator, run: Run, effort: float) -> Status:
    """A first answer by the monotone descent from `x`, then the schemes until a limit."""
    before = run.resume(Rota)
    allowance = _Allowance(run, effort)
    if before is None:
        _, _, stop = descend(problem, x, run, FIRST_DESCENT)
        first = run.trace.records[0].value / run.unit
        if stop is not None:
            return stop
        evaluations = allowance.left
        length = max(1, min(SHORTEST, evaluations // 6), int(FIRST_SHARE * evaluations))
        # each from the start: they are judged by what they find
        lines = [SchemeLine(name, x.copy(), math.inf) for name in schemes_for(problem, evaluations)]
        rota = Rota(allowance.end, first, 0, length, 0, list(range(len(lines))), lines, rng)
    else:
        before.check(problem.shape)
        rota = before
        allowance.end = rota.end
        rng.bit_generator.state = rota.rng.bit_generator.state
        rota.rng = rng
    while allowance.left > 0:
        stop = _take_turn(problem, run, allowance, rota)
        if stop is not None:
            return stop
        rota.place += 1
        if rota.place >= len(rota.order):
            _drop_lines(rota, allowance.left)
            rota.place, rota.length, rota.rounds = 0, 2 * rota.length, rota.rounds + 1
    return _looked_around(problem, run, allowance.wanted)


def _drop_lines(rota: Rota, left: int) -> None:
    """Order the lines by what they have reached; the better half goes on, and two that are close while time is left."""
    values = [line.value for line in rota.lines]
    rota.order.sort(key=lambda index: values[index])
    best = values[rota.order[0]]
    near = best + CLOSE * max(0.0, rota.first - best)
    staying = (len(rota.order) + (rota.length > SHORTEST << rota.rounds)) // 2  # one more where there is time
    if len(rota.order) == 2 and values[rota.order[1]] <= near and 12 * rota.length < left:
        staying = 2
    if staying < len(rota.order):
        rota.second = rota.order[max(1, staying) % len(rota.order)]
    rota.order = rota.order[: max(1, staying)]


def _take_turn(problem: Problem, run: Run, allowance: _Allowance, rota: Rota) -> Status | None:
    """Let the next line go on; returns why to stop, if so."""
    if not rota.steps:  # otherwise an earlier part of a resumed run has begun this turn
        _plan_turn(problem, allowance.left, rota)
    line = rota.lines[rota.index]
    if run.resumption and not run.resuming:
        run.keep(rota)
    with run.inside(rota):
        budget = allowance.budget(rota.steps)
        found, value, stop = SCHEMES[line.scheme](problem, line.x.copy(), rota.rng, run, budget)
        if stop is None and rota.steps >= SHORTEST and not draws_samples(problem.objective):
            found, value, stop = descend(problem, found, run, rota.steps // 5 if allowance.left > FEW else 2)
    rota.improved = value < line.value
    if rota.improved:
        rota.lines[rota.index] = SchemeLine(line.scheme, found.copy(), value)
    rota.steps = 0
    rota.alone = len(rota.order) == 1
    return stop


def _plan_turn(problem: Problem, left: int, rota: Rota) -> None:
    """Whose turn it is, and how long."""
    rota.index, rota.steps = rota.order[rota.place], rota.length
    if len(rota.order) == 1:
        rota.steps = left if rota.alone or left < FEW else max(rota.length, left // 3)
        if rota.alone and not rota.improved:  # it finds nothing more: let the next best go on from there
            rota.index = rota.second
            rota.lines[rota.index] = replace(rota.lines[rota.order[0]], scheme=rota.lines[rota.index].scheme)
            return
    if 2 * rota.steps > left:  # what is left would not do for another turn
        rota.index = min(rota.order, key=lambda index: rota.lines[index].value)
        rota.steps = max(1, left - min(left // 20, int(math.log2(problem.n)) + 4))


def _looked_around(problem: Problem, run: Run, evaluations: int) -> Status:
    """Single moves from the best point, as many as `evaluations` allow; says what is known about it."""
    if run.limits.max_iterations is not None:
        return Status.ITERATION_LIMIT
    if draws_samples(problem.objective) or not is_built_in(problem.constraint):
        return Status.EFFORT
    assert run.best_x is not None
    meter = Meter(Budget(evaluations), run)
    _, _, all_of_them, stop = improve_singly(problem, run.best_x.copy(), run.best_value, run, meter)
    if stop is not None:
        return stop
    if meter.spent >= 1.0:
        return Status.EFFORT
    return Status.LOCAL_OPTIMUM if all_of_them else Status.PARTIAL_OPTIMUM
