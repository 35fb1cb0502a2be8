"""Polynomials as an objective: value, gradient, exact flips and swaps, both methods, counts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import flipwise
from flipwise.foundation.checks import Variables
from tests.polynomials import VARIABLES, Terms, least_value, naive_value, own_points, random_terms, spins_of, terms


@pytest.mark.kernels
@pytest.mark.parametrize("variables", VARIABLES)
@settings(max_examples=25)
@given(terms(n=4, whole=True))
def test_values_and_changes_are_exact(variables: Variables, given_terms: Terms) -> None:
    """With integer coefficients the value at every point, and the change of every flip, is that of the definition."""
    f = flipwise.Polynomial(given_terms, 4, variables=variables)
    assert f.exact and not f.slack.any()
    for point in own_points(4, variables):
        x = spins_of(point)
        value = naive_value(given_terms, point)
        assert f.value(x) == value
        g = f.gradient(x)
        for i in range(4):
            other = list(point)
            other[i] = 1 if point[i] != 1 else (-1 if variables == "spin" else 0)
            assert -2.0 * x[i] * g[i] == naive_value(given_terms, other) - value
            assert f.flip_change(x, g, np.array([i])) == naive_value(given_terms, other) - value


@pytest.mark.kernels
@pytest.mark.parametrize("variables", VARIABLES)
@given(terms(n=7), st.integers(0, 2**31))
def test_any_sequence_of_batches_keeps_gradient_and_value(variables: Variables, given_terms: Terms, seed: int) -> None:
    """After any batches of flips and swaps the gradient equals the full one and the changes add up."""
    rng = np.random.default_rng(seed)
    f = flipwise.Polynomial(given_terms, 7, variables=variables)
    x = np.where(rng.random(7) < 0.5, 1.0, -1.0)
    g, value = f.gradient(x), f.value(x)
    for _ in range(4):
        batch = rng.permutation(7)[: rng.integers(0, 8)]
        promised = f.flip_change(x, g, batch)
        assert f.flip(x, g, batch) == pytest.approx(promised, abs=1e-9)
        value += promised
        flips, change = f.flip_improving(x, g, rng.permutation(7)[: rng.integers(0, 8)], follow=bool(rng.integers(2)))
        assert change <= 0.0 and (flips > 0) == (change < 0.0)
        value += change
        ones, zeros = np.flatnonzero(x > 0), np.flatnonzero(x < 0)
        m = min(ones.size, zeros.size)
        swaps, change = f.swap_improving(x, g, np.stack([ones[:m], zeros[:m]], axis=1))
        assert change <= 0.0 and np.count_nonzero(x > 0) == ones.size and swaps <= m
        value += change
    assert g == pytest.approx(f.gradient(x), abs=1e-9)
    assert value == pytest.approx(f.value(x), abs=1e-9)
    assert flipwise.check_objective(f).ok


@pytest.mark.kernels
@pytest.mark.parametrize("variables", VARIABLES)
@given(terms(n=7, whole=True), st.integers(0, 2**31))
def test_improving_swaps_finds_the_best_of_all(variables: Variables, given_terms: Terms, seed: int) -> None:
    """The first pair is the best of all swaps inside groups, and there is none exactly when none improves."""
    rng = np.random.default_rng(seed)
    f = flipwise.Polynomial(given_terms, 7, variables=variables)
    x = np.where(rng.random(7) < 0.5, 1.0, -1.0)
    labels = rng.integers(0, 2, 7)
    g = f.gradient(x)
    pairs = [(i, j) for i in range(7) for j in range(7) if x[i] > 0 > x[j] and labels[i] == labels[j]]
    changes = []
    for i, j in pairs:
        y = x.copy()
        y[[i, j]] *= -1.0
        changes.append(f.value(y) - f.value(x))
    found = f.improving_swaps(x, g, labels)
    best = min(changes, default=0.0)
    assert len(found) > 0 if best < 0.0 else len(found) == 0
    if best < 0.0:
        assert changes[pairs.index((int(found[0, 0]), int(found[0, 1])))] == best


def test_arrays_and_dictionaries_make_the_same_polynomial() -> None:
    """From arrays, from pairs and from a dictionary come equal terms."""
    one = flipwise.Polynomial({(0, 2, 1): 1.5, (3,): -1.0, (): 2.0})
    two = flipwise.Polynomial.from_arrays([[2, 1, 0], [3, -1, -1]], [1.5, -1.0], constant=2.0)
    three = flipwise.Polynomial.from_terms([((0, 1, 2), 1.0), ((3,), -1.0), ((2, 1, 0), 0.5), ((), 2.0)])
    assert one.to_dict() == two.to_dict() == three.to_dict() == {(): 2.0, (3,): -1.0, (0, 1, 2): 1.5}
    assert repr(one) == "Polynomial(4 spin variables, 2 terms, degree 3)"


def test_a_polynomial_of_degree_two_is_the_quadratic() -> None:
    """Value, gradient and Lipschitz constant agree with those of the same function as a matrix."""
    rng = np.random.default_rng(3)
    A = np.triu(rng.integers(-3, 4, (6, 6)), 1).astype(float)
    f = flipwise.Polynomial({(i, j): A[i, j] for i in range(6) for j in range(i + 1, 6)}, 6)
    q = flipwise.Quadratic((A + A.T) / 2.0)
    x = rng.uniform(-1, 1, 6)
    assert f.value(x) == pytest.approx(q.value(x)) and f.gradient(x) == pytest.approx(q.gradient(x))
    norm = np.abs(np.linalg.eigvalsh(A + A.T)).max()
    assert f.lipschitz().is_bound and f.lipschitz().value >= norm


@pytest.mark.parametrize("variables", VARIABLES)
@pytest.mark.parametrize("method", ["dpcd", "portfolio", "exact"])
def test_methods_find_the_minimum_free_and_with_counts(method: str, variables: Variables) -> None:
    """Every method ends at a feasible point; the portfolio and enumeration at a minimum, by brute force."""
    rng = np.random.default_rng(8)
    most = 10 if method == "portfolio" else None
    for _ in range(3):
        given_terms = random_terms(rng, 8, 20)
        f = flipwise.Polynomial(given_terms, 8, variables=variables)
        for ones in (None, 3):
            found = flipwise.minimize(f, method=method, count=ones, seed=0, bound="auto", max_iterations=most)
            least = least_value(given_terms, 8, variables, ones)
            assert naive_value(given_terms, found.x.tolist()) == found.value
            assert ones is None or np.count_nonzero(found.x > 0) == ones
            assert found.bound is not None and found.value >= least >= found.bound
            if method != "dpcd":
                assert found.value == least
            assert found.status is not flipwise.Status.OPTIMAL or found.value == least


def test_dpcd_ends_where_no_flip_improves() -> None:
    """LOCAL_OPTIMUM is said where every single flip (or swap) was looked at and none helps."""
    rng = np.random.default_rng(5)
    f = flipwise.Polynomial.from_arrays(rng.integers(0, 60, (400, 3)), rng.standard_normal(400), 60)
    found = flipwise.minimize(f, method="dpcd", seed=1)
    x = found.x.astype(float)
    assert found.status is flipwise.Status.LOCAL_OPTIMUM and (x * f.gradient(x) <= 1e-9).all()
    counted = flipwise.minimize(f, method="dpcd", count=20, seed=1)
    x = counted.x.astype(float)
    assert f.improving_swaps(x, f.gradient(x), np.zeros(60, dtype=np.int64)).size == 0


def test_a_dictionary_is_an_objective() -> None:
    """`minimize` takes terms of spins as they are, linear ones too, and n where more variables are meant."""
    found = flipwise.minimize({(0,): 1.0, (0, 1, 2): 2.0}, seed=0)
    assert found.value == -3.0 and found.x.size == 3
    assert flipwise.minimize({(0, 1, 2): 2.0}, 5, seed=0).x.size == 5
    with pytest.raises(flipwise.InvalidInput, match="empty"):
        flipwise.minimize({(): 1.0})


def test_numbers_that_round_are_known_to() -> None:
    """Tenths are not added up exactly, and a slack says by how much a change may be off; quarters are."""
    tenths = flipwise.Polynomial({(0, 1, 2): 0.1, (0,): 0.3})
    assert not tenths.exact and (tenths.slack > 0).all() and tenths.slack.max() < 1e-12
    assert flipwise.Polynomial({(0, 1, 2): 0.25, (0,): 2.0**40}).exact
    assert math.isclose(tenths.value(np.array([-1.0, 1.0, 1.0])), -0.4)


def test_only_dictionaries_are_terms() -> None:
    """A matrix or a list is refused with the way to go."""
    with pytest.raises(flipwise.InvalidInput, match="from_arrays"):
        flipwise.Polynomial([[0, 1]])  # type: ignore[arg-type]
    with pytest.raises(flipwise.InvalidInput, match="variables"):
        flipwise.Polynomial({(0,): 1.0}, variables="bits")  # type: ignore[arg-type]
