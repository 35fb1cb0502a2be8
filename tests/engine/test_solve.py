"""The one life of a run: limits kept, evaluations counted, the answer checked, the status true."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flipwise
from tests.reference import random_symmetric

A = random_symmetric(np.random.default_rng(0), 40)


class CountedQuartic:
    """An objective of somebody's own that counts what it is asked for, and may be slow."""

    def __init__(self, n: int, seconds: float = 0.0) -> None:
        self.shape = (n,)
        self.seconds = seconds
        self.asked = 0
        self.weights = np.random.default_rng(1).standard_normal(n)

    def value(self, x: np.ndarray) -> float:
        self.asked += 1
        time.sleep(self.seconds)
        return float((self.weights @ x - 1.0) ** 4)

    def gradient(self, x: np.ndarray) -> np.ndarray:
        self.asked += 1
        time.sleep(self.seconds)
        return 4.0 * (self.weights @ x - 1.0) ** 3 * self.weights


METHODS = [
    "auto",
    "dpcd",
    "portfolio",
    "momentum",
    "cooled",
    "mean-field",
    "adm",
    "dcc",
    "lp",
    "mpec-epm",
    "l2box-admm",
    "penalty-decomposition",
    "exact",
]


@pytest.mark.parametrize("method", METHODS)
def test_evaluations_are_those_the_objective_was_asked_for(method: str) -> None:
    """`evaluations` equals a counter inside the objective, the one at the end that recomputes the value included."""
    objective = CountedQuartic(12)
    result = flipwise.minimize(objective, method=method, seed=0, max_iterations=20)
    assert result.evaluations == objective.asked


