"""Which bound is computed, and the simple one: below every value, on the lattice of values, at any size of number."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from flipwise import Cardinality, LowRank, Quadratic
from flipwise.bounds import choice
from flipwise.bounds.choice import affordable_bound, proven_bound, simple_bound
from flipwise.foundation.errors import InvalidInput

PAIR = np.array([[0.0, 1.0], [1.0, 0.0]])
TRIANGLE = np.ones((3, 3)) - np.eye(3)
UNEVEN = TRIANGLE + 0.3 * np.pad(PAIR, (0, 1))


def empty(n: int) -> Quadratic:
    """A quadratic of n variables without any entry."""
    return Quadratic(sp.csr_array((n, n)))


def least(f: Quadratic) -> float:
    """The minimum over all points."""
    return min(f.value(np.array(x)) for x in product([-1.0, 1.0], repeat=f.n))


def test_a_choice_of_the_user_is_kept_and_a_wrong_one_refused() -> None:
    """Everything but "auto" stands for itself; unknown names are refused."""
    for name in ("sdp", "spectral", "simple", "none"):
        assert affordable_bound(empty(9), name, 0.0) == name
        assert affordable_bound(empty(choice.LARGEST_AUTO + 1), name, None) == name
    with pytest.raises(InvalidInput, match="one of"):
        affordable_bound(empty(9), "cheapest", None)


@pytest.mark.parametrize(
    ("n", "seconds", "chosen"),
    [
        (3, None, "sdp"),
        (3, 1.0, "sdp"),
        (3, 1e-3, "simple"),
        (1000, None, "sdp"),
        (1000, 0.5, "simple"),
        (1000, 10.0, "sdp"),
        (2000, 2.0, "simple"),
        (choice.LARGEST_AUTO, 1.0, "simple"),
        (choice.LARGEST_AUTO, 3600.0, "sdp"),
        (choice.LARGEST_AUTO + 1, 3600.0, "simple"),
    ],
)
def test_auto_takes_the_semidefinite_bound_where_there_is_time(n: int, seconds: float | None, chosen: str) -> None:
    """Few variables or much time: semidefinite; little time or very many variables: simple."""
    assert affordable_bound(empty(n), "auto", seconds) == chosen


def test_kinds_on_a_triangle() -> None:
    """Three spins that all want to differ, two of them a little more: simple, spectral, semidefinite in this order."""
    f = Quadratic(UNEVEN)
    assert proven_bound(f, None, "none", None) is None
    assert proven_bound(f, None, "simple", None) == pytest.approx(-6.6, abs=1e-9)
    spectral, semidefinite = proven_bound(f, None, "spectral", None), proven_bound(f, None, "sdp", None)
    assert spectral is not None and semidefinite is not None
    assert -6.0 < spectral < semidefinite <= least(f)
    assert spectral == pytest.approx(3.0 * float(np.linalg.eigvalsh(UNEVEN)[0]), abs=1e-4)


@pytest.mark.parametrize("kind", ["simple", "spectral", "sdp"])
def test_integer_weights_lift_the_bound_to_a_value(kind: str) -> None:
    """With whole numbers the bound of the triangle is one of the lattice of values; -2 is proven from -3."""
    bound = proven_bound(Quadratic(TRIANGLE, d=0.5), None, kind, None)  # type: ignore[arg-type]
    assert bound == -1.5  # the values are 6.5 and -1.5


def test_no_kind_is_worse_than_the_simple_bound() -> None:
    """Linear terms alone: the simple bound is the optimum, and every kind returns at least that."""
    f = Quadratic(sp.csr_array((4, 4)), [1.1, -2.3, 0.7, 10.9])
    for kind in ("spectral", "sdp"):
        bound = proven_bound(f, None, kind, None)  # type: ignore[arg-type]
        assert bound is not None and simple_bound(f) <= bound <= -math.fsum(np.abs(f.c))


@pytest.mark.parametrize("size", [1e-200, 1e-120, 1e120, 1e200])
@pytest.mark.parametrize("kind", ["spectral", "sdp"])
def test_very_small_and_large_numbers_have_their_bound(size: float, kind: str) -> None:
    """The bound of a scaled objective is the scaled bound: numbers whose squares do not exist are no obstacle."""
    c = np.array([0.3, -0.2, 0.1])
    one = proven_bound(Quadratic(TRIANGLE * math.pi, c), None, kind, None)  # type: ignore[arg-type]
    f = Quadratic(TRIANGLE * math.pi * size, c * size, 0.7 * size)
    bound = proven_bound(f, None, kind, None)  # type: ignore[arg-type]
    assert one is not None and bound is not None
    assert bound <= least(f) and bound / size == pytest.approx(one + 0.7, rel=1e-4)


def test_the_count_tightens_the_semidefinite_bound() -> None:
    """A constraint is passed on: with all spins equal the triangle has the value 6."""
    f = Quadratic(TRIANGLE * math.pi)
    free = proven_bound(f, None, "sdp", None)
    counted = proven_bound(f, Cardinality(3), "sdp", None)
    assert free is not None and counted is not None
    assert free < -2.0 * math.pi and 5.9 * math.pi < counted <= 6.0 * math.pi


def test_without_time_the_bound_is_still_true() -> None:
    """A limit of no seconds leaves one sweep: a worse bound, but one."""
    rng = np.random.default_rng(3)
    A = np.triu(rng.standard_normal((12, 12)), 1)
    f = Quadratic(A + A.T)
    hurried, unhurried = proven_bound(f, None, "sdp", 0.0), proven_bound(f, None, "sdp", 3600.0)
    assert hurried is not None and unhurried is not None
    assert simple_bound(f) <= hurried < unhurried <= least(f)


@pytest.mark.parametrize("size", [1e-200, 1e-101, 1e101, 1e200])
def test_taming_divides_by_a_power_of_two(size: float) -> None:
    """The largest row is between 1 and 2 afterwards, and multiplying back restores every bit."""
    f = Quadratic(
        [np.array([[0.3, 1.7], [1.7, 0.0]]) * size, LowRank(np.ones((2, 1)), [0.1 * size])], [0.4 * size, 0.0], size
    )
    tame, power = f.on_safe_scale()
    assert math.frexp(power)[0] == 0.5
    rows = sum((term.absolute_row_sums() for term in tame.terms), np.abs(tame.c))
    assert 1.0 <= rows.max() < 2.0
    assert np.array_equal(tame.c * power, f.c) and tame.d * power == f.d
    for term, before in zip(tame.terms, f.terms, strict=True):
        assert np.array_equal(term.times(np.eye(2)) * power, before.times(np.eye(2)))


@pytest.mark.parametrize("size", [0.0, 1e-90, 1.0, 1e90])
def test_ordinary_numbers_are_left_as_they_are(size: float) -> None:
    """Zero and numbers whose squares exist need no scaling."""
    f = Quadratic(PAIR * size, [0.0, size])
    assert f.on_safe_scale() == (f, 1.0)


def test_a_constant_beside_which_everything_is_nothing() -> None:
    """1e200 beside entries of 1e-150: the quotient is no number, the bound is the constant but for rounding."""
    f = Quadratic(PAIR * 1e-150, d=1e200)
    for kind in ("spectral", "sdp"):
        bound = proven_bound(f, None, kind, None)  # type: ignore[arg-type]
        assert bound is not None and 1e200 * (1.0 - 1e-12) <= bound <= 1e200


def test_the_simple_bound_by_hand() -> None:
    """Every term at its least: linear, off-diagonal, diagonal of either sign, low-rank and the constant."""
    A = np.array([[2.0, 1.0, 0.0], [1.0, -3.0, -4.0], [0.0, -4.0, 0.0]])
    f = Quadratic([A, sp.csr_array(np.diag([0.5, 0.0, 0.0]))], [1.0, -6.0, 0.5], 100.0)
    exact = 100.0 + (2.0 - 3.0 + 0.5) - 7.5 - 2.0 * (1.0 + 4.0)
    assert exact - 1e-11 <= simple_bound(f) <= exact
    low = Quadratic(LowRank(np.array([[1.0], [2.0]]), [3.0]))  # 3 (x_1 + 2 x_2)^2: 15 + 12 x_1 x_2
    assert 3.0 - 1e-11 <= simple_bound(low) <= 3.0


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_the_simple_bound_is_below_what_rounding_takes_from_it(size: float) -> None:
    """Rows [1, u, u, ...] whose small entries a float sum loses: the bound is below the exact sum all the same."""
    n, u = 100, 2.0**-53
    A = np.full((n, n), u * size)
    A[0] = A[:, 0] = size
    np.fill_diagonal(A, 0.0)
    exact = -sum(Fraction(a) for a in A.reshape(-1))
    assert exact * (1 + Fraction(1, 10**9)) <= Fraction(simple_bound(Quadratic(A))) <= exact


@pytest.mark.parametrize("part", ["c", "d", "diagonal"])
def test_the_margin_follows_every_part(part: str) -> None:
    """Linear part, constant and diagonal that a float sum cannot hold: the bound is not above the exact one."""
    values = np.array([1e16, 1.0, 1.0, 1.0])
    if part == "c":
        f, exact = Quadratic(sp.csr_array((4, 4)), values), -(10**16 + 3)
    elif part == "d":
        f, exact = Quadratic(sp.csr_array((4, 4)), [1.0, 0.0, 0.0, 0.0], 1e16), 10**16 - 1
    else:
        f, exact = Quadratic(np.diag(values)), 10**16 + 3
    assert exact - 10**4 <= Fraction(simple_bound(f)) <= exact
