"""The loop followed by hand on tiny instances: what each iteration flips, at which alpha, and when it ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flipwise
from flipwise.model.constraints import Constraint
from flipwise.solvers.dpcd.algorithm import LITERAL_ITERATIONS
from flipwise.solvers.dpcd.steps import ImprovingUpdate
from tests.reference import random_symmetric

SLOPES = flipwise.Quadratic(np.zeros((4, 4)), [5.0, 1.0, -1.0, -4.0])
"""A linear function: the gradient is c everywhere, L_1 = 3 and L_2 = 2.5."""
SEESAW = flipwise.Quadratic(np.array([[0.0, 1.0], [1.0, 0.0]]))
"""From (1, 1) the literal mode goes to (-1, -1) and back for ever; one flip is the optimum."""


def _flips(result: flipwise.Result) -> list[int]:
    return [record.flips for record in result.trace.records]


@pytest.mark.parametrize(
    ("alpha", "end"),
    [
        ((1.0, 1.0), [-1, 1, -1, 1]),
        ((0.3, 1.0), [-1, -1, -1, 1]),
        ((1.0, 0.3), [-1, 1, 1, 1]),
        ((2.0, 1.0), [1, 1, -1, 1]),
        ((1.0, 2.0), [-1, 1, -1, -1]),
        ((2.0, 2.0), [1, 1, -1, -1]),
    ],
)
def test_a_literal_update_flips_what_passes_its_threshold(alpha: tuple[float, float], end: list[int]) -> None:
    """S_plus is x = 1 and g > alpha_1 * L_1, S_minus is x = -1 and g < -alpha_2 * L_2."""
    options = {"literal": True, "neighbourhood": 0, "max_iterations": 1}
    result = flipwise.minimize(SLOPES, start=[1, 1, -1, -1], alpha=alpha, **options)
    assert result.x.tolist() == end
    assert result.trace.records[0].alpha == max(alpha)
    other = flipwise.minimize(SLOPES, start=[-1, -1, 1, 1], alpha=alpha, **options)
    assert other.x.tolist() == [-1, -1, 1, 1]  # all on the right side already


@pytest.mark.parametrize("sign", [1, -1])
def test_a_slope_at_the_threshold_does_not_pass(sign: int) -> None:
    """Equal slopes are equal to their mean, and the paper asks for more than alpha times it."""
    f = flipwise.Quadratic(np.zeros((2, 2)), [3.0 * sign, 3.0 * sign])
    result = flipwise.minimize(f, start=[sign, sign], literal=True, neighbourhood=0)
    assert result.x.tolist() == [sign, sign]
    assert result.status is flipwise.Status.CONVERGED
    assert _flips(result) == [0]


def test_alpha_is_lowered_until_nothing_improves() -> None:
    """Two flips at alpha = 1, two at the next lower one, none at 0: iterations without a flip are not counted."""
    result = flipwise.minimize(SLOPES, start=[1, 1, -1, -1], neighbourhood=0)
    records = result.trace.records
    assert [(record.flips, record.alpha) for record in records] == [(2, 1.0), (2, 1.0 / ImprovingUpdate.LEVELS), (0, 0)]
    assert [record.value for record in records] == [-7.0, -11.0, -11.0]
    assert result.x.tolist() == [-1, -1, 1, 1]
    assert result.iterations == 3 and result.evaluations == 1
    assert result.status is flipwise.Status.LOCAL_OPTIMUM


@pytest.mark.parametrize(("alpha", "flips"), [((0.0, 0.0), [2, 0]), ((0.0, 1.0), [1, 1, 0]), ((0.0, 2.0), [1, 1, 0])])
def test_an_update_follows_its_flips_only_when_both_alphas_are_zero(
    alpha: tuple[float, float], flips: list[int]
) -> None:
    """The first flip makes the second one improving: at once when alpha is 0, in the next iteration otherwise."""
    f = flipwise.Quadratic(np.array([[0.0, -1.0], [-1.0, 0.0]]), [5.0, 1.0])
    result = flipwise.minimize(f, start=[1, 1], alpha=alpha, neighbourhood=0)
    assert _flips(result)[: len(flips)] == flips
    assert result.trace.records[0].alpha == max(alpha)
    assert result.x.tolist() == [-1, -1]


def _not_for_ever(progress: flipwise.Progress) -> bool:
    return progress.iteration >= 2 * LITERAL_ITERATIONS


@pytest.mark.parametrize(("given", "made"), [(None, LITERAL_ITERATIONS), (130, 130), (7, 7)])
def test_the_literal_mode_ends_after_the_papers_number_of_updates(given: int | None, made: int) -> None:
    """100 without a limit, otherwise as many as the limit says, also more."""
    limit = {} if given is None else {"max_iterations": given}
    result = flipwise.minimize(
        SEESAW, start=[1, 1], literal=True, alpha=0.5, neighbourhood=0, callback=_not_for_ever, **limit
    )
    assert result.iterations == made
    assert set(_flips(result)) == {2}
    assert result.status is flipwise.Status.ITERATION_LIMIT


def test_the_improved_mode_has_no_such_limit() -> None:
    """A descent of one flip an iteration takes as many iterations as there are flips to make."""
    n = LITERAL_ITERATIONS + 20
    A = np.diag(np.full(n - 1, -1.0), 1)  # a coordinate improves once the one before it has flipped
    f = flipwise.Quadratic(A + A.T, np.r_[9.0, np.full(n - 1, 0.5)])
    # alpha_2 is too large to come down to 0, where an update would follow its flips to the end
    result = flipwise.minimize(f, start=np.ones(n), alpha=(0.0, 1e90), neighbourhood=0)
    assert _flips(result)[:n] == [1] * n
    assert (result.x == -1).all()
    assert result.status is flipwise.Status.LOCAL_OPTIMUM


def test_the_neighbourhood_is_searched_every_so_many_updates() -> None:
    """With T = 3 the seesaw goes on twice; the third update is followed by the best single flip, and all is over."""
    result = flipwise.minimize(
        SEESAW, start=[1, 1], literal=True, alpha=0.5, neighbourhood=1, neighbourhood_every=3, callback=_not_for_ever
    )
    assert _flips(result) == [2, 2, 3, 0]
    assert [record.value for record in result.trace.records] == [2.0, 2.0, -2.0, -2.0]
    assert result.status is flipwise.Status.CONVERGED


def test_the_neighbourhood_is_searched_where_the_updates_end() -> None:
    """Slopes at the threshold do not pass; the search at the end finds them one by one."""
    f = flipwise.Quadratic(np.zeros((2, 2)), [3.0, 3.0])
    result = flipwise.minimize(f, start=[1, 1], literal=True, neighbourhood=1, neighbourhood_every=1000)
    assert _flips(result) == [1, 1, 0]
    assert [record.value for record in result.trace.records] == [0.0, -6.0, -6.0]
    assert result.status is flipwise.Status.CONVERGED


@pytest.mark.parametrize("restarts", [1, 4])
def test_each_descent_evaluates_once(restarts: int) -> None:
    """A quadratic keeps its gradient up to date: one evaluation for each start."""
    assert flipwise.minimize(SLOPES, seed=0, restarts=restarts).evaluations == restarts


@pytest.mark.parametrize("variant", ["plain", "momentum", "adam", "adagrad"])
@pytest.mark.parametrize(
    "constraint", [flipwise.Free(), flipwise.Cardinality(6), flipwise.GroupCounts([0, 1] * 7, [3, 5])]
)
@pytest.mark.parametrize("options", [{"neighbourhood_every": 1}, {"neighbourhood": 0}])
def test_the_value_kept_up_to_date_is_that_of_the_point(
    variant: str, constraint: Constraint, options: dict[str, Any]
) -> None:
    """At every iteration, whatever made the flips: the update, the search between or the step at the end."""
    rng = np.random.default_rng(5)
    f = flipwise.Quadratic(random_symmetric(rng, 14), rng.standard_normal(14))

    def check(progress: flipwise.Progress) -> None:
        assert progress.value == progress.best == pytest.approx(f.value(progress.x.astype(float)), abs=1e-9)

    for seed in range(3):
        flipwise.minimize(
            f, constraint=constraint, seed=seed, variant=variant, neighbourhood_samples=5, callback=check, **options
        )