def test_evaluations_of_a_callable_are_its_calls() -> None:
    """A function that returns value and gradient at once is asked once for both; restarts add up."""
    calls = 0

    def function(x: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal calls
        calls += 1
        return float((x.sum() - 3.0) ** 2), np.full(x.size, 2.0 * (x.sum() - 3.0))

    result = flipwise.minimize(function, 15, seed=0, restarts=4)
    assert result.evaluations == calls > 8


@pytest.mark.parametrize("count", [None, 100])
@pytest.mark.parametrize("method", ["dpcd", "portfolio", "dcc", "mpec-epm"])
def test_the_time_limit_holds_for_slow_functions(method: str, count: int | None) -> None:
    """With 10 ms an evaluation and n = 800 a limit of 0.4 s ends after at most 40 and two, in whatever loop."""
    objective = CountedQuartic(800, seconds=0.01)
    result = flipwise.minimize(objective, method=method, count=count, seed=0, time_limit=0.4)
    assert objective.asked <= 42
    assert result.status is flipwise.Status.TIME_LIMIT and result.value < np.inf


class Pinned(flipwise.Free):
    """Some entries are given, the others free; only `random` and `violation` know of it."""

    def __init__(self, indices: Any, values: Any) -> None:
        object.__setattr__(self, "indices", np.asarray(indices))
        object.__setattr__(self, "values", np.where(np.asarray(values) > 0, 1.0, -1.0))

    indices: np.ndarray
    values: np.ndarray

    def random(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        x = super().random(shape, rng)
        x[self.indices] = self.values
        return x

    def violation(self, x: np.ndarray) -> str | None:
        wrong = np.flatnonzero(np.where(np.asarray(x)[self.indices] > 0, 1.0, -1.0) != self.values)
        return f"entry {self.indices[wrong[0]]} is pinned" if wrong.size else None


@pytest.mark.parametrize("seed", range(20))
def test_a_constraint_of_ones_own_is_kept(seed: int) -> None:
    """With 10 of 60 entries pinned the answer has them, also where the constraint's moves know nothing of the pins."""
    rng = np.random.default_rng(seed)
    matrix = random_symmetric(rng, 60)
    pinned = Pinned(rng.choice(60, 10, replace=False), rng.choice([-1, 1], 10))
    for options in ({}, {"literal": True}, {"method": "portfolio", "effort": 0.1}):
        result = flipwise.minimize(matrix, constraint=pinned, seed=seed, **options)
        assert pinned.violation(result.x) is None


def test_an_infeasible_answer_is_an_error_that_names_the_constraint() -> None:
    """A method that knows nothing of the constraint never ends in a success that breaks it."""
    pinned = Pinned([0, 1, 2], [1, 1, 1])
    linear = flipwise.Quadratic(np.zeros((5, 5)), np.ones(5))  # every entry wants to be -1
    with pytest.raises(flipwise.InfeasibleAnswer, match="Pinned: entry 0 is pinned"):
        flipwise.minimize(linear, constraint=pinned, method="sgm", seed=0)


@pytest.mark.parametrize("count", [None, 2500])
def test_local_optimum_is_claimed_only_where_all_moves_were_looked_at(count: int | None) -> None:
    """With more flips or swaps than are looked at the status says so; below that it is a local optimum."""
    flat = np.zeros(5000)
    large = flipwise.minimize(lambda x: (0.0, flat), 5000, count=count, seed=0, neighbourhood=0)
    assert large.status is flipwise.Status.PARTIAL_OPTIMUM and large.success
    small = flipwise.minimize(lambda x: (0.0, flat[:30]), 30, count=count and 15, seed=0, neighbourhood=0)
    assert small.status is flipwise.Status.LOCAL_OPTIMUM


class Flipping:
    """A solver of somebody's own: one random flip at a time."""

    def solve(self, problem: Any, x: np.ndarray, rng: np.random.Generator, run: Any) -> flipwise.Status:
        value = problem.objective.value(x)
        while True:
            i = rng.integers(x.size)
            x[i] *= -1
            new = problem.objective.value(x)
            if new < value:
                value = new
            else:
                x[i] *= -1
            stop = run.step(x, value, flips=1)
            if stop is not None:
                return stop


def test_a_solver_of_ones_own_is_a_method() -> None:
    """Limits, callback, restarts and the result are the engine's."""
    result = flipwise.minimize(A, method=Flipping(), seed=0, max_iterations=500, restarts=2)
    assert result.method == "Flipping" and result.iterations == 1000
    assert result.value == flipwise.minimize(A, method=Flipping(), seed=0, max_iterations=500, restarts=2).value
    stopped = flipwise.minimize(A, method=Flipping(), seed=0, callback=lambda now: now.iteration == 7)
    assert stopped.status is flipwise.Status.CALLBACK and stopped.iterations == 7


def test_a_solver_object_and_its_name_are_the_same() -> None:
    """`method="dpcd"` is short for `method=DPCD()`; an option given twice or a class is refused."""
    named = flipwise.minimize(A, method="dpcd", alpha=2.0, seed=1)
    assert named.value == flipwise.minimize(A, method=flipwise.DPCD(alpha=2.0), seed=1).value
    with pytest.raises(flipwise.InvalidInput, match=r"DPCD\(alpha="):
        flipwise.minimize(A, method=flipwise.DPCD(), alpha=2.0)
    with pytest.raises(flipwise.InvalidInput, match="method"):
        flipwise.minimize(A, method=flipwise.DPCD)  # type: ignore[arg-type]


def _interrupted_at(moment: threading.Event, call: Callable[[], Any]) -> Any:
    """The result of a call that gets a Ctrl-C a moment after the event."""
    handler = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    main = threading.main_thread().ident

    def interrupt() -> None:
        if moment.wait(60):
            time.sleep(0.05)
            signal.pthread_kill(main, signal.SIGINT)  # type: ignore[arg-type]

    watcher = threading.Thread(target=interrupt)
    watcher.start()
    try:
        return call()
    finally:
        watcher.join()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        signal.signal(signal.SIGINT, handler)


@pytest.mark.parametrize("function", ["maxcut", "bisect", "solve_qubo", "solve_ising"])
def test_ctrl_c_during_the_proof_keeps_the_answer(function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search is over when the proof begins: an interrupt there returns what it found."""
    from flipwise.bounds import choice

    proving = threading.Event()

    def endless(*_: object, **__: object) -> float:
        proving.set()
        while True:
            time.sleep(0.01)

    monkeypatch.setattr(choice, "proven_bound", endless)
    graph = (A > 1.0).astype(float)
    graph = np.triu(graph, 1) + np.triu(graph, 1).T
    shared = {"bound": "sdp", "effort": 0.1, "seed": 0}
    calls = {
        "maxcut": lambda: flipwise.maxcut(graph, **shared),
        "bisect": lambda: flipwise.bisect(graph, **shared),
        "solve_qubo": lambda: flipwise.solve_qubo(A, **shared),
        "solve_ising": lambda: flipwise.solve_ising(np.zeros(40), A, **shared),
    }
    result = _interrupted_at(proving, calls[function])
    assert result.status is flipwise.Status.INTERRUPTED and np.isfinite(result.value)


def test_ctrl_c_ends_a_partition_with_its_parts() -> None:
    """Once there is a partition an interrupt returns it, and nothing more is tried."""
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 600, (4000, 2))
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    heard: list[float] = []

    def press(now: flipwise.Progress) -> None:
        heard.append(now.value)
        signal.raise_signal(signal.SIGINT)

    try:
        result = flipwise.partition((600, edges), 6, seed=0, effort=0.2, callback=press)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, handler)
    assert len(heard) == 1 and result.value == heard[0]
    assert result.sizes.tolist() == [100] * 6 and result.status is flipwise.Status.INTERRUPTED
