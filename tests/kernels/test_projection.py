"""What the projection onto the sum of a box counts."""

from __future__ import annotations

import numpy as np
import pytest

from flipwise.kernels.projection import clipped_counts

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize("tier", ["interpreted", "compiled"])
def test_counts_are_those_of_the_clipped_vector(tier: str) -> None:
    """Entries at either end, entries between, and the sum of y over these, as NumPy counts them."""
    clipped_counts.compile()
    y = np.round(np.random.default_rng(0).normal(0.0, 2.0, 50), 1)
    for t in (-1.5, 0.0, 0.7):
        x = np.clip(y - t, -1.0, 1.0)
        between = np.abs(x) < 1.0
        bound, count, total = getattr(clipped_counts, tier)(y, t)
        assert bound == np.count_nonzero(x == 1.0) - np.count_nonzero(x == -1.0)
        assert count == np.count_nonzero(between) and total == pytest.approx(y[between].sum())
