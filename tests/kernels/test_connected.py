"""Connected sets: pieces, growing, shedding and moves against networkx, in both tiers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from flipwise.kernels import connected as kernels
from flipwise.kernels.jit import Kernel
from tests.kernels.tiers import BOTH

pytestmark = pytest.mark.kernels
Tier = Callable[[Kernel], Callable[..., Any]]
N = 14


class Case:
    """A random graph and a connected set in it, with the arrays that the kernels keep."""

    def __init__(self, seed: int, size: int) -> None:
        rng = np.random.default_rng(seed)
        while True:
            W = np.triu(rng.integers(1, 4, (N, N)) * (rng.random((N, N)) < 0.25), 1).astype(float)
            self.W, self.graph = W + W.T, nx.from_numpy_array(W + W.T)
            if nx.is_connected(self.graph):
                break
        csr = sp.csr_array(self.W)
        self.csr = csr.indptr.astype(np.int64), csr.indices.astype(np.int64), csr.data
        self.bonus = rng.integers(0, 3, N).astype(float)
        self.inside = np.zeros(N, np.uint8)
        self.inside[list(nx.bfs_tree(self.graph, int(rng.integers(N))))[:size]] = 1
        self.noise, self.pinned = np.zeros(N), np.zeros(N, np.uint8)
        self.pinned[np.flatnonzero(self.inside)[0]] = 1
        self.degrees, self.ties = self.counted()

    def counted(self) -> tuple[np.ndarray, np.ndarray]:
        """Degrees and ties of all nodes, from the definition."""
        return self.W @ self.inside + self.bonus, (self.W > 0).astype(np.int64) @ self.inside.astype(np.int64)

    @property
    def weight(self) -> float:
        """What the set weighs."""
        return float(self.inside @ self.W @ self.inside / 2 + self.bonus @ self.inside)

    @property
    def members(self) -> list[int]:
        """The set."""
        return [int(i) for i in np.flatnonzero(self.inside)]

    def check(self) -> None:
        """The set is whole, holds what is pinned, and the arrays are true."""
        assert nx.is_connected(self.graph.subgraph(self.members)) and np.all(self.inside >= self.pinned)
        for kept, true in zip((self.degrees, self.ties), self.counted(), strict=True):
            assert np.array_equal(kept, true)

    def removable(self) -> list[int]:
        """The members that may leave."""
        cuts = set(nx.articulation_points(self.graph.subgraph(self.members)))
        return [i for i in self.members if i not in cuts and not self.pinned[i]]


def work() -> list[np.ndarray]:
    """The work arrays of the search for members that hold a set together."""
    return [np.zeros(N, np.int64) for _ in range(5)] + [np.zeros(N, np.uint8)]


@BOTH
@pytest.mark.parametrize("seed", range(4))
def test_sets_grow_and_shed_by_their_degrees(seed: int, tier: Tier) -> None:
    case = Case(seed, 5)
    before = case.weight
    joined = [i for i in range(N) if not case.inside[i] and case.ties[i]]
    best = max(case.degrees[joined])
    change, added = tier(kernels.grow_connected)(*case.csr, case.noise, case.inside, case.degrees, case.ties, 1)
    case.check()
    assert added == 1 and change == best == case.weight - before
    change, added = tier(kernels.grow_connected)(*case.csr, case.noise, case.inside, case.degrees, case.ties, 99)
    case.check()
    assert added == N - 6 and case.weight == before + best + change
    while len(case.members) > 2:
        before, least = case.weight, min(case.degrees[case.removable()])
        arrays = case.noise, case.pinned, case.inside, case.degrees, case.ties
        change, removed = tier(kernels.shed_connected)(*case.csr, *arrays, 1, *work())
        case.check()
        assert removed == 1 and -change == least == before - case.weight


@BOTH
@pytest.mark.parametrize("seed", range(4))
def test_moves_end_where_none_improves(seed: int, tier: Tier) -> None:
    """The set stays in its bounds, gains density, and neither one node more, one less nor an exchange is denser."""
    case, least, most = Case(seed, 6), 4, 8
    before = case.weight / 6
    state = case.pinned, case.inside, case.degrees, case.ties, np.zeros(N), np.zeros(N, np.uint8)
    size, weight = tier(kernels.improve_connected)(*case.csr, *state, 6, case.weight, least, most, 1000, *work())
    case.check()
    assert size == len(case.members) and weight == case.weight and least <= size <= most
    assert weight / size >= before
    members = set(case.members)
    outside = [v for v in range(N) if v not in members]
    moves = [members - {u} for u in case.removable()] + [members | {v} for v in outside]
    moves += [(members - {u}) | {v} for u in case.removable() for v in outside]
    for moved in moves:
        whole = [*moved]
        if least <= len(whole) <= most and nx.is_connected(case.graph.subgraph(whole)):
            inner = case.W[np.ix_(whole, whole)].sum() / 2 + case.bonus[whole].sum()
            assert inner / len(whole) <= weight / size + 1e-12


@BOTH
@pytest.mark.parametrize("by_weight", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_best_piece_on_the_way(seed: int, by_weight: bool, tier: Tier) -> None:
    case, least, most = Case(seed, 1), 2, 9
    order = np.random.default_rng(seed).permutation(N)
    best = None
    for t in range(1, N + 1):
        for piece in nx.connected_components(case.graph.subgraph(order[:t].tolist())):
            S = [*piece]
            if least <= len(S) <= most and np.all(case.pinned[[i for i in range(N) if i not in piece]] == 0):
                weight = case.W[np.ix_(S, S)].sum() / 2 + case.bonus[S].sum()
                best = max(best or 0.0, weight if by_weight else weight / len(S))
    arrays = np.zeros(N, np.int64), np.zeros(N, np.int64), np.zeros(N), np.zeros(N, np.int64)
    at, node = tier(kernels.best_piece)(
        *case.csr, case.bonus, order, case.pinned.astype(np.int64), least, most, by_weight, *arrays
    )
    if best is None:
        assert (at, node) == (-1, -1)
        return
    S = [*nx.node_connected_component(case.graph.subgraph(order[:at].tolist()), node)]
    weight = case.W[np.ix_(S, S)].sum() / 2 + case.bonus[S].sum()
    assert (weight if by_weight else weight / len(S)) == pytest.approx(best)
