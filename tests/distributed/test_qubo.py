"""Islands on a cluster: the optimum of small models, the same answer whatever the workers do."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import flipwise
from flipwise.distributed.qubo import solve_model
from flipwise.foundation.errors import InvalidInput


def test_islands_find_the_optimum(client: Any) -> None:
    """On 12 variables the value is that of brute force, and the same seed gives the same point."""
    rng = np.random.default_rng(0)
    Q = rng.integers(-9, 10, (12, 12)).astype(float)
    one, other = (solve_model(Q, client=client, islands=3, exchanges=2, seed=5) for _ in range(2))
    assert one.value == min(np.array(x) @ Q @ np.array(x) for x in product((0, 1), repeat=12))
    assert np.array_equal(one.x, other.x) and one.bound is not None and one.bound <= one.value
    counted = solve_model(flipwise.QuadraticModel.from_qubo(Q), client=client, islands=2, exchanges=1, count=3, seed=0)
    assert counted.x.sum() == 3


def test_arguments_are_checked(client: Any) -> None:
    """No islands, no rounds and no client are refused."""
    for wrong in ({"islands": 0}, {"exchanges": 0}, {"time_limit": -1}):
        with pytest.raises(InvalidInput, match=next(iter(wrong))):
            solve_model(np.eye(2), client=client, **wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="client"):
        solve_model(np.eye(2), client=None)
