"""Branch and cut on odd cycles: the minimum of brute force, also without a lattice, and a bound when stopped."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from flipwise.bounds import cycle_tree
from flipwise.bounds.cycle_tree import CycleTree
from flipwise.bounds.parts import Allowance, Part


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


@pytest.mark.parametrize("large", [0, cycle_tree.LARGE])
@pytest.mark.parametrize("seed", range(12))
def test_the_minimum_is_found_and_proven(seed: int, large: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small weights with many ties, and weights of sixty bits whose values have no lattice to speak of; the root by
    interior points or by vertices."""
    pytest.importorskip("highspy")
    monkeypatch.setattr(cycle_tree, "LARGE", large)
    monkeypatch.setattr(cycle_tree, "BY_VERTICES", 0)
    part = part_of(9, seed, 0.3 + 0.05 * seed, [1, 7, 2**60][seed % 3])
    CycleTree(part, Allowance()).run()
    assert part.energy == least_energy(part) == part.bound


def test_interior_points_prove_what_vertices_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """A torus of 14 x 14 with weights -1 and 1: the same minimum, and no node but the root is needed."""
    pytest.importorskip("highspy")
    rng, n = np.random.default_rng(0), 14 * 14
    rows: dict[int, dict[int, int]] = {i: {} for i in range(n)}
    for i in range(n):
        for j in ((i + 14) % n, i // 14 * 14 + (i + 1) % 14):
            rows[i][j] = rows[j][i] = int(rng.choice([-1, 1]))
    found = []
    for large in (0, 10**9):
        monkeypatch.setattr(cycle_tree, "LARGE", large)
        part = Part.of(rows, list(range(n)))
        CycleTree(part, Allowance()).run()
        assert part.is_closed
        found.append((part.energy, part.nodes))
    assert found[0] == found[1] and found[0][1] == 1


def test_stopped_it_still_has_a_bound() -> None:
    """After a few looks at the clock the bound is one, and not above the best energy."""
    part = part_of(10, 1, 0.7, 5)
    left = iter([1.0] * 6)
    CycleTree(part, Allowance(lambda: next(left, 0.0))).run()
    assert part.bound is None or part.bound <= least_energy(part) <= part.energy
