"""Roof duality on small instances: its bound is the linear relaxation's, and it fixes what that decides."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp

from flipwise import Free, Quadratic
from flipwise.bounds import persistency
from flipwise.bounds.lattice import next_value
from flipwise.bounds.linearised import linearise
from flipwise.bounds.persistency import persistent_variables, rounded_down, without_fixed

PAIR = np.array([[0.0, 1.0], [1.0, 0.0]])


def random_quadratic(n: int, seed: int, unit: float = 1.0) -> Quadratic:
    """Integer multiples of `unit`, with a diagonal and a constant."""
    rng = np.random.default_rng(seed)
    A = np.triu(rng.integers(-3, 4, (n, n)) * (rng.random((n, n)) < 0.7), 1) * unit
    c = rng.integers(-7, 8, n) * unit
    c[0] = c[0] or unit
    return Quadratic(sp.csr_array(A + A.T + np.diag(rng.integers(-2, 3, n) * 0.3)), c, 1.7)


def decided(f: Quadratic) -> tuple[float, np.ndarray]:
    """The optimum of the linear relaxation, and -1/+1 where all its optimal points agree on an end of the interval."""
    program = linearise(f, Free())
    matrix = program.matrix if program.matrix.shape[0] else None
    right = program.right if matrix is not None else None
    best = scipy.optimize.linprog(program.cost, matrix, right, bounds=(0.0, 1.0)).fun
    face = sp.csr_array(np.atleast_2d(program.cost))
    rows = face if matrix is None else sp.csr_array(sp.vstack([matrix, face]))
    ends = np.concatenate([np.zeros(0) if right is None else right, [best + 1e-7]])
    spins = np.zeros(f.n)
    for i in range(f.n):
        unit = np.zeros(program.cost.size)
        unit[i] = 1.0
        low = scipy.optimize.linprog(unit, rows, ends, bounds=(0.0, 1.0)).fun
        high = -scipy.optimize.linprog(-unit, rows, ends, bounds=(0.0, 1.0)).fun
        spins[i] = 1.0 if low > 0.75 else -1.0 if high < 0.25 else 0.0
    return best + program.constant, spins


@pytest.mark.parametrize(("seed", "unit"), [(s, (1.0, 0.25, 6.0)[s % 3]) for s in range(9)])
def test_the_roof_dual_is_the_linear_relaxation(seed: int, unit: float) -> None:
    """The same bound, raised to the next value of the lattice, and the variables that every relaxed optimum decides."""
    f = random_quadratic(4 + seed % 2, seed, unit)
    found = persistent_variables(f)
    bound, spins = decided(f)
    assert found.bound is not None and found.bound == pytest.approx(next_value(f, bound - 1e-7), rel=1e-6, abs=1e-6)
    assert np.array_equal(found.spins, spins) and np.array_equal(found.fixed, np.flatnonzero(spins))


@pytest.mark.parametrize(
    ("weight", "c", "spins", "bound"),
    [
        (1.0, [5.0, 1.0], [-1, 1], -6.0),
        (1.0, [1.0, 5.0], [1, -1], -6.0),
        (-1.0, [5.0, 1.0], [-1, -1], -8.0),
        (-1.0, [-5.0, 1.0], [1, 1], -6.0),
        (1.0, [-5.0, -4.0], [1, 1], -7.0),
        (0.0, [3.0, -2.0], [-1, 1], -5.0),
        (0.5, [5.0, 2.0], [-1, -1], -6.0),
        (-0.5, [5.0, -2.0], [-1, 1], -6.0),
        (1.0, [1.0, 1.0], [0, 0], -2.0),
    ],
)
def test_two_variables_by_hand(weight: float, c: list[float], spins: list[int], bound: float) -> None:
    """2 w x_1 x_2 + c'x: a pair is relaxed exactly, and what has one minimum is fixed."""
    found = persistent_variables(Quadratic(sp.csr_array(PAIR * weight), c))
    assert found.spins.tolist() == spins and found.spins.dtype == np.int8
    assert found.bound is not None and bound - 1e-12 <= found.bound <= bound


def test_what_roof_duality_is_not_for() -> None:
    """Without a linear part, and with dense terms, nothing is fixed and nothing bounded."""
    for f in (
        Quadratic(sp.csr_array(PAIR)),
        Quadratic(PAIR, [5.0, 1.0]),
        Quadratic([sp.csr_array(PAIR), PAIR], [9.0, 1.0]),
    ):
        found = persistent_variables(f)
        assert found.bound is None and found.spins.tolist() == [0, 0] and found.fixed.size == 0


