"""Kernels at a point and its gradient: each against a naive twin, the same bits interpreted and compiled."""

from __future__ import annotations

import numpy as np
import pytest

import flipwise
from flipwise.kernels import polynomial as kernels
from tests.polynomials import VARIABLES, random_terms

pytestmark = pytest.mark.kernels


def _polynomial(variables: str, n: int = 9, seed: int = 0) -> flipwise.Polynomial:
    return flipwise.Polynomial(random_terms(np.random.default_rng(seed), n, 30), n, variables=variables)  # type: ignore[arg-type]


def _spins(n: int, seed: int) -> np.ndarray:
    return np.where(np.random.default_rng(seed).random(n) < 0.5, 1.0, -1.0)


@pytest.mark.parametrize("variables", VARIABLES)
def test_the_gradient_is_a_sum_of_products_of_the_others(variables: str) -> None:
    """At any real point, zeros among them, each entry is the sum over terms of the product without that variable."""
    f = _polynomial(variables)
    v = np.random.default_rng(1).uniform(-1, 1, 9)
    v[3] = 0.0
    g = np.zeros(9)
    kernels.term_gradient(f.offsets, f.members, f.coefficients, v, np.empty(f.degree), g)
    naive = np.zeros(9)
    for key, c in f.to_dict().items():
        for i in key:
            naive[i] += c * np.prod([v[j] for j in key if j != i])
    assert g == pytest.approx(naive, abs=1e-12)


@pytest.mark.parametrize("variables", VARIABLES)
def test_flips_one_by_one_are_the_gradient_made_anew(variables: str) -> None:
    """A batch of flips leaves the point and gradient that a fresh evaluation gives, and returns the change of value."""
    f = _polynomial(variables)
    x = _spins(9, 2)
    g, before = f.gradient(x), f.value(x)
    batch = np.array([3, 1, 4, 8, 3])
    change = kernels.flip_terms(*f.arrays, batch, x, g)
    assert change == f.value(x) - before and np.array_equal(g, f.gradient(x))


@pytest.mark.parametrize("variables", VARIABLES)
def test_a_batch_counts_every_term_once(variables: str) -> None:
    """The promised change of a set of flips is the difference of two values, whatever the order."""
    f = _polynomial(variables)
    x = _spins(9, 3)
    for batch in (np.array([8, 0, 5]), np.arange(9), np.array([2])):
        flips = np.zeros(9, dtype=np.bool_)
        flips[batch] = True
        assert kernels.batch_change(*f.arrays, batch, flips, x) == f.value(np.where(flips, -x, x)) - f.value(x)


@pytest.mark.parametrize("variables", VARIABLES)
@pytest.mark.parametrize("n", [9, 60])
def test_following_ends_where_nothing_improves(variables: str, n: int) -> None:
    """With `follow`, from all coordinates, no single flip improves at the end: few terms for each variable and many."""
    f = _polynomial(variables, n, seed=4)
    x = _spins(n, 5)
    g, before = f.gradient(x), f.value(x)
    queue, waiting = np.arange(n), np.ones(n, dtype=np.bool_)
    flips, change = kernels.flip_improving_terms(*f.arrays, f.slack, queue, waiting, n, True, x, g)
    assert flips > 0 and change == f.value(x) - before
    assert np.array_equal(g, f.gradient(x)) and (x * g <= 0).all()


@pytest.mark.parametrize("variables", VARIABLES)
def test_swaps_and_partners_know_what_pairs_share(variables: str) -> None:
    """The change of a swap, and the best partner of every +1, are those of two values, in one or two groups."""
    f = _polynomial(variables, seed=6)
    x = _spins(9, 7)
    g = f.gradient(x)
    for labels in (np.zeros(9, dtype=np.int64), np.arange(9) % 2):
        ones, zeros = np.flatnonzero(x > 0), np.flatnonzero(x < 0)
        order = zeros[np.lexsort((g[zeros], labels[zeros]))]
        begins = np.searchsorted(labels[order], np.arange(labels.max() + 2)).astype(np.int64)
        partner, best = np.empty(ones.size, dtype=np.int64), np.empty(ones.size)
        kernels.best_partners(
            *f.arrays, f.slack, labels, ones, order, begins, np.zeros(9), np.full(9, -1), x, g, partner, best
        )
        for a, i in enumerate(ones):
            changes = {}
            for j in zeros[labels[zeros] == labels[i]]:
                y = x.copy()
                y[[i, j]] *= -1.0
                changes[int(j)] = f.value(y) - f.value(x)
            least = min(0.0, *changes.values()) if changes else 0.0
            assert best[a] == least and (partner[a] < 0 if least == 0.0 else changes[int(partner[a])] == least)
        for i, j, change in zip(ones, partner, best, strict=True):
            if j >= 0:
                y, slopes = x.copy(), g.copy()
                pairs = np.array([[i, j], [i, j]])
                assert kernels.swap_improving_terms(*f.arrays, f.slack, pairs, y, slopes) == (1, change)
                assert np.array_equal(slopes, f.gradient(y))


@pytest.mark.parametrize("variables", VARIABLES)
def test_both_tiers_give_the_same_bits(variables: str) -> None:
    """Interpreted and compiled kernels leave the same numbers, rounding included."""
    rng = np.random.default_rng(11)
    f = flipwise.Polynomial.from_arrays(rng.integers(0, 12, (60, 4)), rng.standard_normal(60), 12, variables=variables)  # type: ignore[arg-type]
    results = []
    for run in (kernels.flip_terms.interpreted, kernels.flip_terms.compile()):
        x = _spins(12, 1)
        g = f.gradient(x)
        results.append((run(*f.arrays, np.array([1, 5, 9, 2, 5]), x, g), x, g))
    assert results[0][0] == results[1][0] and np.array_equal(results[0][2], results[1][2])
