"""What one update does: every selected flip in the literal mode, only improving ones otherwise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import flipwise
from flipwise.model.constraints import Constraint
from flipwise.model.flips import EvaluatedFlips
from flipwise.solvers.dpcd.steps import ImprovingUpdate, LiteralUpdate
from tests.reference import is_flip_optimal, is_swap_optimal, random_symmetric

CASCADE = flipwise.Quadratic(np.array([[0.0, -1.0], [-1.0, 0.0]]), [5.0, 1.0])
"""At (1, 1) only the first coordinate improves; once it is flipped, the second does too."""


def _point(*entries: int) -> np.ndarray:
    return np.array(entries, dtype=float)


def test_the_literal_update_makes_every_flip_and_a_new_gradient() -> None:
    """Also flips that raise f; the change is exact and indices may come as pairs."""
    f = flipwise.Quadratic(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 2.0, 0.0]]), [1.0, 2.0, -3.0])
    x = _point(1, 1, -1)
    g, before = f.gradient(x), f.value(x)
    flips, change = LiteralUpdate(f, flipwise.Free()).make(x, g, np.array([[0, 2]]), follow=False)
    assert x.tolist() == [-1, 1, 1]
    assert (flips, change) == (2, f.value(x) - before)
    assert change == -4.0 + 8.0 - 2.0 - 6.0  # of the two terms of A and the two of c
    assert g.tolist() == f.gradient(x).tolist()


def test_the_literal_update_of_a_matrix_variable_flips_flat_indices() -> None:
    """Indices are positions in the flattened array."""
    f = flipwise.Quadratic(np.zeros((4, 4)), [1.0, 2.0, 3.0, 4.0], shape=(2, 2))
    x = np.ones((2, 2))
    assert LiteralUpdate(f, flipwise.Free()).make(x, f.gradient(x), np.array([1, 2]), follow=False) == (2, -10.0)
    assert x.tolist() == [[1, -1], [-1, 1]]


def test_the_literal_update_keeps_gradient_and_alpha_and_has_no_end_of_its_own() -> None:
    """No gauge, no lower alpha, no last step; without moves nothing happens."""
    update = LiteralUpdate(CASCADE, flipwise.Free())
    x = _point(1, 1)
    g = CASCADE.gradient(x)
    assert update.gauge(x, g) is g
    assert update.lower((0.5, 2.0), 0) == (0.5, 2.0)
    assert update.make(x, g, np.array([], dtype=np.int64), follow=True) == (0, 0.0)
    assert update.finish(x, g) == (0, 0.0)
    assert x.tolist() == [1, 1]


def test_an_update_without_moves_changes_nothing() -> None:
    """An empty selection is no flip and no change, free or counted."""
    x = _point(1, -1)
    for constraint, none in ((flipwise.Free(), np.empty(0, int)), (flipwise.Cardinality(1), np.empty((0, 2), int))):
        update = ImprovingUpdate(CASCADE, constraint)
        assert update.make(x, CASCADE.gradient(x), none, follow=True) == (0, 0.0)
    assert x.tolist() == [1, -1]


@pytest.mark.parametrize(("follow", "flips", "end"), [(False, 1, [-1, 1]), (True, 2, [-1, -1])])
def test_following_goes_on_with_what_the_flips_have_made_improving(follow: bool, flips: int, end: list[int]) -> None:
    """Without it, only the selected coordinates are looked at."""
    x = _point(1, 1)
    g, before = CASCADE.gradient(x), CASCADE.value(x)
    made = ImprovingUpdate(CASCADE, flipwise.Free()).make(x, g, np.array([0]), follow=follow)
    assert made == (flips, CASCADE.value(x) - before)
    assert x.tolist() == end
    assert g.tolist() == CASCADE.gradient(x).tolist()


@pytest.mark.parametrize(
    ("constraint", "follow", "made", "end"),
    [
        (flipwise.Cardinality(2), False, (2, -6.0), [-1, 1, -1, 1]),
        (flipwise.Cardinality(2), True, (4, -8.0), [-1, -1, 1, 1]),
        (flipwise.GroupCounts([0, 0, 0, 0], [2]), True, (2, -6.0), [-1, 1, -1, 1]),  # exchanges are for one count
    ],
)
def test_under_one_count_following_exchanges_further_pairs(
    constraint: Constraint, follow: bool, made: tuple[int, float], end: list[int]
) -> None:
    """Two flips for a swap, and the changes of all swaps are added up."""
    f = flipwise.Quadratic(np.zeros((4, 4)), [4.0, 3.0, 2.0, 1.0])
    x = _point(1, 1, -1, -1)
    update = ImprovingUpdate(f, constraint)
    assert update.make(x, f.gradient(x), np.array([[0, 3]]), follow=follow) == made
    assert x.tolist() == end


def test_worsening_flips_and_swaps_are_left_out() -> None:
    """Of a selection only what lowers f is made."""
    f = flipwise.Quadratic(np.zeros((4, 4)), [3.0, -1.0, -2.0, 1.0])
    x = _point(1, 1, -1, -1)
    assert ImprovingUpdate(f, flipwise.Free()).make(x, f.gradient(x), np.arange(4), follow=False) == (2, -10.0)
    assert x.tolist() == [-1, 1, 1, -1]
    x = _point(1, 1, -1, -1)
    moves = np.array([[1, 3], [0, 2]])
    assert ImprovingUpdate(f, flipwise.Cardinality(2)).make(x, f.gradient(x), moves, follow=False) == (2, -10.0)
    assert x.tolist() == [-1, 1, 1, -1]


def test_the_gauge_is_the_exact_change_of_one_flip() -> None:
    """-2 * x_i * gauge_i is the change of f when i alone flips, whatever the diagonal is."""
    rng = np.random.default_rng(0)
    f = flipwise.Quadratic(random_symmetric(rng, 5), rng.standard_normal(5))
    x = flipwise.Free().random((5,), rng)
    d = ImprovingUpdate(f, flipwise.Free()).gauge(x, f.gradient(x))
    for i in range(5):
        y = x.copy()
        y[i] *= -1
        assert -2 * x[i] * d[i] == pytest.approx(f.value(y) - f.value(x))


def _update(n: int) -> ImprovingUpdate:
    return ImprovingUpdate(flipwise.Quadratic(np.zeros((n, n))), flipwise.Free())


def test_alpha_stays_while_many_coordinates_flip() -> None:
    """More than one in `FEW` flipped: alpha is kept; no more than that: both alphas are lowered."""
    few, levels = ImprovingUpdate.FEW, ImprovingUpdate.LEVELS
    update = _update(3 * few)
    assert update.lower((10.0, 5.0), 4) == (10.0, 5.0)
    assert update.lower((10.0, 5.0), 3) == (10.0 / levels, 5.0 / levels)
    assert update.lower((10.0, 5.0), 0) == (10.0 / levels, 5.0 / levels)


def test_alpha_ends_at_zero() -> None:
    """Each alpha by itself: divided until it would come to the paper's least value of 0.1, then 0, and 0 it stays."""
    levels, update = ImprovingUpdate.LEVELS, _update(100)
    assert update.lower((0.11 * levels, 0.09 * levels), 1) == (pytest.approx(0.11), 0.0)
    assert update.lower((0.1 * levels, 8.0), 1) == (0.0, 8.0 / levels)
    assert update.lower((0.0, 0.0), 1) == (0.0, 0.0)


