"""Branch and bound on semidefinite bounds: the minimum of brute force for all weights, and a bound when stopped."""

from __future__ import annotations

import numpy as np
import pytest

from flipwise.bounds import hypermetric_tree
from flipwise.bounds.hypermetric_tree import Contracted, HypermetricTree
from flipwise.bounds.parts import Allowance
from tests.bounds.test_cycle_tree import least_energy, part_of


@pytest.mark.parametrize("seed", range(9))
def test_the_minimum_is_found_and_proven(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small weights, large ones, and ones of sixty bits, down to enumerated nodes of a few spins."""
    monkeypatch.setattr(hypermetric_tree, "ENUMERATED", 4)
    part = part_of(10, seed, 0.8, [1, 50, 2**60][seed % 3])
    HypermetricTree(part, Allowance()).run()
    assert part.energy == least_energy(part) == part.bound


def test_stopped_it_still_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a few looks at the clock the bound is below the minimum, and what was found above it."""
    monkeypatch.setattr(hypermetric_tree, "ENUMERATED", 2)
    part = part_of(11, 5, 1.0, 2**50)
    left = iter([1.0] * 5)
    HypermetricTree(part, Allowance(lambda: next(left, 0.0))).run()
    assert part.bound is None or part.bound <= least_energy(part) <= part.energy


@pytest.mark.parametrize("sign", [1, -1])
def test_contracted_energies_are_those_of_the_whole(sign: int) -> None:
    """Two contractions after each other, at every point that is left."""
    part = part_of(6, 0, 1.0, 9)
    at = Contracted(part.matrix(), 0, np.arange(6), np.ones(6, dtype=np.int64)).child(4, 1, sign).child(2, 0, -sign)
    for code in range(16):
        t = np.where(np.arange(4) & code == 0, 1, -1).astype(np.int8)
        t = np.array([1 if code >> k & 1 else -1 for k in range(4)], dtype=np.int8)
        energy = at.constant + sum(at.J[i, j] * int(t[i]) * int(t[j]) for i in range(4) for j in range(i))
        s = at.spins(t)
        assert energy == part.energy_at(s) and s[4] == sign * s[1] and s[2] == -sign * s[0]
