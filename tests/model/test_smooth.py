"""User callables: evaluated once a point, in their own variables, with an estimate of their Lipschitz constant."""

from __future__ import annotations

import numpy as np
import pytest

import flipwise


def test_value_and_gradient_share_one_call() -> None:
    """A function that returns both is called once for each point."""
    calls = []

    def both(x: np.ndarray) -> tuple[float, np.ndarray]:
        calls.append(1)
        return float(x.sum()), np.ones(3)

    f = flipwise.Smooth(both, 3)
    x = np.ones(3)
    assert f.value(x) == 3.0 and f.gradient(x).tolist() == [1, 1, 1]
    assert len(calls) == 1


def test_binary_variables_reach_the_function_as_bits() -> None:
    """variables="binary": the function sees 0/1, the result is 0/1, the gradient is halved."""
    seen = set()

    def both(b: np.ndarray) -> tuple[float, np.ndarray]:
        seen.update(np.unique(b))
        return float(((b - 0.8) ** 2).sum()), 2 * (b - 0.8)

    f = flipwise.Smooth(both, 4, variables="binary")
    result = flipwise.minimize(f, seed=0)
    assert seen <= {0.0, 1.0}
    assert result.x.tolist() == [1, 1, 1, 1] and result.spins.tolist() == [1, 1, 1, 1]
    assert flipwise.check_objective(f).ok


def test_lipschitz_is_labelled_as_estimate_unless_given() -> None:
    """An estimate is no bound; for a quadratic it comes close from below."""
    f = flipwise.Smooth(lambda x: (1.5 * float(x @ x), 3 * x), 6)
    assert not f.lipschitz().is_bound
    assert f.lipschitz().value == pytest.approx(3.0, rel=1e-6)
    assert flipwise.Smooth(lambda x: (0.0, x), 6, lipschitz=7.0).lipschitz() == flipwise.model.objective.Lipschitz(
        7.0, True
    )


def test_a_user_may_write_into_its_argument() -> None:
    """The point a callable gets is a copy."""

    def careless(x: np.ndarray) -> tuple[float, np.ndarray]:
        value = float(x.sum())
        x[:] = 7.0
        return value, np.ones(5)

    assert flipwise.minimize(careless, 5, seed=0).x.tolist() == [-1] * 5
