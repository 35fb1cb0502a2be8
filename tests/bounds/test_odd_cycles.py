"""Odd cycles: rows hold at every cut, and what their multipliers prove is never less than a cut has."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from flipwise.bounds import odd_cycles
from flipwise.bounds.odd_cycles import CycleGraph, CycleProgramme
from flipwise.bounds.parts import Allowance


def _graph(seed: int, n: int = 8) -> tuple[CycleGraph, list[int]]:
    rng = np.random.default_rng(seed)
    pairs = np.array([(j, i) for i in range(n) for j in range(i) if rng.random() < 0.5])
    size = [3, 1000, 10**18][seed % 3]
    J = [int(w) for w in rng.integers(-size, size + 1, len(pairs))]
    return CycleGraph(n, pairs[:, 0], pairs[:, 1]), J


def _cuts(graph: CycleGraph) -> np.ndarray:
    s = np.array(list(product([0, 1], repeat=graph.n)))
    return (s[:, graph.first] != s[:, graph.second]).astype(int)


@pytest.mark.parametrize("with_highspy", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_rows_hold_and_bounds_are_bounds(seed: int, with_highspy: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Round after round, by either way to solve: every cut satisfies every row, and none has more than is proven."""
    if with_highspy:
        pytest.importorskip("highspy")
    else:
        monkeypatch.setattr(odd_cycles, "_has_highspy", lambda: False)
    graph, J = _graph(seed)
    cuts = _cuts(graph)
    most = max(sum(j for j, x in zip(J, cut, strict=True) if x) for cut in cuts.tolist())
    programme = CycleProgramme(J)
    proven = []
    for _ in range(30):
        assert programme.solve(Allowance())
        proven += [programme.most(), programme.refined_most()]
        rows = graph.violated(programme.x, np.arange(graph.n), 10**6)
        for row in rows:
            sides = np.array([2 * (mark & 1) - 1 for mark in row])
            assert ((cuts[:, [mark >> 1 for mark in row]] * sides).sum(axis=1) <= sum(m & 1 for m in row) - 1).all()
        if not rows:
            break
        programme.add(rows)
    assert min(proven) >= most
    programme.y = np.random.default_rng(seed).random(len(programme.rows)) * 3.0  # any multipliers prove something
    assert programme.most() >= most


def test_a_contradiction_is_proven() -> None:
    """Three edges of a triangle cannot all be cut, and that is told from time running out."""
    pytest.importorskip("highspy")
    programme = CycleProgramme([1, 1, 1])
    programme.add([(1, 3, 5)])
    programme.fix({0: 1, 1: 1, 2: 1})
    assert not programme.solve(Allowance()) and programme.is_empty()
    programme.fix({0: 1, 1: 1})
    assert programme.solve(Allowance()) and not programme.is_empty() and programme.most() == 2
