"""The m-neighbourhood search: exhaustive where small, sampled where not, never worse."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import flipwise
from flipwise.model.constraints import Constraint
from flipwise.model.flips import EvaluatedFlips
from flipwise.model.objective import SupportsFlips
from flipwise.solvers.dpcd import neighbourhood
from tests.reference import random_symmetric


@given(st.integers(2, 7), st.integers(1, 3), st.integers(0, 2**31))
def test_exhaustive_search_finds_the_best_neighbour(n: int, m: int, seed: int) -> None:
    """With enough samples allowed, the best of all points within m flips is taken."""
    rng = np.random.default_rng(seed)
    f = flipwise.Quadratic(random_symmetric(rng, n), rng.standard_normal(n))
    x = flipwise.Free().random((n,), rng)
    best = f.value(x)
    for size in range(1, min(m, n) + 1):
        for chosen in itertools.combinations(range(n), size):
            y = x.copy()
            y[list(chosen)] *= -1
            best = min(best, f.value(y))
    g = f.gradient(x)
    neighbourhood.best_of_samples(f, flipwise.Free(), x, g, m, 10_000, rng)
    assert f.value(x) == pytest.approx(best)
    assert g == pytest.approx(f.gradient(x))


@given(st.integers(2, 30), st.integers(1, 5), st.integers(0, 2**31))
def test_sampled_search_stays_feasible_and_never_gets_worse(n: int, m: int, seed: int) -> None:
    """Under an exact count a search exchanges equally many ones and zeros and does not raise f."""
    rng = np.random.default_rng(seed)
    f = flipwise.Quadratic(random_symmetric(rng, n))
    constraint = flipwise.Cardinality(int(rng.integers(0, n + 1)))
    x = constraint.random((n,), rng)
    before = f.value(x)
    flips, change = neighbourhood.best_of_samples(f, constraint, x, f.gradient(x), m, 20, rng)
    assert constraint.contains(x)
    assert flips <= 2 * m
    assert f.value(x) == pytest.approx(before + change)
    assert change <= 0


@given(st.integers(2, 60), st.integers(0, 2**31), st.booleans())
def test_m_1_is_exact_on_quadratics_of_any_size(n: int, seed: int, counted: bool) -> None:
    """However few samples are allowed, m = 1 makes the best single flip or swap of all."""
    rng = np.random.default_rng(seed)
    f = flipwise.Quadratic(random_symmetric(rng, n))
    constraint = flipwise.Cardinality(n // 2) if counted else flipwise.Free()
    x = constraint.random((n,), rng)
    before, g = f.value(x), f.gradient(x)
    if counted:
        moves = [np.array([i, j]) for i in np.flatnonzero(x > 0) for j in np.flatnonzero(x < 0)]
    else:
        moves = [np.array([i]) for i in range(n)]
    best = min([0.0, *(f.flip_change(x, g, move) for move in moves)])
    _, change = neighbourhood.best_of_samples(f, constraint, x, g, 1, 1, rng)
    assert change == pytest.approx(best, abs=1e-9)
    assert f.value(x) == pytest.approx(before + best)


def test_m_1_on_swaps_is_exhaustive_where_small() -> None:
    """With m = 1 and few pairs every exchange is looked at."""
    f = flipwise.Quadratic(np.zeros((3, 3)), [3.0, 1.0, 2.0])
    x = np.array([1.0, -1.0, -1.0])
    neighbourhood.best_of_samples(f, flipwise.Cardinality(1), x, f.gradient(x), 1, 100, np.random.default_rng(0))
    assert x.tolist() == [-1, 1, -1]


def _curved(rng: np.random.Generator, n: int) -> EvaluatedFlips:
    """An objective that only has values and gradients, and whose gradient says little about a flip."""
    B, c = rng.standard_normal((n, 3)), rng.standard_normal(n)

    def quartic(x: np.ndarray) -> tuple[float, np.ndarray]:
        y = B.T @ x
        return float((y**4).sum() + c @ x), B @ (4 * y**3) + c

    objective = EvaluatedFlips(flipwise.Smooth(quartic, n))
    assert isinstance(objective, EvaluatedFlips)
    return objective


def _moves(constraint: Constraint, x: np.ndarray, m: int) -> list[tuple[int, ...]]:
    """Every set of up to m flips, or every single swap within a group, of the flat indices."""
    if not constraint.swaps:
        return [chosen for size in range(1, m + 1) for chosen in itertools.combinations(range(x.size), size)]
    labels, spins = constraint.labels(x.shape), x.reshape(-1)
    pairs = itertools.product(np.flatnonzero(spins > 0).tolist(), np.flatnonzero(spins < 0).tolist())
    return [(i, j) for i, j in pairs if labels[i] == labels[j]]


def _best_change(objective: SupportsFlips, x: np.ndarray, moves: list[tuple[int, ...]]) -> float:
    """The least change of f among the moves and staying."""
    changes = [0.0]
    for move in moves:
        y = x.copy()
        y.reshape(-1)[list(move)] *= -1
        changes.append(objective.value(y) - objective.value(x))
    return min(changes)


GROUPS = flipwise.GroupCounts([0, 1, 0, 1, 0, 1], [1, 2])


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    ("constraint", "m", "samples"),
    [
        (flipwise.Free(), 1, 6),
        (flipwise.Free(), 2, 21),
        (flipwise.Free(), 3, 41),
        (flipwise.Free(), 9, 63),
        (flipwise.Cardinality(2), 1, 8),
        (GROUPS, 1, 9),
    ],
)
def test_as_many_samples_as_neighbours_suffice(constraint: Constraint, m: int, samples: int, seed: int) -> None:
    """All neighbours are looked at, not as many random ones, when exactly so many are allowed."""
    rng = np.random.default_rng(seed)
    objective = _curved(rng, 6)
    x = constraint.random((6,), rng)
    best = _best_change(objective, x, _moves(constraint, x, min(m, 6)))
    _, change = neighbourhood.best_of_samples(objective, constraint, x, objective.gradient(x), m, samples, rng)
    assert change == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize(
    ("constraint", "m", "samples"),
    [
        (flipwise.Free(), 1, 5),
        (flipwise.Free(), 2, 20),
        (flipwise.Free(), 3, 15),
        (flipwise.Cardinality(3), 1, 8),
        (flipwise.Cardinality(3), 2, 8),
        (GROUPS, 1, 8),
    ],
)
def test_no_more_neighbours_are_looked_at_than_allowed(constraint: Constraint, m: int, samples: int) -> None:
    """Where there are more neighbours than samples, exactly so many are drawn."""
    rng = np.random.default_rng(0)
    x = constraint.random((6,), rng)
    looked_at = list(neighbourhood.sets_of_flips(constraint, x, m, samples, rng))
    assert len(looked_at) == samples


@pytest.mark.parametrize("m", [1, 2, 3, 20])
def test_sampled_flips_are_of_every_size_up_to_m(m: int) -> None:
    """1, ..., m different coordinates (at most all), each coordinate among them."""
    x = np.ones((2, 3))
    batches = list(neighbourhood.sets_of_flips(flipwise.Free(), x, m, 5 if m == 1 else 20, np.random.default_rng(1)))
    batches += list(neighbourhood.sets_of_flips(flipwise.Free(), x, m, 5 if m == 1 else 20, np.random.default_rng(2)))
    assert {batch.size for batch in batches} == set(range(1, min(m, 6) + 1))
    assert all(len(set(batch.tolist())) == batch.size for batch in batches)
    assert set(np.concatenate(batches).tolist()) == set(range(6))


@pytest.mark.parametrize("m", [2, 3, 20])
def test_sampled_swaps_are_of_every_size_up_to_m_and_within_a_group(m: int) -> None:
    """As many ones as zeros of one group, 1, ..., m of each as far as there are so many; every group has its turn."""
    labels = np.array([0] * 6 + [1] * 8 + [2] * 3)
    constraint = flipwise.GroupCounts(labels, [3, 4, 3])  # nothing can be swapped in the last group
    x = constraint.random((17,), np.random.default_rng(0))
    batches = list(neighbourhood.sets_of_flips(constraint, x, m, 200, np.random.default_rng(1)))
    assert len(batches) == 200
    sizes: dict[int, set[int]] = {0: set(), 1: set()}
    for batch in batches:
        (group,) = set(labels[batch].tolist())
        assert x[batch].sum() == 0
        assert len(set(batch.tolist())) == batch.size
        sizes[group].add(batch.size // 2)
    assert sizes == {0: set(range(1, min(m, 3) + 1)), 1: set(range(1, min(m, 4) + 1))}
    assert set(np.concatenate(batches).tolist()) == set(range(14))


@pytest.mark.parametrize("constraint", [flipwise.Cardinality(0), flipwise.Cardinality(4)])
@pytest.mark.parametrize("m", [1, 2])
def test_without_a_swap_there_is_no_neighbour(constraint: Constraint, m: int) -> None:
    """A count of none or of all leaves one point only."""
    rng = np.random.default_rng(0)
    for objective in (flipwise.Quadratic(random_symmetric(rng, 4)), _curved(rng, 4)):
        x = constraint.random((4,), rng)
        assert neighbourhood.best_of_samples(objective, constraint, x, objective.gradient(x), m, 100, rng) == (0, 0.0)
        assert constraint.contains(x)


def test_a_search_says_what_it_has_done() -> None:
    """The number of flips and the change of f: one flip, one swap, a batch, or nothing at the optimum."""
    f = flipwise.Quadratic(np.zeros((2, 2)), [3.0, -2.0])
    rng = np.random.default_rng(0)
    x = np.array([1.0, -1.0])
    assert neighbourhood.best_of_samples(f, flipwise.Free(), x, f.gradient(x), 1, 100, rng) == (1, -6.0)
    x = np.array([1.0, -1.0])
    assert neighbourhood.best_of_samples(f, flipwise.Cardinality(1), x, f.gradient(x), 1, 100, rng) == (2, -10.0)
    x = np.array([1.0, -1.0])
    assert neighbourhood.best_of_samples(f, flipwise.Free(), x, f.gradient(x), 2, 100, rng) == (2, -10.0)
    for constraint, m in itertools.product((flipwise.Free(), flipwise.Cardinality(1)), (1, 2)):
        assert neighbourhood.best_of_samples(f, constraint, x, f.gradient(x), m, 100, rng) == (0, 0.0)
    assert x.tolist() == [-1.0, 1.0]


def test_a_single_flip_is_not_followed_by_others() -> None:
    """With m = 1 one coordinate flips, even when that makes another one improving."""
    f = flipwise.Quadratic(np.array([[0.0, -1.0], [-1.0, 0.0]]), [5.0, 1.0])
    x = np.ones(2)
    flips, _ = neighbourhood.best_of_samples(f, flipwise.Free(), x, f.gradient(x), 1, 100, np.random.default_rng(0))
    assert (flips, x.tolist()) == (1, [-1.0, 1.0])


def test_of_equally_good_neighbours_the_one_with_fewest_flips_is_taken() -> None:
    """A coordinate that changes nothing is left where it is."""
    f = flipwise.Quadratic(np.zeros((3, 3)), [1.0, 0.0, 0.0])
    x = np.ones(3)
    flips, _ = neighbourhood.best_of_samples(f, flipwise.Free(), x, f.gradient(x), 3, 100, np.random.default_rng(0))
    assert (flips, x.tolist()) == (1, [-1.0, 1.0, 1.0])


@pytest.mark.parametrize("constraint", [flipwise.Free(), flipwise.Cardinality(1)])
@pytest.mark.parametrize("m", [1, 2])
def test_nothing_moves_on_a_constant_function(constraint: Constraint, m: int) -> None:
    """A neighbour that is as good is not better."""
    f = flipwise.Quadratic(np.zeros((3, 3)), d=4.0)
    x = flipwise.Cardinality(1).project(np.zeros(3))
    assert neighbourhood.best_of_samples(f, constraint, x, f.gradient(x), m, 100, np.random.default_rng(0)) == (0, 0.0)
    assert x.tolist() == [1.0, -1.0, -1.0]


def test_an_improvement_within_rounding_is_none() -> None:
    """Slopes of a million whose sum is a ten-millionth: nothing that floating point can vouch for."""
    f = flipwise.Quadratic(np.array([[0.0, -1e6], [-1e6, 0.0]]), [1e6, 1e-7 - 1e6])
    x = np.ones(2)
    g = f.gradient(x)
    assert f.flip_change(x, g, np.array([0, 1])) < 0.0
    assert neighbourhood.best_of_samples(f, flipwise.Free(), x, g, 2, 100, np.random.default_rng(0)) == (0, 0.0)
    assert x.tolist() == [1.0, 1.0]


def test_a_small_improvement_is_one() -> None:
    """Small numbers are not rounding: what counts is the change against the slopes."""
    f = flipwise.Quadratic(np.array([[0.0, -1e-9], [-1e-9, 0.0]]), [1e-9, -5e-10])
    x = np.ones(2)
    search = neighbourhood.best_of_samples(f, flipwise.Free(), x, f.gradient(x), 2, 100, np.random.default_rng(0))
    assert search == (2, pytest.approx(-1e-9))
