"""The population of polynomials: feasible, exact, repeatable, and resumed where it stood."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import flipwise
from flipwise.engine.limits import Clock
from flipwise.foundation.errors import InvalidFile
from flipwise.solvers.portfolio.annealing import random_state
from flipwise.solvers.portfolio.polynomials import PolynomialPopulation, anneal, walk
from tests.polynomials import VARIABLES


def _glass(n: int, degree: int, terms: int, seed: int, variables: str = "spin") -> flipwise.Polynomial:
    rng = np.random.default_rng(seed)
    rows = np.array([rng.permutation(n)[:degree] for _ in range(terms)])
    return flipwise.Polynomial.from_arrays(rows, rng.standard_normal(terms), n, variables=variables)  # type: ignore[arg-type]


def _population(f: flipwise.Polynomial, groups: int | None) -> PolynomialPopulation:
    start = np.where(np.arange(f.n) % 3 == 0, 1, -1).astype(np.int8)
    labels = None if groups is None else np.arange(f.n) % groups
    return PolynomialPopulation(f, labels, start, np.random.default_rng(0))


@pytest.mark.parametrize("variables", VARIABLES)
@pytest.mark.parametrize("groups", [None, 1, 2])
def test_jobs_return_feasible_points_with_their_values(variables: str, groups: int | None) -> None:
    """Anneals, reheatings and walks keep the counts, and a member's energy is its value."""
    f = _glass(48, 3, 200, 1, variables)
    population = _population(f, groups)
    start, clock = population.best.s, Clock(None)
    first = population.best.energy
    kinds = set()
    for _ in range(6):
        found = [task() for task in population.tasks(3, clock)]
        for member in found:
            assert member is not None and member.energy == f.value(member.s.astype(float))
            kinds.add(member.origin)
            if groups is not None:
                labels = np.arange(48) % groups
                assert np.array_equal(np.bincount(labels, weights=member.s > 0), np.bincount(labels, weights=start > 0))
        population.merge([member for member in found if member is not None])
    assert kinds == {0, 1, 2} and population.best.energy <= first
    assert len(population.members) <= 10


def test_anneals_and_walks_end_with_the_clock() -> None:
    """Without time an anneal says that it is worthless, and a walk returns its start."""
    population = _population(_glass(18, 3, 60, 1), None)
    clock = Clock(None)
    clock.stop()
    s, state = population.best.s.copy(), random_state(np.random.default_rng(1))
    assert not anneal(population.form, s.copy(), 1.0, 50, state, clock)
    assert np.array_equal(walk(population.form, s.copy(), 50, state, clock), s)


def test_the_same_seed_gives_the_same_answer_on_any_number_of_threads() -> None:
    """With a limit in iterations, one seed is one answer; another polynomial has another."""
    f = _glass(40, 4, 120, 3)
    found = [flipwise.minimize(f, method="portfolio", seed=5, max_iterations=4, threads=k) for k in (1, 2)]
    assert np.array_equal(found[0].x, found[1].x) and found[0].value == found[1].value


def test_the_portfolio_beats_the_descent_on_a_glass() -> None:
    """Rounds after the descent improve on it, free and with a count."""
    f = _glass(60, 3, 240, 4)
    for count in (None, 20):
        descent = flipwise.minimize(f, method="dpcd", count=count, seed=0)
        found = flipwise.minimize(f, method="portfolio", count=count, seed=0, max_iterations=4)
        assert found.value < descent.value


def test_a_checkpoint_goes_on_where_it_stood(tmp_path: Path) -> None:
    """A run that was stopped and taken up again ends at the point of one that was not."""
    f = _glass(30, 3, 90, 6)
    whole = flipwise.minimize(f, method="portfolio", seed=2, max_iterations=6)
    path = tmp_path / "run.ckpt"
    rounds: list[int] = []

    def stop(progress: flipwise.Progress) -> bool:
        rounds.append(progress.iteration)
        return len(rounds) == 8

    flipwise.minimize(f, method="portfolio", seed=2, max_iterations=6, callback=stop, checkpoint=path, every=0.0)
    resumed = flipwise.minimize(f, method="portfolio", seed=2, max_iterations=6, checkpoint=path, every=0.0)
    assert np.array_equal(resumed.x, whole.x) and resumed.value == whole.value


def test_a_population_that_breaks_the_counts_is_not_taken_over() -> None:
    """States with another number of ones, or without any chance for a kind of job, are refused."""
    f = _glass(18, 3, 60, 1)
    population = _population(f, 1)
    state = population.state()
    state.members[0].s[:] = 1
    with pytest.raises(InvalidFile, match="breaks the constraint"):
        _population(f, 1).restore(state)
    state = _population(f, None).state()
    state.details["success"] = np.zeros(3)
    with pytest.raises(InvalidFile, match="positive"):
        _population(f, None).restore(state)


def test_polynomials_without_products_need_no_temperature() -> None:
    """A constant and a linear function are solved too."""
    assert flipwise.minimize({(0,): 1.0, (1,): -2.0}, method="portfolio", seed=0, max_iterations=2).value == -3.0
    assert flipwise.minimize({(): 4.0}, 3, method="portfolio", seed=0, max_iterations=2).value == 4.0
