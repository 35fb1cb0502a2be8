"""Spins that are bound to others: the rest has the same optimum, and points go back and forth."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import flipwise
from flipwise.engine.limits import Clock, Status
from flipwise.model.forms import IsingForm, ising_form
from flipwise.solvers.portfolio.contraction import ContractedPopulation, DecidedPopulation, contraction_of
from flipwise.solvers.portfolio.population import FreePopulation


def heavy_tailed(n: int, seed: int, fields: bool) -> IsingForm:
    """Couplings over five orders of magnitude."""
    rng = np.random.default_rng(seed)
    J = np.triu(np.rint(10.0 ** rng.uniform(0, 5, (n, n))) * rng.choice([-1, 0, 1], (n, n)), 1)
    h = np.rint(10.0 ** rng.uniform(0, 5, n)) * rng.choice([-1, 0, 1], n) * fields
    form = ising_form(flipwise.Quadratic((J + J.T) / 2, h))
    assert form is not None
    return form


def least(form: IsingForm) -> float:
    """The least energy, by trying all points."""
    points = (np.array(p, dtype=np.int8) for p in itertools.product([-1, 1], repeat=form.n))
    return min(form.energy(s, form.fields(s)) for s in points)


@given(st.integers(2, 9), st.booleans(), st.integers(0, 10_000))
def test_what_is_left_has_the_same_optimum(n: int, fields: bool, seed: int) -> None:
    """The best of the expanded points is the best of all points; restricting an expanded point gives it back."""
    form = heavy_tailed(n, seed, fields)
    contraction = contraction_of(form)
    if contraction is None:
        return
    best = np.inf
    for p in itertools.product([-1, 1], repeat=contraction.form.n):
        s = np.array(p, dtype=np.int8)
        whole = contraction.expand(s)
        assert np.array_equal(contraction.restrict(whole), s)
        best = min(best, form.energy(whole, form.fields(whole)))
    assert best == least(form)


@given(st.integers(0, 10_000))
def test_energies_differ_by_a_constant(seed: int) -> None:
    """Of expanded points and of what is left, up to the two forms' units."""
    form = heavy_tailed(8, seed, True)
    contraction = contraction_of(form)
    if contraction is None or contraction.form.n == 0:
        return
    rng, inner = np.random.default_rng(seed), contraction.form
    a, b = rng.choice(np.array([-1, 1], dtype=np.int8), (2, inner.n))
    whole = [form.energy(x, form.fields(x)) for x in (contraction.expand(a), contraction.expand(b))]
    part = [inner.energy(x, inner.fields(x)) / inner.scale for x in (a, b)]
    assert whole[0] - whole[1] == pytest.approx(part[0] - part[1])


def test_chains_of_many_scales_are_solved_at_once() -> None:
    """A chain whose couplings fall by powers with the distance ends without a search, at its optimum."""
    rng = np.random.default_rng(1)
    n = 14
    far = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) + np.eye(n)
    J = np.triu(rng.standard_normal((n, n)) * 1000.0 * far**-6.0, 1)
    result = flipwise.minimize(J + J.T, method="portfolio", seed=0)
    points = np.array(list(itertools.product([-1.0, 1.0], repeat=n)))
    assert result.value == pytest.approx(np.einsum("pi,ij,pj->p", points, J + J.T, points).min())
    assert result.status in (Status.CONVERGED, Status.OPTIMAL)


def test_a_contracted_population_shows_points_of_the_whole() -> None:
    """The best has the whole's spins and energy, before and after rounds."""
    form = heavy_tailed(12, 3, False)
    contraction = contraction_of(form)
    assert contraction is not None
    start = np.ones(contraction.form.n, dtype=np.int8)
    rng = np.random.default_rng(0)
    inner = FreePopulation(contraction.form, start, rng)
    population = ContractedPopulation(form, contraction, inner)
    for _ in range(3):
        assert population.best.s.shape == (12,)
        assert population.best.energy == form.energy(population.best.s, form.fields(population.best.s))
        population.merge([task() for task in population.tasks(2, Clock())])  # type: ignore[misc]
    state = population.state()
    population.restore(state)
    assert population.best.energy == least(form)


def test_nothing_is_left_to_do_without_couplings() -> None:
    """Every spin opposes its field, there are no jobs, and a state changes nothing."""
    form = ising_form(flipwise.Quadratic(np.zeros((3, 3)), np.array([2.0, -1.0, 0.0])))
    assert form is not None
    population = DecidedPopulation(form, np.random.default_rng(0))
    population.merge([])
    population.restore(population.state())
    assert population.tasks(4, Clock()) == []
    assert population.best.energy == least(form)


def test_problems_without_bound_spins_are_left_alone() -> None:
    """A glass of equal couplings, and one with too many spins to write out."""
    rng = np.random.default_rng(0)
    signs = np.triu(rng.choice([-1.0, 1.0], (12, 12)), 1)
    form = ising_form(flipwise.Quadratic(signs + signs.T))
    assert form is not None
    assert contraction_of(form) is None
