"""L_1 and L_2 of given gradients: Eq. (6), the means, and Eq. (5), the Lipschitz constant."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import flipwise
from flipwise.solvers.dpcd import DPCD
from flipwise.solvers.dpcd.steps import lipschitz_thresholds, make_thresholds, mean_thresholds


@pytest.mark.parametrize(
    ("g", "means"),
    [
        ([5.0, 1.0, -1.0, -4.0], (3.0, 2.5)),
        ([0.5, 0.25, 0.0, -8.0], (0.375, 8.0)),  # zero belongs to neither side
        ([2.0, 4.0], (3.0, 0.0)),
        ([-2.0, -6.0, -1.0], (0.0, 3.0)),
        ([0.0, 0.0], (0.0, 0.0)),
    ],
)
def test_mean_thresholds_of_a_gradient(g: list[float], means: tuple[float, float]) -> None:
    """The mean of the positive entries and of the absolute negative ones; 0 where there is none."""
    assert mean_thresholds(np.array(g)) == means
    assert mean_thresholds(np.array([g, g])) == means  # of any shape


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=20))
def test_mean_thresholds_are_the_means_of_both_sides(g: list[float]) -> None:
    """Against the definition, entry by entry."""
    plus, minus = [v for v in g if v > 0], [-v for v in g if v < 0]
    expected = (float(np.mean(plus)) if plus else 0.0, float(np.mean(minus)) if minus else 0.0)
    assert mean_thresholds(np.array(g)) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def _with_constant(L0: float) -> flipwise.Smooth:
    """Any objective that says its gradient has this Lipschitz constant."""
    return flipwise.Smooth(lambda x: (float(x.sum()), np.ones(2)), 2, lipschitz=L0)


@pytest.mark.parametrize(
    ("L0", "epsilon", "L"),
    [(2.0, 0.5, 2.5), (2.0, 3.0, 5.0), (2.0, None, 2.002), (0.25, None, 0.25025), (0.0, None, 1e-12)],
)
def test_lipschitz_thresholds_are_the_constant_plus_epsilon(L0: float, epsilon: float | None, L: float) -> None:
    """L_1 = L_2 = L_0 + epsilon for every gradient; epsilon is a thousandth of L_0 by default, and never 0."""
    rule = lipschitz_thresholds(_with_constant(L0), epsilon)
    for g in (np.array([1.0, -1.0]), np.zeros(2)):
        assert rule(g) == pytest.approx((L, L), rel=1e-12)


def test_the_options_choose_the_rule() -> None:
    """Means by default; the Lipschitz rule with the options' epsilon where it is asked for."""
    g = np.array([5.0, 1.0, -1.0, -4.0])
    assert make_thresholds(_with_constant(2.0), DPCD())(g) == (3.0, 2.5)
    rule = make_thresholds(_with_constant(2.0), DPCD(thresholds="lipschitz", epsilon=1.0))
    assert rule(g) == (3.0, 3.0)


def test_without_a_lipschitz_constant_only_the_means_are_left() -> None:
    """The error says which method is missing and what else there is."""

    class Own:
        shape = (2,)

        def value(self, x: np.ndarray) -> float:
            return float(x.sum())

        def gradient(self, x: np.ndarray) -> np.ndarray:
            return np.ones(2)

    assert make_thresholds(Own(), DPCD())(np.ones(2)) == (1.0, 0.0)
    with pytest.raises(flipwise.IncompatibleObjective, match=r'lipschitz\(\)`; Own has none. Use thresholds="mean"'):
        make_thresholds(Own(), DPCD(thresholds="lipschitz"))
