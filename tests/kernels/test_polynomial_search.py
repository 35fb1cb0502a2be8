"""Search kernels of polynomials: costs stay exact, what is reported was done, counts hold, all points are listed."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import flipwise
from flipwise.kernels import polynomial_search as kernels
from flipwise.kernels.annealing import exponential_quantiles
from tests.kernels.spins import spins
from tests.polynomials import VARIABLES, random_terms

pytestmark = pytest.mark.kernels

N = 10


def _polynomial(variables: str, seed: int = 0) -> flipwise.Polynomial:
    return flipwise.Polynomial(random_terms(np.random.default_rng(seed), N, 35), N, variables=variables)  # type: ignore[arg-type]


def _state(f: flipwise.Polynomial, s: np.ndarray) -> tuple[np.ndarray, ...]:
    """What the kernels hold for a point, made anew."""
    m = f.coefficients.size
    held, zeros, d = np.empty(m, np.int32), np.zeros(m, np.int64), np.empty(f.n)
    kernels.flip_costs(f.offsets, f.members, f.coefficients, f.binary, s, held, zeros, d)
    return held, zeros, d


def _value(f: flipwise.Polynomial, s: np.ndarray) -> float:
    return f.value(s.astype(np.float64))


def _is_true(f: flipwise.Polynomial, s: np.ndarray, kept: tuple[np.ndarray, ...]) -> bool:
    """Whether what is held is what the point would give."""
    return all(np.array_equal(a, b) for a, b in zip(kept, _state(f, s), strict=True))


@pytest.mark.parametrize("variables", VARIABLES)
def test_costs_are_differences_of_values(variables: str) -> None:
    """The cost of every flip is what the value changes by."""
    f, s = _polynomial(variables), spins(N, 1)
    d = _state(f, s)[2]
    for i in range(N):
        other = s.copy()
        other[i] = -other[i]
        assert d[i] == _value(f, other) - _value(f, s)


@pytest.mark.parametrize("variables", VARIABLES)
@pytest.mark.parametrize("stiffness", [0.0, 0.05])
def test_annealing_and_quenching_report_what_they_did(variables: str, stiffness: float) -> None:
    """Changes, costs and excess are those of the point reached, and after the quench no flip improves."""
    f, s = _polynomial(variables), spins(N, 2)
    kept, before = _state(f, s), _value(f, s)
    labels = np.arange(N) % 2
    excess, level = np.zeros(2), np.zeros(2)
    started = s.copy()
    change = kernels.anneal_terms(
        *f.arrays, np.geomspace(20.0, 0.5, 15), exponential_quantiles(), stiffness, labels, excess, level, s, *kept,
        np.array([77], dtype=np.uint64),
    )  # fmt: skip
    assert change == _value(f, s) - before and _is_true(f, s, kept)
    assert np.array_equal(excess, np.bincount(labels, weights=s.astype(float) - started))
    before = _value(f, s)
    assert kernels.quench_terms(*f.arrays, 0.0, s, *kept) == _value(f, s) - before
    assert _is_true(f, s, kept) and (kept[2] >= 0).all()


@pytest.mark.parametrize("variables", VARIABLES)
@pytest.mark.parametrize("missing", [-2, 0, 2])
def test_restoring_counts_adds_exactly_what_is_missing(variables: str, missing: int) -> None:
    """The group has so many more ones afterwards, spins outside it stay, and the change is that of the value."""
    f = _polynomial(variables)
    s = np.array([1, -1] * (N // 2), dtype=np.int8)
    group = np.arange(6)
    kept, before, start = _state(f, s), _value(f, s), s.copy()
    change = kernels.restore_count_terms(*f.arrays, 0.0, group, missing, s, *kept)
    assert np.count_nonzero(s[:6] > 0) == 3 + missing and np.array_equal(s[6:], start[6:])
    assert change == _value(f, s) - before and _is_true(f, s, kept)


@pytest.mark.parametrize("variables", VARIABLES)
@pytest.mark.parametrize("swaps", [False, True])
def test_tabu_reports_what_it_did(variables: str, swaps: bool) -> None:
    """Best and last change and the costs are those of the points it returns; swaps keep the counts of each group."""
    f, s = _polynomial(variables), np.array([1, -1] * (N // 2), dtype=np.int8)
    labels = np.arange(N) // 5
    kept, before = _state(f, s), _value(f, s)
    ones = np.bincount(labels, weights=s > 0)
    best_s, free_at = s.copy(), np.zeros(N, dtype=np.int64)
    state = np.array([5], dtype=np.uint64)
    best, last = kernels.tabu_terms(*f.arrays, swaps, labels, 100, 2, 2, s, *kept, free_at, best_s, state)
    assert _value(f, s) - before == last and _value(f, best_s) - before == best <= min(0.0, last)
    assert _is_true(f, s, kept)
    if swaps:
        assert all(np.array_equal(np.bincount(labels, weights=p > 0), ones) for p in (s, best_s))


def test_tabu_waits_while_all_is_tabu_and_takes_back_what_nothing_replaces() -> None:
    """With memories longer than the walk it ends by itself, at a point with the counts it began with."""
    f, s = _polynomial("spin"), np.array([1] + [-1] * (N - 1), dtype=np.int8)
    kept, best_s = _state(f, s), s.copy()
    state = np.array([5], dtype=np.uint64)
    labels = np.zeros(N, dtype=np.int64)
    kernels.tabu_terms(*f.arrays, True, labels, 50, 1000, 1, s, *kept, np.zeros(N, dtype=np.int64), best_s, state)
    assert np.count_nonzero(s > 0) == 1 and _is_true(f, s, kept)


@pytest.mark.parametrize("variables", VARIABLES)
@pytest.mark.parametrize("slack", [0.0, 3.0])
@pytest.mark.parametrize(("counted", "fewer"), [(False, 0), (True, 0), (True, 2)])
def test_every_point_is_listed_once(variables: str, slack: float, counted: bool, fewer: int) -> None:
    """The listing meets the least value of all points, and with a slack every point that is so close to it."""
    f = _polynomial(variables)
    s = np.full(N, -1, dtype=np.int8)
    labels, wanted = np.zeros(N, dtype=np.int64), 4
    excess = np.array([-wanted]) if counted else np.zeros(0, dtype=np.int64)
    numbers, width = np.empty(2**N, dtype=np.int64), np.full(excess.size, fewer)
    start = _value(f, s)
    size = kernels.list_terms(
        *f.arrays, 0, 2**N, start, np.inf, slack, labels, excess, width, s, *_state(f, s), numbers
    )  # fmt: skip
    points = [np.array(p, dtype=np.int8) for p in product((-1, 1), repeat=N)]
    values = {tuple(p): _value(f, p) for p in points if not counted or 0 <= wanted - np.count_nonzero(p > 0) <= fewer}
    least = min(values.values())
    found = [tuple(2 * (((k ^ (k >> 1)) >> np.arange(N)) & 1) - 1) for k in numbers[:size].tolist()]
    assert len(set(found)) == size and min(values[p] for p in found) == least
    if slack > 0.0:
        assert {p for p, value in values.items() if value <= least + slack} <= set(found)


@pytest.mark.parametrize("variables", VARIABLES)
def test_both_tiers_walk_the_same_path(variables: str) -> None:
    """Interpreted and compiled annealing visit the same points, rounding included."""
    rng = np.random.default_rng(11)
    f = flipwise.Polynomial.from_arrays(rng.integers(0, N, (60, 4)), rng.standard_normal(60), N, variables=variables)  # type: ignore[arg-type]
    results = []
    for run in (kernels.anneal_terms.interpreted, kernels.anneal_terms.compile()):
        s = spins(N, 3)
        kept, state = _state(f, s), np.array([9], dtype=np.uint64)
        labels, none = np.zeros(N, dtype=np.int64), (np.zeros(1), np.zeros(1))
        run(*f.arrays, np.geomspace(3.0, 0.1, 10), exponential_quantiles(), 0.0, labels, *none, s, *kept, state)
        results.append((s, kept[2], int(state[0])))
    assert np.array_equal(results[0][0], results[1][0]) and np.array_equal(results[0][1], results[1][1])
    assert results[0][2] == results[1][2]
