"""Sums of squared autocorrelations are found out, and their minima met."""

from __future__ import annotations

import numpy as np
import pytest

import flipwise
from flipwise.solvers.portfolio.correlations import autocorrelation, is_autocorrelation, starts


def test_what_it_is_and_what_it_is_not() -> None:
    """Any positive multiple and any constant; not the negative, not with a term changed, added or removed."""
    f = autocorrelation(12)
    rng = np.random.default_rng(0)
    for _ in range(5):
        s = 2.0 * rng.integers(0, 2, size=12) - 1.0
        C = [float(s[k:] @ s[: 12 - k]) for k in range(1, 12)]
        assert f.value(s) == pytest.approx(sum(c * c for c in C) - 66.0)
    terms = {
        tuple(f.members[a:b].tolist()): c for a, b, c in zip(f.offsets, f.offsets[1:], f.coefficients, strict=False)
    }
    shifted = {**{term: 0.3 * c for term, c in terms.items()}, (): 5.0}
    assert is_autocorrelation(f) and is_autocorrelation(flipwise.Polynomial(shifted, 12))
    first = next(iter(terms))
    others = (
        {term: -c for term, c in terms.items()},
        {**terms, first: 2.0 * terms[first]},
        {term: c for term, c in terms.items() if term != first},
        {**terms, (3,): 1.0},
    )
    assert not any(is_autocorrelation(flipwise.Polynomial(other, 12)) for other in others)
    assert not is_autocorrelation(flipwise.Polynomial(terms, 12, variables="binary"))
    assert not is_autocorrelation(flipwise.Polynomial({(0, 1, 2, 3): 1.0}, 12))


@pytest.mark.parametrize("n", [9, 10])
def test_every_second_start_is_skew_symmetric(n: int) -> None:
    """s_{m+i} = (-1)^i s_{m-i}, for an even length of a sequence with one more at either end."""
    drawn = starts(n, 40, np.random.default_rng(0))
    assert drawn.shape == (40, n) and set(np.unique(drawn)) == {-1, 1}
    off = 1 - n % 2
    for row, s in enumerate(drawn[::2]):
        middle = (n + off) // 2 - (off if row % 2 == 0 else 0)
        i = np.arange(1, min(middle, n - 1 - middle) + 1)
        assert (s[middle + i] == (-1) ** i * s[middle - i]).all()


@pytest.mark.parametrize(("n", "least"), [(13, 6), (20, 26), (27, 37)])
def test_the_least_energies_are_met(n: int, least: int) -> None:
    """Known from exhaustive search; the value is the polynomial's own."""
    f = autocorrelation(n)
    result = flipwise.minimize(f, method="portfolio", seed=0, target=least - n * (n - 1) / 2, max_iterations=20)
    assert result.value == least - n * (n - 1) / 2 == f.value(result.x.astype(float))
