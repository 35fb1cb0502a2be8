"""A uniform sample of rows in chunks."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from flipwise.hashing.reservoir import Reservoir


@pytest.mark.parametrize("sparse", [False, True])
def test_every_row_is_kept_with_the_same_chance(sparse: bool) -> None:
    """Over many runs each of 30 rows is in a reservoir of 10 a third of the time; no row is in it twice."""
    counts = np.zeros(30)
    for seed in range(600):
        kept = Reservoir(10, np.random.default_rng(seed))
        for part in np.split(np.arange(1.0, 31.0)[:, None], [4, 17]):
            kept.add(sp.csr_array(part) if sparse else part)
        rows = np.asarray(kept.rows.todense() if sparse else kept.rows).reshape(-1)
        assert np.unique(rows).size == 10
        counts[rows.astype(int) - 1] += 1
    assert abs(counts / 600 - 1 / 3).max() < 0.09
