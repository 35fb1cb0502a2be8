"""ARE: DPCD against the steps bit by bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

from flipwise.foundation.errors import InvalidInput
from flipwise.hashing import ARE


def test_dpcd_is_not_worse_than_the_original(digits: Any) -> None:
    """The loss reached by DPCD is at most that of the original's steps, within 2 %."""
    X, y, _, _ = digits
    reached = ARE(16, random_state=0).fit(X, y).loss_values_[-1]
    rival = ARE(16, optimizer="are", random_state=0).fit(X, y).loss_values_[-1]
    assert reached <= rival + 0.02 * abs(rival)


def test_the_loss_is_that_of_the_cosines(digits: Any) -> None:
    """The loss is ||BB' - rXX'||^2 of the centred rows of unit length, and sweeps bit by bit do not raise it."""
    X = digits[0][:200]
    model = ARE(8, optimizer="are", random_state=0).fit(X)
    Z = X - X.mean(axis=0)
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    B = model.codes_.signs().astype(float)
    assert np.isclose(model.loss_values_[-1], ((B @ B.T - 8 * Z @ Z.T) ** 2).sum())
    assert (np.diff(model.loss_values_) <= 1e-9 * model.loss_values_[0]).all()


def test_updates_are_checked(digits: Any) -> None:
    """There is at least one."""
    with pytest.raises(InvalidInput, match="`updates`"):
        ARE(8, updates=0).fit(digits[0][:50])
