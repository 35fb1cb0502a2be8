"""Bisection with an exact size, and partition into parts of exact sizes.

A bisection is a run: multilevel cuts first, then their evolution until a limit. A partition is made by recursive
bisection; then the parts are cut again, two at a time, until that improves nothing.
"""

from __future__ import annotations

import math
import time
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.cuts.bisection import BisectionPopulation, Level, bisected
from flipwise.engine.checkpoint import Keeper
from flipwise.engine.limits import Limits, Status
from flipwise.engine.log import RunLog, shown_on_stderr
from flipwise.engine.result import Result
from flipwise.engine.run import Callback, Run
from flipwise.foundation.arrays import Ints, Signs
from flipwise.foundation.checks import as_generator, check_whole, seed_of, to_spins
from flipwise.foundation.errors import InvalidInput
from flipwise.graphs.graph import Graph
from flipwise.kernels.jit import threads as limited_threads
from flipwise.minimization import finished, resumed_state
from flipwise.model.constraints import Cardinality
from flipwise.model.forms import IsingForm, ising_form
from flipwise.model.problem import Problem
from flipwise.model.quadratic import Quadratic
from flipwise.solvers.portfolio.algorithm import improve

BISECTION_ROUNDS, PARTITION_ROUNDS = 30, 10
"""Rounds of a bisection when no limit is given: on its own, and of each one in a partition."""


def split_graph(
    objective: Quadratic,
    ones: int,
    *,
    x0: npt.ArrayLike | None = None,
    seed: int | np.random.Generator | None = None,
    time_limit: float | None = None,
    callback: Callback | None = None,
    threads: int | None = None,
    rounds: int | None = None,
    verbose: bool = False,
    checkpoint: Keeper | None = None,
) -> Result:
    """Minimise the weight of a cut (a quadratic without linear part) with exactly `ones` nodes at +1."""
    constraint = Cardinality(ones)
    constraint.check(objective.shape)
    check_whole("rounds", rounds, 1, optional=True)
    problem = Problem(objective, constraint)
    rng = as_generator(seed)
    limits = Limits(time_limit=time_limit, max_iterations=rounds)
    run = Run(problem, limits, callback, log=RunLog() if verbose else None, keeper=checkpoint)
    run.fingerprint = {"method": "bisection", "nodes": objective.n, "ones": ones}
    resumed = resumed_state(run)
    form = ising_form(objective, dense_from=math.inf)
    assert form is not None
    level = _level_of(form)
    if x0 is None:
        start = bisected(level, ones, rng)
    else:
        given = to_spins("x0", x0, objective.shape, "spin")
        wrong = constraint.violation(given)
        if wrong is not None:
            raise InvalidInput(f"`x0` breaks the constraint: {wrong}.")
        start = given.astype(np.int8)
    first = start.astype(np.float64)
    run.offer(first, objective.value(first))
    ended = None if resumed is None else resumed.get("ended")
    status = run.check_time() or Status[ended or "CONVERGED"]
    with limited_threads(threads), shown_on_stderr(verbose), run.heeding_interrupts():
        if run.log is not None:
            run.log.start(problem, "bisection", seed_of(seed))
        if status is Status.CONVERGED and level.n > 2 and ended is None:
            population = BisectionPopulation(level, form, start, rng)
            try:
                most = math.inf if time_limit is not None or rounds else BISECTION_ROUNDS
                status = improve(problem, population, run, most)
            except KeyboardInterrupt:
                status = Status.INTERRUPTED
        run.save_end(status)
        result = finished(run, status, "bisection", seed_of(seed))
        if run.log is not None:
            run.log.end(result)
    return result


def _level_of(form: IsingForm) -> Level:
    """The finest level: the graph whose weights are the couplings that reward agreement."""
    weights = -form.data
    kind = np.int64 if np.issubdtype(weights.dtype, np.integer) else np.float64
    return Level(form.indptr, form.indices, weights.astype(kind), np.ones(form.n, dtype=np.int64))


def split_into_parts(
    graph: Graph,
    sizes: Ints,
    *,
    seed: int | np.random.Generator | None,
    time_limit: float | None,
    threads: int | None,
    rounds: int | None,
    verbose: bool = False,
) -> tuple[npt.NDArray[np.int64], Status, float]:
    """The part of each node, why the search ended, and the seconds it took."""
    started = time.perf_counter()
    limits: dict[str, Any] = {"threads": threads, "rounds": rounds if rounds or time_limit else PARTITION_ROUNDS}
    making = _Partition(graph, as_generator(seed), {**limits, "verbose": verbose})
    # half of the time for the recursion, whose log2(parts) levels share it by the number of nodes they cut
    depth = max(1, int(np.ceil(np.log2(max(2, sizes.size)))))
    making.cut(np.arange(graph.n), sizes, 0, None if time_limit is None else 0.5 * time_limit / (depth * graph.n))
    pairs = list(combinations(range(sizes.size), 2)) if sizes.size > 2 else []
    improved = True
    while improved and pairs:
        improved = False
        for done, (a, b) in enumerate(pairs):
            left = None if time_limit is None else time_limit - (time.perf_counter() - started)
            if left is not None and left <= 0.0:
                return making.parts, Status.TIME_LIMIT, time.perf_counter() - started
            improved |= making.cut_again(a, b, None if left is None else left / (len(pairs) - done))
    return making.parts, Status.CONVERGED, time.perf_counter() - started


class _Partition:
    """A partition in the making: `parts` is the part of each node."""

    def __init__(self, graph: Graph, rng: np.random.Generator, limits: dict[str, Any]) -> None:
        self.W = graph.to_scipy()
        self.parts = np.zeros(graph.n, dtype=np.int64)
        self.rng, self.limits = rng, limits

    def cut(self, nodes: Ints, sizes: Ints, first: int, seconds: float | None) -> None:
        """Cut `nodes` into parts `first`, `first + 1`, ... of the given sizes; `seconds` are for each node cut."""
        if sizes.size == 1:
            self.parts[nodes] = first
            return
        middle = sizes.size // 2
        up = self._split(self._inner(nodes), int(sizes[middle:].sum()), seconds and seconds * nodes.size).x > 0
        self.cut(nodes[~up], sizes[:middle], first, seconds)
        self.cut(nodes[up], sizes[middle:], first + middle, seconds)

    def cut_again(self, a: int, b: int, time_limit: float | None) -> bool:
        """Cut the union of two parts again, from the present cut on; whether it became better."""
        nodes = np.flatnonzero((self.parts == a) | (self.parts == b))
        before = np.where(self.parts[nodes] == b, 1, -1).astype(np.int8)
        objective = self._inner(nodes)
        found = self._split(objective, int(np.count_nonzero(before > 0)), time_limit, before)
        if not found.value < objective.value(before.astype(np.float64)):
            return False
        self.parts[nodes] = np.where(found.x > 0, b, a)
        return True

    def _split(self, objective: Quadratic, ones: int, time_limit: float | None, x0: Signs | None = None) -> Result:
        return split_graph(objective, ones, x0=x0, seed=self.rng.spawn(1)[0], time_limit=time_limit, **self.limits)

    def _inner(self, nodes: Ints) -> Quadratic:
        """The cut within `nodes` as a quadratic."""
        inner = self.W[nodes][:, nodes]
        inner.sort_indices()
        return Quadratic(inner * -0.25, d=float(inner.data.sum()) / 4.0)
