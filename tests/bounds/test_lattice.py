"""The lattice of values: every value lies on it, and bounds are raised to it, never past a value."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from flipwise import LowRank, Quadratic
from flipwise.bounds.lattice import next_value, value_lattice

PAIR = np.array([[0.0, 1.0], [1.0, 0.0]])
TRIANGLE = np.ones((3, 3)) - np.eye(3)


def exact_values(A: np.ndarray, c: np.ndarray, d: float, points: tuple[int, int]) -> set[Fraction]:
    """All values of x'Ax + c'x + d in rational arithmetic, for entries of x from `points`."""
    n = len(c)
    a = [[Fraction(float(A[i, j])) for j in range(n)] for i in range(n)]
    values = set()
    for x in product(points, repeat=n):
        square = sum(a[i][j] * x[i] * x[j] for i in range(n) for j in range(n))
        values.add(square + sum(Fraction(float(c[i])) * x[i] for i in range(n)) + Fraction(d))
    return values


@given(
    st.integers(1, 5),
    st.integers(0, 2**31),
    st.sampled_from([1.0, 0.5, 3.0, 0.25, 6.0, 2.0**-40, 2.0**-900, 2.0**900]),
    st.sampled_from(["spin", "binary"]),
    st.sampled_from([0.0, 0.1, 7.0]),
)
def test_every_value_lies_on_the_lattice_and_none_is_jumped_over(
    n: int, seed: int, unit: float, variables: str, d: float
) -> None:
    """The next value from just below a value is that value, and from anywhere it is no further than the next one."""
    rng = np.random.default_rng(seed)
    A = np.triu(rng.integers(-3, 4, (n, n)), 1) * unit
    A = A + A.T + np.diag(rng.integers(-2, 3, n)) * unit
    c = rng.integers(-4, 5, n) * unit
    f = Quadratic(A, c, d * unit, variables=variables)  # type: ignore[arg-type]
    lattice = value_lattice(f)
    assert lattice is not None
    values = sorted(exact_values(A, c, d * unit, (-1, 1) if variables == "spin" else (0, 1)))
    for value in values:
        assert value == lattice.base if not lattice.step else (value - lattice.base) % lattice.step == 0
        assert next_value(f, float(value - Fraction(unit) / 64)) == float(value)
    for below, above in pairwise(values):
        assert next_value(f, float((below + above) / 2)) <= float(above)


@pytest.mark.parametrize(
    ("bound", "value"), [(-2.0, -2.0), (-1.9, 2.0), (-3.99, -2.0), (-2.1, -2.0), (0.0, 2.0), (0.1, 2.0), (1.9, 2.0)]
)
def test_the_next_value_on_the_lattice(bound: float, value: float) -> None:
    """2 x_1 x_2 is 2 or -2, nothing between."""
    assert next_value(Quadratic(PAIR), bound) == value


def test_the_lattice_is_moved_by_diagonal_and_constant() -> None:
    """Diagonal and constant may be any numbers; quarters, a linear part and a low-rank term of integers count too."""
    f = Quadratic(PAIR + np.diag([0.3, 0.4]), d=0.55)
    assert next_value(f, -0.6) == pytest.approx(3.25) and next_value(f, -0.8) == pytest.approx(-0.75)
    g = Quadratic(PAIR / 2.0, [0.25, 0.0])
    assert next_value(g, -0.9) == -0.75 and next_value(g, -1.3) == -1.25
    h = Quadratic([sp.csr_array(PAIR), PAIR * 3.0, LowRank(np.ones((2, 1)))], d=-1.0)
    assert next_value(h, -8.0) == pytest.approx(11.0) and next_value(h, -9.5) == pytest.approx(-9.0)  # 1 + 10 x_1 x_2


def test_one_parity() -> None:
    """Where every node has an even number of neighbours all cuts are even, so 3.9 proves 2 on the way down."""
    ring = np.roll(np.eye(5), 1, axis=0) + np.roll(np.eye(5), -1, axis=0)
    cut = Quadratic(0.25 * ring, d=-2.5)  # minus the cut
    assert next_value(cut, -4.9) == -4.0 and next_value(cut, -5.1) == -4.0 and next_value(cut, -3.9) == -2.0


def test_rounding_just_above_a_value_does_not_jump_to_the_next() -> None:
    """A bound that rounding put a hair above a value stays there, near zero and for large numbers alike."""
    f = Quadratic(PAIR)
    for value in (2.0, -2.0, 2e6 + 2.0, -2e6 - 2.0):
        hair = 2e-10 * max(1.0, abs(value))
        assert next_value(f, value + hair) == value + hair
    assert next_value(f, 2e6 + 0.1) == 2e6 + 2.0 and next_value(f, 1e-3) == 2.0


def test_weights_without_a_common_divisor_have_no_lattice() -> None:
    """Numbers of many digits in the matrix or a low-rank factor keep the bound as it is; zeros have one value."""
    for f in (Quadratic(TRIANGLE + 0.3 * np.pad(PAIR, (0, 1))), Quadratic(LowRank(np.array([[0.1], [0.7]])))):
        assert value_lattice(f) is None and next_value(f, -0.5) == -0.5
    assert next_value(Quadratic(np.zeros((2, 2)), d=0.7), -3.0) == 0.7
