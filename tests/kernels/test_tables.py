"""Search by tables: both tiers against adding up and sorting everything."""

from __future__ import annotations

import numpy as np
import pytest

from flipwise.kernels.tables import best_by_tables

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize("name", ["interpreted", "compiled"])
@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize(("k", "width"), [(1, 2), (7, 4), (40, 6)])
def test_the_best_are_ordered_by_score_and_id(name: str, own: bool, k: int, width: int) -> None:
    """As a stable sort of all scores orders them, with many ties, and a scale and a shift of each code or of all."""
    rng = np.random.default_rng(k)
    tables = rng.integers(-3, 4, (3, width, 256)).astype(np.float32)
    codes = rng.integers(0, 6, (40, width)).astype(np.uint8)
    offset = rng.integers(-3, 4, 3).astype(np.float32)
    scale = rng.choice([0.5, 1.0, 2.0], 40 if own else 1).astype(np.float32)
    shift = rng.integers(-2, 3, 40 if own else 1).astype(np.float32)
    ids, scores = np.empty((3, k), dtype=np.int64), np.empty((3, k), dtype=np.float32)
    best_by_tables.compile()
    getattr(best_by_tables, name)(tables, offset, scale, shift, codes, ids, scores)
    values = (offset[:, None] + tables[:, np.arange(width), codes].sum(axis=2)) * scale + shift
    order = np.argsort(-values, axis=1, kind="stable")[:, :k]
    assert np.array_equal(ids, order)
    assert np.array_equal(scores, np.take_along_axis(values, order, axis=1))
