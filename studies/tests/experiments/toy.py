"""A small study with known answers, and a script that runs it: what the kill test kills."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

import flipwise
from flipwise_studies.experiments.cells import Outcome, Skip
from flipwise_studies.experiments.runner import run_studies
from flipwise_studies.experiments.store import Store
from flipwise_studies.experiments.study import Instance, Plan, Study, Task

CELLS = 40


def tasks(plan: Plan) -> Sequence[Task]:
    """Four matrices, ten seeds each; one method fails on one of them and one is skipped."""
    instances = [
        Instance(f"matrix {i}", lambda i=i: np.random.default_rng(i).standard_normal((12, 12))) for i in range(4)
    ]
    return [Task(instance, "dpcd", {"restarts": 2}, seed) for instance in instances for seed in range(CELLS // 4)]


def run(A: Any, task: Task, threads: int) -> Outcome:
    """A small descent; slowed down so that kills fall between, inside and after cells."""
    time.sleep(0.01)
    if task.seed == 3:
        raise Skip("seed 3 is not for this machine")
    if task.seed == 4:
        raise RuntimeError("seed 4 always fails")
    result = flipwise.minimize(A + A.T, seed=task.seed, restarts=task.parameters["restarts"])
    return Outcome(value=result.value, seconds=result.seconds, series={"best": [[0.0, result.value]]})


STUDY = Study("toy", "Toy", "A study for tests.", tasks, run)


def run_all(path: str, **options: Any) -> None:
    """Run the toy study into a store."""
    plan = Plan()
    with Store(path) as store:
        run_studies([(STUDY, list(tasks(plan)))], store, plan, threads=1, **options)


if __name__ == "__main__":
    run_all(sys.argv[1])
