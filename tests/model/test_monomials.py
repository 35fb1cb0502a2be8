"""Terms of polynomials: reduced, added up exactly, ordered, or refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import flipwise
from flipwise.foundation.checks import Variables
from flipwise.model.monomials import monomials, rows_of_arrays, rows_of_terms
from tests.polynomials import VARIABLES, Terms, naive_value, own_points, terms

NUMBERS = st.sampled_from([1e16, -1e16, 1.0, -3.0, 0.1, 1e-9])


@pytest.mark.parametrize("variables", VARIABLES)
@given(terms(n=4))
def test_reduced_terms_have_the_values_of_the_given_ones(variables: Variables, given_terms: Terms) -> None:
    """At every point the reduced polynomial is the given one, up to one rounding for each coefficient."""
    f = flipwise.Polynomial(given_terms, 4, variables=variables)
    for point in own_points(4, variables):
        assert float(naive_value(f.to_dict(), point)) == pytest.approx(
            float(naive_value(given_terms, point)), abs=1e-12
        )
    keys = [key for key in f.to_dict() if key]
    assert all(list(key) == sorted(set(key)) for key in keys)
    assert keys == sorted(keys, key=lambda key: (len(key), key))
    assert all(f.to_dict().values())


@given(st.lists(st.tuples(st.permutations([0, 1, 2]), NUMBERS), min_size=1, max_size=8))
def test_equal_products_are_added_with_one_rounding(pairs: list[tuple[list[int], float]]) -> None:
    """However many and however large they are, the coefficient is the sum rounded once."""
    made = monomials(rows_of_terms((tuple(key), c) for key, c in pairs), 3, "spin", 0.0)
    exact = float(sum((Fraction(c) for _, c in pairs), Fraction(0)))
    assert list(made.coefficients) == ([exact] if exact else [])


def test_powers_follow_the_rule_of_the_variables() -> None:
    """x^2 = x for bits, s^2 = 1 for spins, and what is left of nothing is a constant."""
    given_terms = {(1, 1, 0): 2.0, (2, 2): 3.0, (0, 1, 0, 1, 0): 1.0}
    assert flipwise.Polynomial(given_terms).to_dict() == {(): 3.0, (0,): 3.0}
    assert flipwise.Polynomial(given_terms, variables="binary").to_dict() == {(0, 1): 3.0, (2,): 3.0}


def test_rows_of_arrays_may_have_any_length() -> None:
    """-1 stands for no variable, wherever it is; an empty matrix has no terms; small integer types do not overflow."""
    parts = rows_of_arrays([[3, -1, 1], [-1, -1, -1], [2, 0, 1]], [1.0, 5.0, 2.0])
    made = monomials(parts, None, "spin", 0.5)
    assert (made.n, made.constant, made.members.tolist()) == (4, 5.5, [1, 3, 0, 1, 2])
    assert monomials(rows_of_arrays(np.empty((0, 3), int), []), 2, "spin", 0.0).coefficients.size == 0
    same = np.zeros((300, 2), dtype=np.uint8) + np.array([0, 1], dtype=np.uint8)
    assert monomials(rows_of_arrays(same, np.full(300, 100, np.int8)), None, "spin", 0.0).coefficients.tolist() == [3e4]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({0: 1.0}, r"tuples of variables, got 0.*\(i,\)"),
        ({"ab": 1.0}, "tuples of variables, got 'ab'"),
        ({(0, -1): 1.0}, "integers of at least 0, got -1"),
        ({("a", "b"): 1.0}, "solve_qubo or flipwise.solve_ising"),
        ({(True,): 1.0}, "integers of at least 0, got True"),
        ({(0,): float("nan")}, "finite"),
        ({(0,): 1j}, "real numbers"),
        ({(2**31,): 1.0}, "at most 2147483647"),
        ({(0,): 1e-320}, "between"),
        ({(0,): 1e308, (1,): 1e308}, "between"),
    ],
)
def test_what_is_no_term_is_refused(wrong: dict[object, float], says: str) -> None:
    """Keys that are no tuples of indices, and numbers that are none, are errors that say which."""
    with pytest.raises(flipwise.InvalidInput, match=says):
        flipwise.Polynomial(wrong)


@pytest.mark.parametrize(
    ("indices", "coefficients", "says"),
    [
        ([[0.5, 1.0]], [1.0], "matrix of integers"),
        ([0, 1], [1.0], "matrix of integers"),
        ([[0, 1]], [1.0, 2.0], "must have 1 entries"),
        ([[0, -2]], [1.0], "between 0"),
        ([[0, 2**31]], [1.0], "between 0"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(indices: object, coefficients: object, says: str) -> None:
    """Indices must be a matrix of integers with one coefficient for each row."""
    with pytest.raises(flipwise.InvalidInput, match=says):
        flipwise.Polynomial.from_arrays(indices, coefficients)  # type: ignore[arg-type]


def test_the_number_of_variables_holds_all_of_them() -> None:
    """A given n may be larger than what occurs, never smaller."""
    assert flipwise.Polynomial({(1,): 1.0}, 5).n == 5
    with pytest.raises(flipwise.InvalidInput, match="`n` is 3, but a term has the variable 4"):
        flipwise.Polynomial({(4, 0): 1.0}, 3)
