"""The portfolio as a method of minimize: feasibility under every constraint, quality, interruption, options."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

import flipwise
from flipwise.engine.limits import Clock
from flipwise.foundation.errors import InvalidInput
from flipwise.model.forms import ising_form
from flipwise.solvers.portfolio.annealing import paced


def torus(side: int, seed: int) -> sp.csr_array:
    """A toroidal +-1 glass."""
    nodes = np.arange(side * side).reshape(side, side)
    i = np.concatenate([nodes.ravel(), nodes.ravel()])
    j = np.concatenate([np.roll(nodes, -1, 0).ravel(), np.roll(nodes, -1, 1).ravel()])
    w = np.random.default_rng(seed).choice([-1.0, 1.0], size=i.size)
    A = sp.csr_array(sp.coo_array((w, (i, j)), shape=(side * side, side * side)))
    return sp.csr_array((A + A.T) / 2)


@pytest.mark.parametrize(
    "constraint",
    [
        None,
        flipwise.Cardinality(4),
        flipwise.Cardinality(0),
        flipwise.Cardinality(12),
        flipwise.GroupCounts([0, 1, 2] * 4, [1, 4, 2]),
    ],
)
@pytest.mark.parametrize("scale", [1.0, 0.37])
def test_small_problems_are_solved_under_every_constraint(constraint: object, scale: float) -> None:
    """Integers and floats, free and counted: the answer is feasible and the brute-force optimum."""
    rng = np.random.default_rng(0)
    A = np.triu(rng.integers(-9, 10, (12, 12)), 1) * scale
    f = flipwise.Quadratic(A + A.T, rng.integers(-9, 10, 12) * scale)
    chosen = flipwise.Free() if constraint is None else constraint
    points = (np.array(p) for p in itertools.product([-1.0, 1.0], repeat=12))
    best = min(f.value(p) for p in points if chosen.contains(p))  # type: ignore[attr-defined]
    found = flipwise.minimize(f, method="portfolio", constraint=constraint, seed=0, max_iterations=6)  # type: ignore[arg-type]
    assert chosen.contains(found.x)  # type: ignore[attr-defined]
    assert found.value == pytest.approx(best)


def test_recombination_beats_plain_descents_on_a_torus() -> None:
    """A few rounds are far better than as many DPCD restarts."""
    A = torus(24, 1)
    rounds = flipwise.minimize(A, method="portfolio", seed=0, max_iterations=3)
    descents = flipwise.minimize(A, method=flipwise.DPCD(neighbourhood=0), seed=0, restarts=20)
    assert rounds.value < 1.05 * descents.value


def test_matrix_variables_keep_their_columns() -> None:
    """ColumnCounts on a matrix variable: every column has its count."""
    rng = np.random.default_rng(3)
    A = rng.normal(size=(24, 24))
    f = flipwise.Quadratic(A + A.T, shape=(8, 3))
    found = flipwise.minimize(f, method="portfolio", constraint=flipwise.ColumnCounts([2, 4, 5]), seed=0, effort=3 / 30)
    assert (found.x > 0).sum(axis=0).tolist() == [2, 4, 5]
    assert found.value == pytest.approx(f.value(found.x.astype(float)))


def test_interruption_returns_the_best_so_far() -> None:
    """Ctrl-C in the middle of a round gives a feasible result with its status."""

    def interrupt(progress: flipwise.Progress) -> None:
        if progress.iteration > 4:
            raise KeyboardInterrupt

    found = flipwise.minimize(torus(12, 4), method="portfolio", seed=0, callback=interrupt, max_iterations=50)
    assert found.status is flipwise.Status.INTERRUPTED
    assert np.isin(found.x, [-1, 1]).all()


def test_start_is_never_made_worse() -> None:
    """A warm start is improved or kept."""
    A = torus(12, 5)
    good = flipwise.minimize(A, method="portfolio", seed=0, max_iterations=4)
    again = flipwise.minimize(A, method="portfolio", seed=1, start=good.x, max_iterations=1)
    assert again.value <= good.value


def test_integers_are_recognised_and_scaled_exactly() -> None:
    """Multiples of 1/8 become integers without a common factor; the energy is the value, scaled and shifted."""
    rng = np.random.default_rng(6)
    A = np.triu(rng.integers(-20, 21, (30, 30)) / 4.0, 1)
    f = flipwise.Quadratic(A + A.T + np.diag(rng.integers(0, 5, 30).astype(float)), rng.integers(-9, 9, 30) / 8.0, 2.5)
    for dense_from in (0.0, np.inf):
        form = (
            ising_form(f, dense_from)
            if dense_from == 0.0
            else ising_form(
                flipwise.Quadratic(sp.csr_array(f.terms[0].A), f.c, f.d),
                dense_from,  # type: ignore[attr-defined]
            )
        )
        assert form is not None
        assert np.issubdtype(form.h.dtype, np.integer)
        s = (2 * rng.integers(0, 2, 30) - 1).astype(np.int8)
        constant = f.d + f.diagonal.sum()
        assert form.energy(s, form.fields(s)) / form.scale + constant == f.value(s.astype(float))


def test_schedules_are_thinned_to_the_time_left() -> None:
    """Without a limit every temperature is visited; with none left the schedule ends at once."""
    schedule = np.linspace(2.0, 1.0, 100)
    assert np.array_equal(np.concatenate(list(paced(schedule, 1_000_000, Clock()))), schedule)
    assert [part.size for part in paced(schedule, 10, Clock(0.0))] == [0]


def test_options_are_checked() -> None:
    """`effort` must be a number of at least 0, other names are unknown."""
    with pytest.raises(InvalidInput, match="effort"):
        flipwise.minimize(np.eye(3), method="portfolio", effort=-1)
    with pytest.raises(InvalidInput, match="unknown option"):
        flipwise.minimize(np.eye(3), method="portfolio", sweeps=5)


@pytest.mark.parametrize("constraint", [None, flipwise.Cardinality(3)])
def test_couplings_at_the_end_of_the_range_have_no_temperatures(constraint: object) -> None:
    """A schedule whose cold end would round to 0 is none; the descent alone answers."""
    A = np.full((6, 6), 5e-324)
    result = flipwise.minimize(flipwise.Quadratic(A, np.ones(6)), constraint=constraint, method="portfolio", seed=0)
    assert result.value == (-6.0 if constraint is None else 0.0)


def test_no_round_is_begun_for_which_there_is_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer of the descent is that of a large problem whose first round would outlast the limit."""
    A = torus(20, 0)
    descent = flipwise.minimize(A, method=flipwise.DPCD(neighbourhood=0), seed=0)
    monkeypatch.setattr("flipwise.solvers.portfolio.algorithm.FIRST_ROUND", 1e9)
    result = flipwise.minimize(A, method="portfolio", seed=0, time_limit=60.0)
    assert result.status is flipwise.Status.TIME_LIMIT
    assert result.value == descent.value and result.iterations == descent.iterations
