"""The losses that learn from labels: values against the formulas, the best W, gradients against differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flipwise.hashing.label_losses import CodeRows, CodeWordLoss, Coupling, FSDHLoss, LabelLoss, SDHLoss
from flipwise.hashing.labels import LabelSets, as_label_sets
from tests.hashing.losses import check_gradient, check_minimised, spins

DELTA = 0.2


def labels(seed: int) -> LabelSets:
    """Multi-hot labels of a few items, every item with at least one."""
    rng = np.random.default_rng(seed)
    Y = rng.integers(0, 2, (12, 3))
    Y[Y.sum(axis=1) == 0, 0] = 1
    return as_label_sets(Y)


def make_words(seed: int) -> tuple[CodeWordLoss, np.random.Generator]:
    rng = np.random.default_rng(seed)
    n, r, c = (int(v) for v in rng.integers(1, 6, 3))
    return CodeWordLoss(rng.integers(0, 2, (n, c)).astype(float), r, rng.integers(1, 4, n).astype(float), 0.3), rng


@pytest.mark.parametrize("distinct", [True, False])
@pytest.mark.parametrize("nu", [0.0, 0.4])
@pytest.mark.parametrize("seed", range(5))
def test_sdh_is_the_formula_at_its_best_w(distinct: bool, nu: float, seed: int) -> None:
    """The value is the loss over all items with the W of a ridge regression; the rows with that W have it too."""
    sets, rng = labels(seed), np.random.default_rng(seed)
    rows = CodeRows.make(sets, distinct)
    F = rng.standard_normal((len(rows.weights), 4))
    loss = SDHLoss(sets, rows, 4, DELTA, Coupling(nu, lambda B: F) if nu and not distinct else None)
    B = spins(rng, loss.shape).astype(np.int8)
    items, Y = B[rows.of_item].astype(float), sets.Y[sets.of_item]
    W = np.linalg.solve(items.T @ items + DELTA * np.eye(4), items.T @ Y)
    expected = ((Y - items @ W) ** 2).sum() + DELTA * (W * W).sum()
    if loss.coupling is not None:
        expected += nu * ((items - F) ** 2).sum()
    fitted = loss.fitted(B)
    assert np.isclose(loss.value(B), expected) and loss.value(B.astype(float)) == loss.value(B)
    assert np.isclose(fitted.rows.value(B), expected)
    assert np.allclose(fitted.rows.W, W)
    assert np.allclose(loss.gradient(B), fitted.rows.gradient(B.astype(float)))


@pytest.mark.parametrize("distinct", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_fsdh_is_the_formula_at_its_best_w(distinct: bool, seed: int) -> None:
    """The same where codes are regressed onto labels."""
    sets, rng = labels(seed), np.random.default_rng(seed)
    rows = CodeRows.make(sets, distinct)
    loss = FSDHLoss(sets, rows, 4, DELTA)
    B = spins(rng, loss.shape).astype(np.int8)
    items, Y = B[rows.of_item].astype(float), sets.Y[sets.of_item]
    W = np.linalg.solve(Y.T @ Y + DELTA * np.eye(3), Y.T @ items)
    expected = ((items - Y @ W) ** 2).sum() + DELTA * (W * W).sum()
    assert np.isclose(loss.value(B), expected) and np.isclose(loss.fitted(B).rows.value(B), expected)


def test_w_is_fitted_once_for_the_same_codes() -> None:
    """The fit of the last codes is remembered, also for another array with the same codes."""
    sets = labels(0)
    loss: LabelLoss = SDHLoss(sets, CodeRows.make(sets, True), 4, DELTA)
    B = spins(np.random.default_rng(0), loss.shape).astype(np.int8)
    first = loss.fitted(B)
    assert loss.fitted(B.copy()) is first
    B[0, 0] *= -1
    assert loss.fitted(B) is not first


@pytest.mark.parametrize("distinct", [True, False])
def test_starts_are_codes(distinct: bool) -> None:
    """One row for each label set or item, entries -1 and +1, the same for the same generator."""
    sets = labels(1)
    loss = SDHLoss(sets, CodeRows.make(sets, distinct), 16, DELTA)
    one, other = (loss.start(np.random.default_rng(3)) for _ in range(2))
    assert one.shape == loss.shape and set(np.unique(one)) == {-1, 1} and np.array_equal(one, other)


def test_sums_over_rows_do_not_depend_on_how_they_are_grouped() -> None:
    """Label sets with their counts and single items give the same B'MB and sums by set."""
    sets = labels(2)
    one, each = CodeRows.make(sets, True), CodeRows.make(sets, False)
    words = spins(np.random.default_rng(0), (len(sets.Y), 5)).astype(np.int8)
    items = words[sets.of_item]
    assert np.allclose(one.gram(words), each.gram(items))
    assert np.allclose(one.sums_by_set(words, len(words)), each.sums_by_set(items, len(words)))


def test_the_loss_of_code_words_is_the_formula() -> None:
    """With W eliminated the value is that at the minimising W, below and above as many label sets as bits."""
    rng = np.random.default_rng(0)
    for r in (2, 4, 9):
        B, Y, m = spins(rng, (7, r)), rng.integers(0, 2, (7, 3)) * 1.0, rng.integers(1, 4, 7).astype(float)
        p = CodeWordLoss(Y, r, m, 0.2)
        W = p.best_W(B)
        assert np.allclose(W, np.linalg.solve(B.T @ (m[:, None] * B) + 0.2 * np.eye(r), B.T @ (m[:, None] * Y)))
        assert np.isclose(p.value(B), (m[:, None] * (Y - B @ W) ** 2).sum() + 0.2 * (W * W).sum())
        assert p.evaluations == 1


def test_the_loss_of_code_words_is_that_of_the_alternation() -> None:
    """For distinct label sets both losses are one function of the code words."""
    sets = labels(4)
    loss = SDHLoss(sets, CodeRows.make(sets, True), 6, DELTA)
    words = CodeWordLoss(sets.Y, 6, sets.counts, DELTA)
    for seed in range(5):
        B = spins(np.random.default_rng(seed), loss.shape)
        assert np.isclose(loss.value(B), words.value(B))
        assert np.allclose(loss.gradient(B), words.gradient(B))


@settings(max_examples=40)
@given(st.integers(0, 2**31))
def test_the_gradient_of_code_words_agrees_with_differences(seed: int) -> None:
    """The gradient is the derivative of the value (envelope theorem)."""
    check_gradient(*make_words(seed))


def test_minimize_takes_the_loss_of_code_words() -> None:
    """Small ones are solved to optimality."""
    for seed in range(6):
        check_minimised(make_words(seed)[0])