def test_finish_follows_the_first_improving_flips() -> None:
    """Without a count the last step ends where no flip improves, and says what it did."""
    x = _point(1, 1)
    g, before = CASCADE.gradient(x), CASCADE.value(x)
    update = ImprovingUpdate(CASCADE, flipwise.Free())
    assert update.finish(x, g) == (2, CASCADE.value(_point(-1, -1)) - before)
    assert x.tolist() == [-1, -1]
    assert update.finish(x, g) == (0, 0.0)


def test_finish_leaves_coordinates_without_slope_alone() -> None:
    """A flip that changes nothing is no improvement; a small slope is one."""
    f = flipwise.Smooth(lambda x: (0.25 * float(x[1]), np.array([0.0, 0.25])), 2)
    objective = EvaluatedFlips(f)
    x = _point(1, 1)
    assert ImprovingUpdate(objective, flipwise.Free()).finish(x, f.gradient(x)) == (1, -0.5)
    assert x.tolist() == [1, -1]


@given(st.integers(2, 8), st.integers(0, 2**31), st.booleans())
def test_finish_proves_that_nothing_improves(n: int, seed: int, counted: bool) -> None:
    """It finds nothing exactly where no flip or swap improves; otherwise f falls by what it says."""
    rng = np.random.default_rng(seed)
    f = flipwise.Quadratic(random_symmetric(rng, n), rng.standard_normal(n))
    constraint = flipwise.Cardinality(n // 2) if counted else flipwise.Free()
    x = constraint.random((n,), rng)
    g, before, optimal = f.gradient(x), f.value(x), is_swap_optimal if counted else is_flip_optimal
    start = x.copy()
    flips, change = ImprovingUpdate(f, constraint).finish(x, g)
    assert (flips == 0) == (change == 0.0) == optimal(f.value, start)
    assert constraint.contains(x)
    assert f.value(x) == pytest.approx(before + change)


def test_finish_under_one_count_goes_on_with_exchanges() -> None:
    """Both ones have the same best partner; the second finds another one at once."""
    f = flipwise.Quadratic(np.zeros((4, 4)), [4.0, 3.0, 2.0, 1.0])
    x = _point(1, 1, -1, -1)
    assert ImprovingUpdate(f, flipwise.Cardinality(2)).finish(x, f.gradient(x)) == (4, -8.0)
    assert x.tolist() == [-1, -1, 1, 1]


def test_finish_stays_within_the_groups() -> None:
    """With several counts an improving swap of one group is made, and none across groups."""
    f = flipwise.Quadratic(np.zeros((4, 4)), [4.0, 1.0, -1.0, -4.0])
    x = _point(1, -1, 1, -1)
    update = ImprovingUpdate(f, flipwise.GroupCounts([0, 0, 1, 1], [1, 1]))
    flips, change = update.finish(x, f.gradient(x))
    assert x.tolist() == [-1, 1, -1, 1]
    assert (flips, change) == (4, -12.0)
