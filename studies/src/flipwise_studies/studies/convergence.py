"""Lemma 1 of the paper: min 1/2 sum (x_i + beta_i)^2 over {-1, 1}^n with 0 < beta_i < 1.

SGM alternates between x and -x for ever; DPCD with L_1 = L_2 = 1 + epsilon, epsilon < min beta, is at the optimum
(-1, ..., -1) after one step, from every start. The case n = 2 is the paper's figure; n = 1000 shows it is no accident.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

import flipwise
from flipwise.foundation.arrays import Floats
from flipwise_studies.experiments.cells import Outcome
from flipwise_studies.experiments.curves import run_curves
from flipwise_studies.experiments.study import Instance, Plan, Study, Task

STEPS = 10
"""Iterations that are looked at: a cycle of two shows within three."""


def tasks(plan: Plan) -> Sequence[Task]:
    """Every corner of the square as a start, then random starts in 1,000 dimensions."""
    square = Instance("lemma-1, n = 2", lambda: np.array([0.3, 0.6]))
    large = Instance("lemma-1, n = 1000", lambda: np.random.default_rng(1).uniform(0.05, 0.95, 1000))
    starts = [list(corner) for corner in itertools.product((-1, 1), repeat=2)]
    return [Task(square, method, {"start": start}) for method in ("dpcd", "sgm") for start in starts] + [
        Task(large, method, {"start": "random"}, seed) for method in ("dpcd", "sgm") for seed in range(3)
    ]


def run(beta: Floats, task: Task, threads: int) -> Outcome:
    """Follow the route of the method: every point at which it asked for the gradient."""
    route: list[Floats] = []

    def half_squares(x: Floats) -> tuple[float, Floats]:
        if not route or not np.array_equal(route[-1], x):
            route.append(x.copy())
        return 0.5 * float(((x + beta) ** 2).sum()), x + beta

    objective = flipwise.Smooth(half_squares, shape=beta.size, lipschitz=1.0)
    options: dict[str, Any] = {}
    if task.method == "dpcd":
        options = {"literal": True, "thresholds": "lipschitz", "epsilon": float(beta.min()) / 2, "neighbourhood": 0}
    start = None if task.parameters["start"] == "random" else np.array(task.parameters["start"], dtype=float)
    result = flipwise.minimize(
        objective, method=task.method, start=start, seed=task.seed, threads=threads, max_iterations=STEPS, **options
    )
    series = run_curves(result.trace)
    if beta.size == 2:
        series["route"] = [[float(x[0]), float(x[1])] for x in route]
    return Outcome(
        value=result.value,
        bound=0.5 * float(((beta - 1.0) ** 2).sum()),  # the minimum, from the lemma
        seconds=result.seconds,
        metrics={"iterations": result.iterations, "converged": float(result.status.success)},
        series=series,
    )


STUDY = Study(
    name="convergence",
    title="Convergence of DPCD against SGM",
    question="Lemma 1: on a separable quadratic SGM alternates between two points for ever, while DPCD reaches the "
    "optimum in one step from every start.",
    tasks=tasks,
    run=run,
)
