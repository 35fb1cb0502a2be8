"""SADH-L: DPCD against the alternation with balanced signs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

from flipwise.foundation.errors import InvalidInput
from flipwise.hashing import SADH


def test_dpcd_is_not_worse_than_the_original(digits: Any) -> None:
    """The loss reached by DPCD is at most that of the original's steps, within 2 %."""
    X, y, _, _ = digits
    reached = SADH(16, random_state=0).fit(X, y).loss_values_[-1]
    rival = SADH(16, optimizer="sadh", random_state=0).fit(X, y).loss_values_[-1]
    assert reached <= rival + 0.02 * abs(rival)


def test_bits_are_balanced_and_apart(digits: Any) -> None:
    """No bit is nearly constant, and no two bits are nearly the same."""
    B = SADH(16, random_state=0).fit(digits[0]).codes_.signs().astype(float)
    assert np.abs(B.mean(axis=0)).max() < 0.5
    correlation = np.abs(np.corrcoef(B.T) - np.eye(16))
    assert correlation.max() < 0.6


def test_updates_are_checked(digits: Any) -> None:
    """There is at least one."""
    with pytest.raises(InvalidInput, match="`updates`"):
        SADH(8, updates=0).fit(digits[0][:50])
