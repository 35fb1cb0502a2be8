"""Limits combine: the first that is reached ends the run, be it time, evaluations, target, patience or a proven gap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import flipwise
from flipwise import Progress, Status
from flipwise.engine.limits import Limits
from tests.reference import random_symmetric

A = random_symmetric(np.random.default_rng(3), 60)
GRAPH = sp.triu(sp.random_array((40, 40), density=0.2, rng=np.random.default_rng(4)), 1)
GAP_CALLS: dict[str, Callable[..., flipwise.Result]] = {
    "minimize": lambda **more: flipwise.minimize(A, **more),
    "solve_qubo": lambda **more: flipwise.solve_qubo(A, **more),
    "solve_ising": lambda **more: flipwise.solve_ising(A[0], A, **more),
    "maxcut": lambda **more: flipwise.maxcut(GRAPH, **more),
    "bisect": lambda **more: flipwise.bisect(GRAPH, **more),
    "densest_subgraph": lambda **more: flipwise.densest_subgraph(GRAPH, 6, **more),
}


@pytest.mark.parametrize("name", GAP_CALLS)
def test_a_gap_ends_every_function(name: str) -> None:
    """A gap that is proven at once ends the search; the status says so, unless the point is optimal."""
    result = GAP_CALLS[name](gap=50.0, seed=0)
    assert result.status in (Status.GAP, Status.OPTIMAL) and result.success
    assert result.gap is not None and result.gap <= 50.0
    assert result.iterations <= 3  # the bound is there before the search


@pytest.mark.parametrize("name", GAP_CALLS)
def test_a_gap_needs_a_bound(name: str) -> None:
    with pytest.raises(flipwise.InvalidInput, match="`gap` needs a bound"):
        GAP_CALLS[name](gap=0.1, bound="none")


@pytest.mark.parametrize("gap", [-0.1, "1 %", float("nan"), True])
def test_a_gap_is_a_share(gap: Any) -> None:
    with pytest.raises(flipwise.InvalidInput, match="`gap` must be None or a share"):
        Limits(gap=gap)


@pytest.mark.parametrize("most", [1, 2, 7, 50, 400])
@pytest.mark.parametrize("method", ["auto", "dpcd", "portfolio", "adm", "momentum"])
def test_no_evaluation_of_a_function_is_made_beyond_the_limit(method: str, most: int) -> None:
    """The user's own function is never called more often than allowed, but for the two calls that an answer takes."""
    asked = 0

    def quartic(x: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal asked
        asked += 1
        inner = float(weights @ x) - 1.0
        return inner**4, 4.0 * inner**3 * weights

    weights = np.random.default_rng(5).standard_normal(30)
    result = flipwise.minimize(quartic, 30, method=method, seed=0, max_evaluations=most)
    assert result.evaluations == asked <= max(most, 3)
    if asked >= most > 3:
        assert result.status is Status.EVALUATION_LIMIT and not result.success


def test_conditions_join_in_a_callback() -> None:
    """What a callback hears is enough for conditions that must hold together."""
    heard: list[Progress] = []

    def enough(now: Progress) -> bool:
        heard.append(now)
        return now.iteration > 3 and now.since_improvement >= 2

    stopped = flipwise.minimize(A, method="portfolio", callback=enough, bound="simple", gap=1e-6, seed=0)
    assert stopped.status is Status.CALLBACK
    assert heard[-1].evaluations > 0 and heard[-1].gap is not None and heard[-1].gap > 1e-6
    assert all(now.iteration <= 3 or now.since_improvement < 2 for now in heard[:-1])
