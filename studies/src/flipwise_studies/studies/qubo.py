"""QUBO and Max-Cut against other samplers: the same time, the same single thread, every answer evaluated again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flipwise
from flipwise_studies.experiments.cells import Outcome
from flipwise_studies.experiments.curves import run_curves
from flipwise_studies.experiments.study import Plan, Study, Task
from flipwise_studies.studies.qubo_instances import (
    GSET,
    Case,
    beasley,
    gset,
    palubeckis,
    random_cut,
    random_qubo,
    torus_cut,
)
from flipwise_studies.studies.qubo_peers import PEERS, solve_with_peer

OURS = ("flipwise", "dpcd")
"""The portfolio that `solve_qubo` runs, and DPCD alone from as many random starts as the time allows."""


def tasks(plan: Plan) -> Sequence[Task]:
    """Generated models, or instances of Gset, OR-Library and Palubeckis."""
    if plan.quick:
        instances, limit = [random_qubo(300), random_cut(800), torus_cut(30)], plan.limit(1.5)
    else:
        instances = [gset(plan, name) for name in GSET]
        instances += [beasley(plan, "bqp1000", 1), palubeckis(plan)]
        limit = plan.limit(5.0)
    return [Task(case, method, {"time_limit": limit}) for case in instances for method in (*OURS, *PEERS)]


def run(case: Case, task: Task, threads: int) -> Outcome:
    """Best value within the time limit on one thread; peers have no use for more."""
    limit = task.parameters["time_limit"]
    model = case.model.to_binary()
    if task.method in PEERS:
        energy, seconds, history = solve_with_peer(task.method, model, limit, task.seed)
        series = {"best": [[t, -e] for t, e in history]}
    else:
        options: dict[str, Any] = {"method": "portfolio"}
        if task.method == "dpcd":
            options = {"method": "dpcd", "restarts": 1_000_000}
        result = flipwise.minimize(model.objective(), seed=task.seed, threads=1, time_limit=limit, **options)
        energy, seconds, series = model.energy(result.x), result.seconds, run_curves(result.trace, scale=-1.0)
    metrics: dict[str, float] = {}
    if case.best_known is not None:
        metrics = {
            "best_known": case.best_known,
            "percent_below_best_known": 100 * (case.best_known + energy) / abs(case.best_known),
        }
    return Outcome(value=-energy, sense="max", seconds=seconds, metrics=metrics, series=series)


def warm(task: Task) -> None:
    """Compile our kernels on models of both kinds."""
    if task.method in OURS:
        for instance in (random_qubo(300), torus_cut(30)):
            run(instance.data, Task(instance, task.method, {"time_limit": 1.0}), 1)


STUDY = Study(
    name="qubo",
    title="QUBO and Max-Cut against other samplers",
    question="The best value within one time limit on one thread. flipwise is the portfolio behind solve_qubo; dpcd is "
    "DPCD alone, restarted until the time is over. Converting the model counts for everyone.",
    tasks=tasks,
    run=run,
    warm=warm,
)
