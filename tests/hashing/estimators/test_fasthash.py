"""FastHash: DPCD against the inference by blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

from flipwise.foundation.errors import InvalidInput
from flipwise.hashing import FastHash
from flipwise.hashing.estimators import fasthash


def test_dpcd_is_not_worse_than_the_original(digits: Any) -> None:
    """The loss reached by DPCD is at most that of the original's steps, within 2 %."""
    X, y, _, _ = digits
    reached = FastHash(16, hash_function="linear", random_state=0).fit(X, y).loss_values_[-1]
    rival = FastHash(16, optimizer="blocks", hash_function="linear", random_state=0).fit(X, y).loss_values_[-1]
    assert reached <= rival + 0.02 * abs(rival)


def test_label_sets_and_items_have_one_loss(digits: Any) -> None:
    """Codes of label sets, given to all their items, have the loss that a search over items reports for them."""
    X, y, _, _ = digits
    sets = FastHash(16, hash_function="linear", random_state=0).fit(X, y)
    B = sets.codes_.signs().astype(float)
    S = np.where(y[:, None] == y[None, :], 1.0, -1.0)
    assert np.isclose(sets.loss_values_[-1], ((B @ B.T - 16 * S) ** 2).sum())


def test_too_many_label_sets_are_refused(monkeypatch: pytest.MonkeyPatch, digits: Any) -> None:
    """The matrix of their similarities is square in their number."""
    monkeypatch.setattr(fasthash, "MOST_SETS", 5)
    with pytest.raises(InvalidInput, match="label sets"):
        FastHash(8).fit(digits[0], digits[1])
