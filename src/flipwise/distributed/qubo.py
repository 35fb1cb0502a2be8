"""QUBO and Ising models on a cluster: islands that search on their own and hand their best points on along a ring.

Between two exchanges every island runs the portfolio from its best point, or from its neighbour's where that is better.
The number of islands does not depend on the number of workers, and with `exchanges` instead of a time limit the answer
depends on the seed alone. An island is a function of (model, point, seed), so a worker that dies costs one island's
turn.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.distributed.crew import Crew
from flipwise.engine.limits import Limits
from flipwise.engine.result import Result
from flipwise.foundation.checks import as_generator, check_whole, seed_of
from flipwise.kernels.compile_time import working_time
from flipwise.kernels.jit import threads
from flipwise.qubo.formats import read_model
from flipwise.qubo.models import QuadraticModel
from flipwise.qubo.solve import solve_ising, solve_qubo

ROUNDS_AT_A_TIME = 8
"""Rounds of the portfolio between two exchanges, without a time limit."""


def solve_model(
    model: Any,
    *,
    client: Any,
    islands: int = 4,
    exchanges: int = 4,
    count: int | None = None,
    bound: Any = "auto",
    seed: int | np.random.Generator | None = None,
    time_limit: float | None = None,
) -> Result:
    """Minimise a QUBO or Ising model on a cluster.

    Parameters
    ----------
    model
        A `QuadraticModel`, the path of a model file, or a matrix or dict as `flipwise.solve_qubo` takes it.
    client
        A connected `dask.distributed.Client`.
    islands
        Independent searches; as many as there are threads in the cluster keep it busy.
    exchanges
        How often islands exchange their best points.
    count, bound, seed, time_limit
        As in `flipwise.solve_qubo`; the bound is proven here, after the search.

    Examples
    --------
    >>> import flipwise.distributed, numpy as np
    >>> from distributed import Client, LocalCluster
    >>> Q = np.array([[-1.0, 2.0], [0.0, -1.0]])
    >>> with LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster, Client(cluster) as client:
    ...     flipwise.distributed.solve_model(Q, client=client, islands=2, exchanges=1, seed=0).value
    -1.0
    """
    for name, value in (("islands", islands), ("exchanges", exchanges)):
        check_whole(name, value, 1)
    Limits(time_limit=time_limit)
    crew = Crew(client)
    started = working_time()
    built = _as_model(model)
    rng = as_generator(seed)
    # A task that returns the model, not scattered data: Dask can make it again when a worker with it dies.
    held = client.submit(_given, built, key=f"flipwise-model-{id(built)}-{time.time_ns()}")
    points: list[tuple[float, npt.NDArray[np.int8] | None]] = [(np.inf, None)] * islands
    share = None if time_limit is None else 0.8 * time_limit / exchanges
    for _ in range(exchanges):
        seeds = rng.integers(0, 2**63, size=islands).tolist()
        # the ring: an island goes on from its left neighbour's point where that is better than its own
        starts = [min(points[i], points[i - 1], key=lambda each: each[0])[1] for i in range(islands)]
        tasks = [(held, start, number, count, share) for start, number in zip(starts, seeds, strict=True)]
        found = crew.ask("island", _island_round, tasks)
        points = [min(old, new, key=lambda each: each[0]) for old, new in zip(points, found, strict=True)]
    best = min(points, key=lambda each: each[0])[1]
    solve = solve_qubo if built.variables == "binary" else solve_ising
    left = None if time_limit is None else max(0.0, time_limit - (working_time() - started))
    result = solve(
        built, count=count, bound=bound, start=best, seed=rng, time_limit=left, max_iterations=1
    )  # fmt: skip
    result.seed, result.seconds = seed_of(seed), working_time() - started
    result.info |= {"islands": islands, "exchanges": exchanges}
    return result


def _as_model(model: Any) -> QuadraticModel:
    if isinstance(model, QuadraticModel):
        return model
    if isinstance(model, str | Path):
        return read_model(model)
    return QuadraticModel.from_qubo(model)


def _given(model: QuadraticModel) -> QuadraticModel:
    return model


def _island_round(
    model: QuadraticModel, start: npt.NDArray[np.int8] | None, seed: int, count: int | None, seconds: float | None
) -> tuple[float, npt.NDArray[np.int8]]:
    """One island's round: the value and the point."""
    solve = solve_qubo if model.variables == "binary" else solve_ising
    limit: dict[str, Any] = {"max_iterations": ROUNDS_AT_A_TIME} if seconds is None else {"time_limit": seconds}
    with threads(1):
        result = solve(model, count=count, bound="none", start=start, seed=seed, **limit)
    return result.value, np.asarray(result.x, dtype=np.int8)
