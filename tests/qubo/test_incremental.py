"""A model that changes: what is solved is the model as it is now, and no bound is ever stale."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import flipwise
from flipwise import Incremental, QuadraticModel


def least(model: QuadraticModel, count: int | None = None) -> float:
    """By brute force."""
    values = (0, 1) if model.variables == "binary" else (-1, 1)
    points = (np.array(x) for x in product(values, repeat=model.n))
    return min(model.energy(x) for x in points if count is None or int((x > 0).sum()) == count)


def a_model(rng: np.random.Generator, n: int, density: float = 0.6) -> QuadraticModel:
    """Some couplings and fields; spins or bits."""
    i, j = np.triu_indices(n, 1)
    inside = rng.random(i.size) < density
    b = np.round(rng.standard_normal(inside.sum()), 2)
    kind: Any = "spin" if rng.random() < 0.5 else "binary"
    return QuadraticModel(np.round(rng.standard_normal(n), 2), i[inside], j[inside], b, 0.5, kind)


@pytest.mark.parametrize("seed", range(12))
def test_each_solve_is_of_the_model_as_it_is_now(seed: int) -> None:
    """Values, new products, counts and the bound that is carried along, against brute force."""
    rng = np.random.default_rng(seed)
    live = Incremental(a_model(rng, 7))
    first = live.solve(seed=0, effort=0.1, bound="quick")
    assert first.value == pytest.approx(least(live.model)) and first.optimal
    for step in range(4):
        u, v = rng.choice(7, 2, replace=False)
        live.update(int(u), int(v), float(np.round(rng.standard_normal(), 2)))
        live.update_linear([int(u), int(v)], rng.standard_normal(2))
        if step == 2:
            live.set_count(3)
        smallest = least(live.model, live.count)
        assert live.bound is not None and live.bound <= smallest
        result = live.solve(seed=step)
        assert result.value == pytest.approx(smallest) and result.bound is not None and result.bound <= smallest + 1e-12
        assert result.value == pytest.approx(live.model.energy(result.x)) and result.pool is None
        assert live.count is None or result.bits.sum() == 3
    live.set_count(2)
    assert live.bound is None
    assert live.solve(seed=0).value == pytest.approx(least(live.model, 2))


@pytest.mark.parametrize("seed", range(6))
def test_fixed_variables_and_ranges_change_too(seed: int) -> None:
    """Against brute force; the bound that is carried along never passes the least value."""
    rng = np.random.default_rng(seed)
    live = Incremental(a_model(rng, 8), count=(2, 5), fixed={1: 1})
    low = -1 if live.model.variables == "spin" else 0

    def smallest() -> float:
        points = (np.array(x) for x in product((low, 1), repeat=8))
        least, most = live.count if isinstance(live.count, tuple) else (live.count, live.count)  # type: ignore[misc]
        inside = (x for x in points if all(x[i] == value for i, value in live.fixed.items()))
        return min(live.model.energy(x) for x in inside if live.count is None or least <= (x > 0).sum() <= most)

    changes: list[Any] = [
        lambda: live.set_fixed({1: 1, 3: low}), lambda: live.set_count((1, 3)), lambda: live.update(0, 3, 2.5),
        lambda: live.set_fixed({0: 1}), lambda: live.set_count(None), lambda: live.set_fixed(None),
    ]  # fmt: skip
    for change in (lambda: None, *changes):
        change()
        assert live.bound is None or live.bound <= smallest() + 1e-12
        result = live.solve(seed=seed, effort=0.1, bound="quick")
        assert result.value == pytest.approx(smallest()) and result.bound is not None
        assert result.bound <= smallest() + 1e-12
        assert all(result.x[i] == value for i, value in live.fixed.items())


def test_fixed_variables_have_labels() -> None:
    live = Incremental({("a", "b"): 2.0, ("a",): -1.0, ("b",): -1.5}, fixed={"b": 0})
    assert live.solve(seed=0).value == -1.0 and "1 fixed" in repr(live)
    live.set_fixed({"a": 1})
    assert live.solve(seed=0, max_evaluations=50, max_iterations=3).value == -1.0
    with pytest.raises(flipwise.InvalidInput, match="'c'"):
        live.set_fixed({"c": 1})
    with pytest.raises(flipwise.InvalidInput, match="cannot be kept"):
        live.set_count(0)


def test_many_products_change_at_once() -> None:
    """Arrays; the last of several values of one product counts; a product in either order is the same."""
    live = Incremental(QuadraticModel.from_ising(np.zeros(6), np.triu(np.ones((6, 6)), 1)))
    live.update(np.array([1, 0, 5]), np.array([0, 1, 2]), np.array([7.0, -3.0, 2.0]))
    wanted = np.triu(np.ones((6, 6)), 1)
    wanted[0, 1], wanted[2, 5] = -3.0, 2.0
    assert (live.model.upper().toarray() == wanted).all()
    sparse = Incremental(np.diag([-1.0, -1.0, -1.0]))
    sparse.update([2, 0], [0, 1], [5.0, 4.0])
    assert (sparse.model.upper().toarray() == [[0, 4, 5], [0, 0, 0], [0, 0, 0]]).all()
    assert sparse.solve(seed=0).value == -2.0


def test_labels_and_the_order_of_a_models_couplings() -> None:
    live = Incremental({("a", "b"): 2.0, ("a",): -1.0, ("b",): -1.0})
    live.update("a", "b", -2.0)
    live.update_linear("a", 3.0)
    result = live.solve(seed=0)
    assert result.value == min(0.0, -1.0, 3.0, 0.0) and result.info["labels"] == ["a", "b"]
    mixed = QuadraticModel(np.zeros(3), np.array([1, 0]), np.array([2, 1]), np.array([1.0, 2.0]))
    own = Incremental(mixed)
    own.update(0, 1, -5.0)
    assert own.solve(seed=0).value == -5.0 and mixed.b.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("count", [None, 40])
def test_a_further_solve_is_short_and_begins_with_the_last_points(count: int | None) -> None:
    """Of an unchanged model it is never worse; a tenth of the rounds."""
    live = Incremental(a_model(np.random.default_rng(5), 120, 0.2), count=count)
    first = live.solve(seed=0, effort=0.5)
    again = live.solve(seed=1)
    assert again.value <= first.value and again.iterations < first.iterations / 3
    pooled = live.solve(seed=2, pool=4, distance=2)
    assert pooled.pool is not None and len(pooled.pool) == 4 and pooled.value <= again.value
    live.set_count(39)
    assert live.solve(seed=0).bits.sum() == 39
    timed = Incremental(live.model, count=count)
    timed.solve(seed=0, time_limit=0.5)
    assert timed.solve(seed=0).seconds < 0.4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda live: live.update(0, 0, 1.0), "`u` and `v` must differ"),
        (lambda live: live.update(0, 9, 1.0), "`v` must be a variable"),
        (lambda live: live.update([0, 1], [2], 1.0), "must be of one length"),
        (lambda live: live.update(0, 1, float("nan")), "coefficient"),
        (lambda live: live.update_linear(0.5, 1.0), "`u` must be a variable"),
        (lambda live: live.set_count(7), "number of ones"),
        (lambda live: live.solve(pool=0), "`pool`"),
        (lambda live: Incremental({}), "empty"),
        (lambda live: Incremental({("a", "b"): 1.0}).update("a", "c", 1.0), "labels of the model"),
    ],
)
def test_what_makes_no_sense_is_refused(call: Any, message: str) -> None:
    with pytest.raises(flipwise.InvalidInput, match=message):
        call(Incremental(np.eye(4)))
