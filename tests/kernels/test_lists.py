"""Search by tables in lists: both tiers against scoring and sorting everything in the lists that are looked at."""

from __future__ import annotations

import numpy as np
import pytest

from flipwise.kernels.lists import best_in_lists

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize("name", ["interpreted", "compiled"])
@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize(("k", "probes"), [(1, 1), (4, 2), (17, 1), (30, 5)])
def test_the_best_of_the_first_lists(name: str, own: bool, k: int, probes: int) -> None:
    """Ordered by score and name, with many ties and an empty list; further lists only until there are enough."""
    rng = np.random.default_rng(k)
    tables = rng.integers(-2, 3, (3, 2, 256)).astype(np.float32)
    codes = rng.integers(0, 4, (30, 2)).astype(np.uint8)
    offset = rng.integers(-3, 4, 3).astype(np.float32)
    scale = rng.choice([0.5, 1.0], 30 if own else 1).astype(np.float32)
    shift = rng.integers(-2, 3, 30 if own else 1).astype(np.float32)
    starts = np.array([0, 7, 7, 15, 21, 30])
    names = np.concatenate([np.sort(part) for part in np.split(rng.permutation(90)[:30], starts[1:-1])])
    order = np.array([rng.permutation(5) for _ in range(3)])
    found, places = np.empty((3, k), dtype=np.int64), np.empty((3, k), dtype=np.int64)
    scores = np.empty((3, k), dtype=np.float32)
    best_in_lists.compile()
    given = (tables, offset, scale, shift, codes, names, starts, order, probes)
    getattr(best_in_lists, name)(*given, found, places, scores)
    values = (offset[:, None] + tables[:, np.arange(2), codes].sum(axis=2)) * scale + shift
    for i in range(3):
        looked = 0
        rows: list[int] = []
        while looked < probes or len(rows) < k:
            rows += range(starts[order[i, looked]], starts[order[i, looked] + 1])
            looked += 1
        best = sorted(rows, key=lambda j: (-values[i, j], names[j]))[:k]
        best += [-1] * (k - len(best))
        assert places[i].tolist() == best
        assert found[i].tolist() == [names[j] if j >= 0 else np.iinfo(np.int64).max for j in best]
        assert scores[i][: len(rows)].tolist() == [values[i, j] for j in best if j >= 0]
