"""Studies of the descent itself: Lemma 1 of the paper, and the momentum variants it proposes as future work."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

import flipwise
from flipwise.foundation.arrays import Floats
from flipwise_studies.experiments.cells import Outcome, run_curves
from flipwise_studies.experiments.study import Instance, Plan, Study, Task

STEPS = 10
"""Iterations that are looked at: a cycle of two shows within three."""


def _lemma_tasks(plan: Plan) -> Sequence[Task]:
    """Every corner of the square as a start, then random starts in 1,000 dimensions."""
    square = Instance("lemma-1, n = 2", lambda: np.array([0.3, 0.6]))
    large = Instance("lemma-1, n = 1000", lambda: np.random.default_rng(1).uniform(0.05, 0.95, 1000))
    starts = [list(corner) for corner in itertools.product((-1, 1), repeat=2)]
    return [Task(square, method, {"start": start}) for method in ("dpcd", "sgm") for start in starts] + [
        Task(large, method, {"start": "random"}, seed) for method in ("dpcd", "sgm") for seed in range(3)
    ]


def _follow(beta: Floats, task: Task, threads: int) -> Outcome:
    """The route of a method on min 1/2 sum (x_i + beta_i)^2 over {-1, 1}^n with 0 < beta_i < 1.

    SGM alternates between x and -x for ever; DPCD with L_1 = L_2 = 1 + epsilon, epsilon < min beta, is at the optimum
    (-1, ..., -1) after one step, from every start. The case n = 2 is the paper's figure; n = 1000 shows it is no
    accident. The route has every point at which the method asked for the gradient.
    """
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
        objective, method=task.method, x0=start, seed=task.seed, threads=threads, max_iterations=STEPS, **options
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


CONVERGENCE = Study(
    name="convergence",
    title="Convergence of DPCD against SGM",
    question="Lemma 1: on a separable quadratic SGM alternates between two points for ever, while DPCD reaches the "
    "optimum in one step from every start.",
    tasks=_lemma_tasks,
    run=_follow,
)


def _variant_tasks(plan: Plan) -> Sequence[Task]:
    """Each variant on a dense and on a sparse spin glass; free, and with half of the variables at +1."""
    n_dense, n_sparse, seeds = (400, 10_000, 3) if plan.quick else (2_000, 200_000, 5)
    instances = [
        Instance(f"dense glass, n = {n_dense}", lambda: _dense_glass(n_dense)),
        Instance(f"sparse glass, n = {n_sparse}", lambda: _sparse_glass(n_sparse)),
    ]
    limit = plan.limit(20.0)
    return [
        Task(instance, f"dpcd-{variant}", {"balanced": balanced, "variant": variant, "time_limit": limit}, seed)
        for instance in instances
        for balanced in (False, True)
        for variant in ("plain", "momentum", "adam", "adagrad")
        for seed in range(seeds)
    ]


def _dense_glass(n: int) -> Any:
    """A Sherrington-Kirkpatrick glass: Gaussian couplings between all pairs, scaled to energies of order n."""
    couplings = np.triu(np.random.default_rng(0).standard_normal((n, n)), 1)
    return (couplings + couplings.T) / (2 * np.sqrt(n))


def _sparse_glass(n: int, degree: int = 6) -> Any:
    """Couplings of -1 and +1 on a random graph with `degree` neighbours on average."""
    rng = np.random.default_rng(0)
    ends = rng.integers(0, n, (2, n * degree // 2))
    ends = ends[:, ends[0] != ends[1]]
    one_way = sp.coo_array((rng.choice([-0.5, 0.5], ends.shape[1]), (ends[0], ends[1])), shape=(n, n)).tocsr()
    return sp.csr_array(one_way + one_way.T)


def _descend(couplings: Any, task: Task, threads: int) -> Outcome:
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


def _warm(task: Task) -> None:
    """Compile the kernels of both kinds of matrix."""
    for couplings in (_dense_glass(400), _sparse_glass(30_000)):
        for constraint in (flipwise.Free(), flipwise.Cardinality(couplings.shape[0] // 2)):
            flipwise.minimize(flipwise.Quadratic(couplings), constraint=constraint, seed=0, max_iterations=3)


MOMENTUM = Study(
    name="momentum",
    title="Momentum variants",
    question="The paper's outlook: does a running average of gradients (momentum, Adam, Adagrad) in place of the "
    "gradient lead to better points? Energy per spin of random glasses; lower is better.",
    tasks=_variant_tasks,
    run=_descend,
    warm=_warm,
)
