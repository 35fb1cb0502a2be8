"""Constraints of somebody else's in `minimize`: the answer keeps them, or there is an error that names them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flipwise
from flipwise.testing import check_constraint

PAGE = Path(__file__).parents[2] / "docs" / "extend" / "constraint.md"


def printed() -> Any:
    """The class `Pinned` as docs/extend/constraint.md prints it."""
    found = re.search(r"^```python\n(class Pinned.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert found
    namespace: dict[str, Any] = {"np": np, "flipwise": flipwise}
    exec(found[1], namespace)
    return namespace["Pinned"]


class HalfPinned(flipwise.Free):
    """What the page printed once: starts and checks know the rule, `project` and `pair` are those of the free set."""

    def __init__(self, indices: Any, values: Any) -> None:
        self.indices, self.values = np.asarray(indices), np.where(np.asarray(values) > 0, 1.0, -1.0)

    def random(self, shape: Any, rng: Any) -> Any:
        x = np.where(rng.random(shape) < 0.5, 1.0, -1.0)
        x.reshape(-1)[self.indices] = self.values
        return x

    def violation(self, x: Any) -> str | None:
        wrong = np.flatnonzero(np.sign(np.asarray(x).reshape(-1)[self.indices] - 0.5) != self.values)
        return f"entry {self.indices[wrong[0]]} is pinned to {self.values[wrong[0]]:+.0f}" if wrong.size else None

    def contains(self, x: Any) -> bool:
        return self.violation(x) is None


class AtMost(flipwise.Free):
    """At most `count` ones: whether a flip is allowed depends on the point, which `pair` does not see."""

    def __init__(self, count: int) -> None:
        self.count = count

    def random(self, shape: Any, rng: Any) -> Any:
        return self.project(rng.standard_normal(shape))

    def violation(self, x: Any) -> str | None:
        ones = np.count_nonzero(np.asarray(x) > 0)
        return None if ones <= self.count else f"it must have at most {self.count} ones, it has {ones}"

    def contains(self, x: Any) -> bool:
        return self.violation(x) is None

    def project(self, y: Any) -> Any:
        x = super().project(y)
        x.reshape(-1)[np.argsort(-np.asarray(y).reshape(-1), kind="stable")[self.count :]] = -1.0
        return x


def _matrix(n: int, seed: int) -> np.ndarray:
    A = np.random.default_rng(seed).standard_normal((n, n))
    return A + A.T


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("literal", [False, True], ids=["default", "literal"])
def test_the_printed_constraint_is_kept(literal: bool, seed: int) -> None:
    """n = 60, 10 pinned: every answer is feasible."""
    pinned = printed()(range(10), [1, -1] * 5)
    result = flipwise.minimize(_matrix(60, 100), constraint=pinned, seed=seed, literal=literal)
    assert result.x[:10].tolist() == [1, -1] * 5


@pytest.mark.parametrize("seed", range(5))
def test_the_portfolio_keeps_the_printed_constraint(seed: int) -> None:
    """Past the first descent too."""
    pinned = printed()(range(10), [1, -1] * 5)
    found = flipwise.minimize(_matrix(60, 100), constraint=pinned, seed=seed, method="portfolio", max_iterations=20)
    once = flipwise.minimize(_matrix(60, 100), constraint=pinned, seed=seed)
    assert found.x[:10].tolist() == [1, -1] * 5 and found.value <= once.value


def test_the_printed_constraint_is_as_good_as_taking_the_variables_out() -> None:
    """The best of some descents under the constraint is that of the problem in the other variables."""
    A, values = _matrix(16, 3), np.array([1.0, -1.0, 1.0, -1.0])
    pinned = printed()(range(4), values)
    best = flipwise.minimize(A, constraint=pinned, seed=0, restarts=50)
    rest = flipwise.Quadratic(A[4:, 4:], 2.0 * A[4:, :4] @ values, float(values @ A[:4, :4] @ values))
    assert best.value == pytest.approx(flipwise.minimize(rest, method="exact").value)


def test_the_contract_knows_which_is_right() -> None:
    """The printed class passes, the half one is told what it lacks."""
    check_constraint(printed()([0, 3], [1, -1]), 60)
    with pytest.raises(AssertionError, match="HalfPinned: `project` must give a feasible array"):
        check_constraint(HalfPinned([0, 3], [1, -1]), 60)


METHODS = [
    ("dpcd", {}),
    ("dpcd", {"literal": True}),
    ("portfolio", {"max_iterations": 5}),
    ("exact", {}),
    ("sgm", {}),
    ("dcc", {}),
    ("lp", {}),
]


@pytest.mark.parametrize("kind", ["printed", "half", "at most"])
@pytest.mark.parametrize(("method", "options"), METHODS, ids=lambda part: str(part))
def test_never_a_silent_infeasible_success(method: str, options: dict[str, Any], kind: str) -> None:
    """20 seeds: a feasible answer, or an error that names the method, the constraint and what is wrong."""
    n = 14 if method == "exact" else 60
    pins = range(n // 6), [1, -1] * (n // 12)
    constraint = {"printed": printed(), "half": HalfPinned}.get(kind, lambda *_: AtMost(n // 4))(*pins)
    for seed in range(20):
        try:
            result = flipwise.minimize(_matrix(n, seed), constraint=constraint, method=method, seed=seed, **options)
        except flipwise.InfeasibleAnswer as error:
            assert method in str(error) and type(constraint).__name__ in str(error)
            assert ("pinned to" if kind != "at most" else "it must have at most") in str(error)
        else:
            assert constraint.contains(result.x)


@pytest.mark.parametrize("pair", ["of the free set", "of the contract"])
@pytest.mark.parametrize(("method", "options"), METHODS[:3], ids=lambda part: str(part))
def test_at_most_is_kept_whatever_part_of_the_moves_is_made(method: str, options: dict[str, Any], pair: str) -> None:
    """The improving part of moves that are allowed together need not be: what breaks the rule is taken back."""
    constraint = AtMost(20)
    if pair == "of the contract":
        constraint.pair = lambda plus, minus, g: plus  # type: ignore[method-assign]
        check_constraint(constraint, 60)
    for seed in range(20):
        result = flipwise.minimize(_matrix(60, seed), constraint=constraint, method=method, seed=seed, **options)
        assert constraint.contains(result.x)
