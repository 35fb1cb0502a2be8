"""The direction that takes the gradient's place, against its formula over several steps."""

from __future__ import annotations

import numpy as np
import pytest

from flipwise.solvers.dpcd import DPCD
from flipwise.solvers.dpcd.steps import make_direction

STEPS = [np.array([2.0, -1.0, 0.5]), np.array([-3.0, -4.0, 0.25]), np.array([1.0, 5.0, -8.0])]
"""Gradients of three iterations."""


def test_plain_is_the_gradient_itself() -> None:
    """Nothing is changed and nothing remembered."""
    direction = make_direction(DPCD())
    assert all(direction(g) is g for g in STEPS)
    assert direction.memory == {}


@pytest.mark.parametrize("decay", [0.0, 0.25, 0.9])
def test_momentum_averages_what_came_before(decay: float) -> None:
    """The first step is the gradient, then m = decay * m + (1 - decay) * g."""
    direction = make_direction(DPCD(variant="momentum", decay=decay))
    first, second, third = STEPS
    assert direction(first).tolist() == first.tolist()
    m = decay * first + (1 - decay) * second
    assert direction(second) == pytest.approx(m)
    assert direction(third) == pytest.approx(decay * m + (1 - decay) * third)


def test_momentum_does_not_hold_on_to_the_gradient_it_was_given() -> None:
    """The solver changes its gradient in place; the memory is a copy."""
    direction = make_direction(DPCD(variant="momentum", decay=0.5))
    g = np.array([2.0, -2.0])
    direction(g)
    g[:] = 0.0
    assert direction(np.zeros(2)).tolist() == [1.0, -1.0]


@pytest.mark.parametrize(("decay", "decay_squares"), [(0.5, 0.9), (0.2, 0.6), (0.0, 0.0)])
def test_adam_divides_unbiased_averages(decay: float, decay_squares: float) -> None:
    """Step t is the weighted mean of the gradients over the root of the weighted mean of their squares."""
    direction = make_direction(DPCD(variant="adam", decay=decay, decay_squares=decay_squares))
    for t in range(1, 4):
        made = direction(STEPS[t - 1])
        mean = np.average(STEPS[:t], axis=0, weights=[decay ** (t - 1 - i) for i in range(t)])
        squares = np.average(np.square(STEPS[:t]), axis=0, weights=[decay_squares ** (t - 1 - i) for i in range(t)])
        assert made == pytest.approx(mean / np.sqrt(squares), rel=1e-9)


def test_adagrad_divides_by_the_root_of_all_squares_so_far() -> None:
    """g_t / sqrt(g_1^2 + ... + g_t^2), entry by entry."""
    direction = make_direction(DPCD(variant="adagrad"))
    for t in range(1, 4):
        made = direction(STEPS[t - 1])
        assert made == pytest.approx(STEPS[t - 1] / np.sqrt(np.square(STEPS[:t]).sum(axis=0)), rel=1e-9)


@pytest.mark.parametrize("variant", ["plain", "momentum", "adam", "adagrad"])
def test_a_slope_of_zero_has_no_direction(variant: str) -> None:
    """Where all gradients were zero the direction is zero, not a quotient of zeros."""
    direction = make_direction(DPCD(variant=variant))  # type: ignore[arg-type]
    for _ in range(2):
        assert direction(np.zeros(3)).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("variant", ["plain", "momentum", "adam", "adagrad"])
@pytest.mark.parametrize("size", [1e-14, 1e-6, 1.0, 1e6])
def test_the_first_direction_points_as_the_gradient_does(variant: str, size: float) -> None:
    """However small the gradient is, the signs are its own."""
    g = size * np.array([1.0, -1.0, 0.5, -3.0])
    assert np.sign(make_direction(DPCD(variant=variant))(g)).tolist() == [1, -1, 1, -1]  # type: ignore[arg-type]


def test_memories_are_the_runs_own() -> None:
    """A new direction knows nothing of an earlier one."""
    options = DPCD(variant="adagrad")
    make_direction(options)(STEPS[0])
    assert make_direction(options)(STEPS[1]) == pytest.approx(np.sign(STEPS[1]))
