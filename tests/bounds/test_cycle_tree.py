"""Branch and cut on odd cycles: the minimum of brute force, also without a lattice, and a bound when stopped."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from flipwise.bounds.allowance import Allowance
from flipwise.bounds.cycle_tree import CycleTree
from flipwise.bounds.parts import Part


def part_of(n: int, seed: int, density: float, size: int) -> Part:
    """A random part with integer couplings up to `size`."""
    rng = np.random.default_rng(seed)
    rows: dict[int, dict[int, int]] = {i: {} for i in range(n)}
    for i in range(n):
        for j in range(i):
            if rng.random() < density or j == i - 1:
                rows[i][j] = rows[j][i] = int(rng.integers(-size, size + 1)) or 1
    return Part.of(rows, list(range(n)))


def least_energy(part: Part) -> int:
    """The least energy of all points."""
    return min(part.energy_at(np.array([*s, 1], dtype=np.int8)) for s in product([-1, 1], repeat=part.n - 1))


@pytest.mark.parametrize("seed", range(12))
def test_the_minimum_is_found_and_proven(seed: int) -> None:
    """Small weights with many ties, and weights of sixty bits whose values have no lattice to speak of."""
    pytest.importorskip("highspy")
    part = part_of(9, seed, 0.3 + 0.05 * seed, [1, 7, 2**60][seed % 3])
    CycleTree(part, Allowance()).run()
    assert part.energy == least_energy(part) == part.bound


def test_stopped_it_still_has_a_bound() -> None:
    """After a few looks at the clock the bound is one, and not above the best energy."""
    part = part_of(10, 1, 0.7, 5)
    left = iter([1.0] * 6)
    CycleTree(part, Allowance(lambda: next(left, 0.0))).run()
    assert part.bound is None or part.bound <= least_energy(part) <= part.energy
