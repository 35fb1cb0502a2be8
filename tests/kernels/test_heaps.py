"""The heaps of the kernels, beside Python's own."""

from __future__ import annotations

import heapq

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipwise.kernels.heaps import push, sift

pytestmark = pytest.mark.kernels


@given(st.lists(st.one_of(st.none(), st.integers(-4, 4)), max_size=40))
def test_keys_come_out_as_from_pythons_heap(steps: list[int | None]) -> None:
    """Numbers go in, None takes the least out; each item stays with its key."""
    keys, items, twin, size = np.zeros(len(steps)), np.zeros(len(steps), np.int64), [], 0
    for number, key in enumerate(steps):
        if key is not None:
            push(keys, items, size, float(key), 100 * number + key)
            heapq.heappush(twin, float(key))
            size += 1
        elif size:
            assert keys[0] == heapq.heappop(twin)
            sift(keys, items, size)
            size -= 1
        assert sorted(keys[:size]) == sorted(twin) and (size == 0 or keys[0] == twin[0])
        assert all((item - key) % 100 == 0 for item, key in zip(items[:size], keys[:size], strict=True))
