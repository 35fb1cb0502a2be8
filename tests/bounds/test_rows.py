"""Few points under linear rows: one that is least, or all of them, as by trying every one."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import flipwise
from flipwise.bounds.rows import least_with_rows
from flipwise.model.problem import as_problem


def _objective(kind: str, n: int, rng: np.random.Generator) -> Any:
    """Small whole numbers, so that several points are least."""
    A = np.triu(rng.integers(-1, 2, (n, n)), 1).astype(float)
    if kind == "quadratic":
        return flipwise.Quadratic(A + A.T)
    return flipwise.Smooth(lambda x: (float(x @ A @ x) ** 2, 2.0 * float(x @ A @ x) * (A + A.T) @ x), n)


@pytest.mark.parametrize("kind", ["quadratic", "function"])
@pytest.mark.parametrize("seed", range(8))
def test_all_least_points_are_found(kind: str, seed: int) -> None:
    """Each once; with rows that no point keeps there is none, and one that is stopped says so."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 8))
    rows = flipwise.LinearConstraints(rng.integers(-2, 3, (2, n)).astype(float), -3.0, 3.0)
    problem = as_problem(_objective(kind, n, rng), None, rows)
    points = [np.array(s, dtype=np.int8) for s in product((-1, 1), repeat=n)]
    kept = [s for s in points if problem.constraint.contains(s.astype(float))]
    value = {s.tobytes(): problem.objective.value(s.astype(float)) for s in kept}
    least = {s for s, v in value.items() if v == min(value.values())}
    found = least_with_rows(problem, lambda: False, every=True)
    assert found is not None and len(found) == len(least)
    assert {np.asarray(s, dtype=np.int8).tobytes() for s in found} == least
    (one,) = least_with_rows(problem, lambda: False) or [None]
    assert one is not None and np.asarray(one, dtype=np.int8).tobytes() in least
    assert least_with_rows(problem, lambda: True, every=True) is None
    apart = np.zeros((2, n))
    apart[:, :2] = [1.0, 1.0], [1.0, -1.0]  # different, and the same
    never = as_problem(problem.objective, None, flipwise.LinearConstraints(apart, 0.0, 0.0))
    assert least_with_rows(never, lambda: False, every=True) == []
