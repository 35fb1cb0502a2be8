"""Enumeration in integers: the least of all points, one limb or many, with and without counts."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flipwise.bounds import enumeration
from flipwise.bounds.enumeration import Group, enumeration_work, least_point, number_of_points


def _naive(J: np.ndarray, h: np.ndarray, groups: list[Group]) -> int:
    n = h.size
    energies = []
    for s in product([-1, 1], repeat=n):
        if all(sum(s[i] > 0 for i in inside) in ones for inside, ones in groups):
            pairs = sum(J[i, j] * s[i] * s[j] for i in range(n) for j in range(i))
            energies.append(pairs + sum(h[i] * s[i] for i in range(n)))
    return min(energies)


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(1, 7), st.sampled_from([3, 10**9, 10**40]), st.sampled_from([0, 1, 2]))
def test_the_least_energy_of_all_points(data: st.DataObject, n: int, size: int, kind: int) -> None:
    """Integers of one, two and many limbs; all points, one count or range, two groups."""
    numbers = st.integers(-size, size)
    J = np.zeros((n, n), dtype=object)
    for i in range(n):
        for j in range(i):
            J[i, j] = J[j, i] = data.draw(numbers)
    h = np.array([data.draw(numbers) for _ in range(n)], dtype=object)

    def allowed(size: int) -> range:
        ends = data.draw(st.tuples(st.integers(0, size), st.integers(0, size)))
        return range(min(ends), max(ends) + 1)

    groups: list[Group] = [] if kind == 0 else [(np.arange(n), allowed(n))]
    if kind == 2 and n > 1:
        half = n // 2
        groups = [(np.arange(half), allowed(half)), (np.arange(half, n), allowed(n - half))]
    found = least_point(J, h, groups)
    assert found is not None
    energy, point = found
    pairs = sum(J[i, j] * int(point[i]) * int(point[j]) for i in range(n) for j in range(i))
    assert energy == pairs + sum(h[i] * int(point[i]) for i in range(n)) == _naive(J, h, groups)
    assert all(int((point[inside] > 0).sum()) in ones for inside, ones in groups)


def test_blocks_and_lists_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """More variables than one block holds, and counts whose points are listed: the same minimum."""
    rng = np.random.default_rng(0)
    n = 11
    J = np.array(rng.integers(-9, 10, (n, n)), dtype=object)
    J = J + J.T
    np.fill_diagonal(J, 0)
    h = np.array(rng.integers(-9, 10, n), dtype=object)
    for groups in ([], [(np.arange(n), range(2, 3))], [(np.arange(n), range(4, 7))]):
        whole = least_point(J, h, groups)
        with monkeypatch.context() as small:
            small.setattr(enumeration, "LOW_BITS", 3)
            small.setattr(enumeration, "BATCH", 7)
            small.setattr(enumeration, "LISTED", 5)
            assert whole is not None and least_point(J, h, groups)[0] == whole[0] == _naive(J, h, groups)  # type: ignore[index]


def test_it_can_be_stopped_and_its_work_is_known() -> None:
    """None when it is told to stop; the work is that of all points, or of those that have the counts."""
    J, h = np.zeros((3, 3), dtype=object), np.zeros(3, dtype=object)
    assert least_point(J, h, [], lambda: True) is None
    assert (
        number_of_points(40, [(np.arange(40), range(3, 4))]) == 9880
        and enumeration_work(40, [(np.arange(40), range(3, 4))]) == 4 * 9880
    )
    assert enumeration_work(10, []) == 1024