def test_large_networks_and_large_weights_leave_dominance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights beyond 32 bits, and more arcs than the limit, have no flow: only dominance fixes, without a bound."""
    f = Quadratic(sp.csr_array(PAIR), [5.0, 1.0])
    large = persistent_variables(Quadratic(sp.csr_array(PAIR * 2.0**20), np.array([5.0, 1.0]) * 2.0**20 + [1.0, 0.0]))
    assert large.bound is not None
    size = 89e6  # capacities of 2^31 / 1.2 in all
    assert persistent_variables(Quadratic(sp.csr_array(PAIR * size), [2.0 * size + 1.0, 1.0])).bound is not None
    larger = persistent_variables(Quadratic(sp.csr_array(PAIR * 2.0**28), np.array([5.0, 1.0]) * 2.0**28 + [1.0, 0.0]))
    assert larger.bound is None and larger.spins.tolist() == [-1, 1]
    monkeypatch.setattr(persistency, "LARGEST_FLOW", 2 * 2 + 4 * 2)
    assert persistent_variables(f).bound is not None
    monkeypatch.setattr(persistency, "LARGEST_FLOW", 2 * 2 + 4 * 2 - 1)
    assert persistent_variables(f).bound is None and persistent_variables(f).spins.tolist() == [-1, 1]


def chain(c: list[float]) -> Quadratic:
    """x_1 x_2 + x_2 x_3 with weights 0.6 (no multiple of 1/8) and a linear part."""
    A = np.diag([0.3, 0.3], 1)
    return Quadratic(sp.csr_array(A + A.T), c)


@pytest.mark.parametrize(
    ("c", "spins"),
    [
        ([0.0, -0.1, 0.7], [-1, 1, -1]),  # the last decides its neighbour, which decides the first
        ([0.0, 0.1, -0.7], [1, -1, 1]),
        ([0.0, 0.1, 0.7], [0, 0, -1]),  # what the last does to its neighbour is less than the first can
        ([0.0, 0.0, 0.5], [0, 0, 0]),  # too weak against its neighbour
        ([0.0, 1.1, 0.0], [0, 0, 0]),  # two neighbours are stronger
        ([0.0, 1.3, 0.0], [1, -1, 1]),
        ([0.7, 0.5, 0.7], [-1, 1, -1]),
        ([0.7, 0.0, -0.7], [-1, 0, 1]),  # both ends are decided, and cancel in the middle
    ],
)
def test_dominance_goes_from_neighbour_to_neighbour(c: list[float], spins: list[int]) -> None:
    """|c_i| beyond the weights of the open neighbours decides a spin, and with it changes what the others feel."""
    found = persistent_variables(chain(c))
    assert found.spins.tolist() == spins and found.bound is None


def test_dominance_must_be_clear() -> None:
    """A field that only equals what the neighbours can do, or exceeds it by rounding, decides nothing."""
    for excess, fixed in ((0.0, 0), (1e-15, 0), (1e-9, 1)):
        assert persistent_variables(chain([0.6 + excess, 0.0, 0.0])).fixed.size == fixed


def test_reduction_adds_up_all_terms() -> None:
    """Two sparse terms, fixed variables on both sides: constant, linear part and matrix of the rest, by hand."""
    A = np.array([[1.0, 2.0, 0.0], [2.0, 3.0, 4.0], [0.0, 4.0, 5.0]])
    B = np.array([[0.0, 0.0, 6.0], [0.0, 0.0, 0.0], [6.0, 0.0, 0.0]])
    f = Quadratic([sp.csr_array(A), sp.csr_array(B)], [7.0, 8.0, 9.0], 10.0)
    inner, free = without_fixed(f, np.array([0, -1, 0], dtype=np.int8))
    assert free.tolist() == [0, 2] and np.array_equal(inner.times(np.eye(2)), [[1.0, 6.0], [6.0, 5.0]])
    assert np.array_equal(inner.c, [7.0 - 4.0, 9.0 - 8.0]) and inner.d == 10.0 - 8.0 + 3.0
    for x in ((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)):
        assert inner.value(np.array(x)) == f.value(np.array([x[0], -1.0, x[1]]))


@pytest.mark.parametrize("part", ["d", "diagonal"])
def test_the_bound_is_rounded_down(part: str) -> None:
    """A constant or diagonal of 1e16 beside small weights: the sum that a float cannot hold is not exceeded."""
    big = 1e16
    diagonal = np.array([big if part == "diagonal" else 0.0, 1.0])
    f = Quadratic(sp.csr_array(PAIR + np.diag(diagonal)), [5.0, 2.0], big if part == "d" else 0.0)
    found = persistent_variables(f)
    exact = 10**16 + 1 - 5  # the first at -1, the second undecided
    assert (
        found.spins.tolist() == [-1, 0] and found.bound is not None and exact - 1000 <= Fraction(found.bound) <= exact
    )


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e5])
def test_the_margin_is_positive_and_small(size: float) -> None:
    """It follows the bound, the constant and the diagonal, one by one."""
    zero = sp.csr_array((2, 2))
    cases = [
        (size, Quadratic(zero)),
        (-size, Quadratic(zero)),
        (0.0, Quadratic(zero, d=-size)),
        (0.0, Quadratic(sp.csr_array(np.diag([-size, 0.0])))),
    ]
    for bound, f in cases:
        assert size * 2.0**-53 <= bound - rounded_down(bound, f) <= 1e-13 * size
