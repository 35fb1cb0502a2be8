"""The population under linear rows: anneals are no longer than the model can need."""

from __future__ import annotations

import numpy as np
import pytest

from flipwise.engine.limits import Clock
from flipwise.model.forms import ising_form
from flipwise.model.problem import as_problem
from flipwise.solvers.portfolio.chains import FILLING, RowsPopulation


@pytest.mark.parametrize("n", [8, 40])
def test_a_population_that_stays_small_does_not_make_anneals_ever_longer(n: int) -> None:
    """Few points may keep the rows: 200 jobs make as few of them longer as those of a full population."""
    rng = np.random.default_rng(0)
    A = rng.integers(-5, 6, (n, n)).astype(float)
    problem = as_problem(A + A.T, None, None, None, None, (np.ones(n), None, 1))
    form = ising_form(problem.objective)
    population = RowsPopulation(form, problem.constraint, -np.ones(n, dtype=np.int8), rng)
    first, lengths = population.sweeps, []
    for _ in range(200):
        population.tasks(1, Clock(None))
        lengths.append(population.sweeps)
    assert len(population.members) == 1 and lengths[-1] <= max(first, 2.0**n)
    grown = np.diff([first, *lengths]) > 0
    assert grown[np.array([first, *lengths[:-1]]) >= FILLING * first].mean() < 0.5 if n == 40 else lengths[-1] == 256
