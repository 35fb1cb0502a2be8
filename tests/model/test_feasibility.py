"""Points that keep linear rows: found where there is one, near where it is asked for, and refused with the rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import flipwise
from flipwise.model.feasibility import feasible_point, fields_at, nearest_point, row_units
from flipwise.model.rows import LinearConstraints
from tests.reference import all_spins


def rows_of(n: int, m: int, seed: int) -> LinearConstraints:
    """Rows of small integers between limits that are not far apart, in spins."""
    rng = np.random.default_rng(seed)
    A = rng.integers(-3, 4, (m, n)).astype(np.float64)
    middle = A @ rng.choice([-1.0, 1.0], n)
    return LinearConstraints(
        A, middle - rng.integers(0, 3, m), middle + rng.integers(0, 3, m), variables="spin"
    ).of_bits("spin", (), (n,))


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 7), st.integers(1, 3), st.integers(0, 10**6))
def test_a_point_is_found_where_there_is_one(n: int, m: int, seed: int) -> None:
    """It keeps all rows, and so does the one near a given vector, which is its signs where these keep them."""
    rows, rng = rows_of(n, m, seed), np.random.default_rng(seed)
    assert rows.contains(feasible_point(rows, rng))
    y = rng.standard_normal(n)
    near = nearest_point(rows, y)
    assert rows.contains(near)
    signs = np.where(y >= 0.0, 1.0, -1.0)
    assert not rows.contains(signs) or np.array_equal(near, signs)


def test_rows_without_a_point_are_an_error() -> None:
    """Not a point that breaks them."""
    rows = LinearConstraints(np.ones((1, 3)), 2.5, 2.6, variables="binary").of_bits("binary", (), (3,))
    assert not any(rows.contains(x) for x in all_spins(3))
    with pytest.raises(flipwise.InfeasibleModel):
        feasible_point(rows, np.random.default_rng(0))


def test_a_violation_is_measured_in_coefficients() -> None:
    """The mean size of those of its row; 1 where a row has none."""
    A = np.array([[2.0, -4.0, 0.0], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    rows = LinearConstraints(A, -9.0, 9.0, variables="binary").of_bits("binary", (), (3,))
    assert row_units(rows).tolist() == [3.0, 1.0, 1.0]


@given(st.integers(1, 8), st.integers(0, 10**6))
def test_fields_are_what_couplings_and_linear_part_do_to_a_spin(n: int, seed: int) -> None:
    """h + J s."""
    rng = np.random.default_rng(seed)
    J, h = sp.csr_array(rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.5)), rng.standard_normal(n)
    s = rng.choice([-1, 1], n).astype(np.int8)
    assert np.allclose(fields_at((J.indptr, J.indices, J.data), h, s), h + J.toarray() @ s)
