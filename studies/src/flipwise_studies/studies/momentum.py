"""The momentum variants the paper proposes as future work, against the plain gradient, from the same starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

import flipwise
from flipwise_studies.experiments.cells import Outcome
from flipwise_studies.experiments.curves import run_curves
from flipwise_studies.experiments.study import Instance, Plan, Study, Task

VARIANTS = ("plain", "momentum", "adam", "adagrad")


def tasks(plan: Plan) -> Sequence[Task]:
    """Each variant on a dense and on a sparse spin glass; free, and with half of the variables at +1."""
    n_dense, n_sparse, seeds = (400, 10_000, 3) if plan.quick else (2_000, 200_000, 5)
    instances = [
        Instance(f"dense glass, n = {n_dense}", lambda: dense_glass(n_dense)),
        Instance(f"sparse glass, n = {n_sparse}", lambda: sparse_glass(n_sparse)),
    ]
    limit = plan.limit(20.0)
    return [
        Task(instance, f"dpcd-{variant}", {"balanced": balanced, "variant": variant, "time_limit": limit}, seed)
        for instance in instances
        for balanced in (False, True)
        for variant in VARIANTS
        for seed in range(seeds)
    ]


def dense_glass(n: int) -> Any:
    """A Sherrington-Kirkpatrick glass: Gaussian couplings between all pairs, scaled to energies of order n."""
    couplings = np.triu(np.random.default_rng(0).standard_normal((n, n)), 1)
    return (couplings + couplings.T) / (2 * np.sqrt(n))


def sparse_glass(n: int, degree: int = 6) -> Any:
    """Couplings of -1 and +1 on a random graph with `degree` neighbours on average."""
    rng = np.random.default_rng(0)
    ends = rng.integers(0, n, (2, n * degree // 2))
    ends = ends[:, ends[0] != ends[1]]
    one_way = sp.coo_array((rng.choice([-0.5, 0.5], ends.shape[1]), (ends[0], ends[1])), shape=(n, n)).tocsr()
    return sp.csr_array(one_way + one_way.T)


def run(couplings: Any, task: Task, threads: int) -> Outcome:
    """Descend once; the start depends on the seed alone, so that variants compare point by point."""
    n = couplings.shape[0]
    result = flipwise.minimize(
        flipwise.Quadratic(couplings),
        constraint=flipwise.Cardinality(n // 2) if task.parameters["balanced"] else flipwise.Free(),
        method="dpcd",
        variant=task.parameters["variant"],
        seed=task.seed,
        threads=threads,
        time_limit=task.parameters["time_limit"],
    )
    return Outcome(
        value=result.value,
        bound=result.bound,
        seconds=result.seconds,
        metrics={"iterations": float(result.iterations), "value_per_variable": result.value / n},
        series=run_curves(result.trace),
    )


def warm(task: Task) -> None:
    """Compile the kernels of both kinds of matrix."""
    for couplings in (dense_glass(400), sparse_glass(30_000)):
        for constraint in (flipwise.Free(), flipwise.Cardinality(couplings.shape[0] // 2)):
            flipwise.minimize(flipwise.Quadratic(couplings), constraint=constraint, seed=0, max_iterations=3)


STUDY = Study(
    name="momentum",
    title="Momentum variants",
    question="The paper's outlook: does a running average of gradients (momentum, Adam, Adagrad) in place of the "
    "gradient lead to better points? Energy per spin of random glasses; lower is better.",
    tasks=tasks,
    run=run,
    warm=warm,
)
