"""Multilevel bisection with exact sizes, and its evolution.

A graph is coarsened by matchings, the coarsest graph is cut, and the cut is refined on the way back (see
`kernels.multilevel`). New members of the population come from scratch, or from two parents by coarsening only where
both agree, which keeps the better parent's cut through all levels: the child is never worse (Sanders, Schulz:
Distributed evolutionary graph partitioning, ALENEX 2012).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.arrays import Ints, Signs
from flipwise.kernels import multilevel as kernels

COARSEST = 80
"""Nodes of the coarsest graph."""
STARTS = 8
"""Cuts grown on the coarsest graph."""
BUCKETS = 1 << 16
"""The most buckets of a queue; gains that need more share buckets."""

Numbers = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Level:
    """A weighted graph on one level: CSR with edge weights, node sizes."""

    indptr: Ints
    indices: Ints
    w: Numbers
    sizes: Ints

    @property
    def n(self) -> int:
        """Number of nodes."""
        return self.sizes.size

    @cached_property
    def reach(self) -> float:
        """The largest weighted degree: no gain is larger."""
        total = np.concatenate([[0.0], np.cumsum(np.abs(self.w.astype(np.float64)))])
        return float((total[self.indptr[1:]] - total[self.indptr[:-1]]).max(initial=0.0))


def bisected(
    level: Level,
    goal: int,
    rng: np.random.Generator,
    parents: tuple[Signs, ...] = (),
) -> Signs:
    """A cut whose +1 side has `goal` nodes; with parents (the best first), one at least as good as the first."""
    classes = np.zeros(level.n, dtype=np.int64)
    for parent in parents:
        classes = 2 * classes + (parent > 0)
    start = parents[0] if parents else None
    levels: list[tuple[Level, Ints]] = []
    largest = max(1, int(1.5 * level.n / COARSEST))
    current = level
    while current.n > COARSEST:
        smaller, coarse = _coarser(current, classes, largest, rng)
        if smaller.n > 0.95 * current.n:
            break
        levels.append((current, coarse))
        first = np.zeros(smaller.n, dtype=np.int64)
        first[coarse] = np.arange(current.n)
        classes = classes[first]
        start = None if start is None else start[first]
        current = smaller
    s = _first_cut(current, goal, rng) if start is None else start.copy()
    s = refined(current, s, goal, rng)
    for finer, coarse in reversed(levels):
        s = refined(finer, s[coarse], goal, rng)
    s = exact(level, s, goal)
    # levels of large nodes cannot keep the sizes exactly, so what was won there may have to be given back at the end
    return parents[0].copy() if parents and cut_weight(level, parents[0]) < cut_weight(level, s) else s


def exact(level: Level, s: Signs, goal: int) -> Signs:
    """`s` with exactly `goal` nodes at +1, the best ones moved where it has not."""
    s = s.copy()
    gain = np.empty(level.n, dtype=level.w.dtype)
    while (off := int(np.count_nonzero(s > 0)) - goal) != 0:
        kernels.csr_gains(level.indptr, level.indices, level.w, s, gain)
        movable = np.flatnonzero((s > 0) == (off > 0))
        moved = movable[np.argsort(-gain[movable], kind="stable")[: (abs(off) + 1) // 2]]
        s[moved] *= -1
    return s


def _coarser(level: Level, classes: Ints, largest: int, rng: np.random.Generator) -> tuple[Level, Ints]:
    partner = np.empty(level.n, dtype=np.int64)
    order = rng.permutation(level.n)
    count = kernels.csr_heavy_matching(
        level.indptr, level.indices, level.w, level.sizes, largest, order, classes, partner
    )
    coarse = np.full(level.n, -1, dtype=np.int64)
    indptr = np.empty(count + 1, dtype=np.int64)
    indices = np.empty(level.indices.size, dtype=level.indices.dtype)
    w = np.empty_like(level.w)
    sizes = np.empty(count, dtype=np.int64)
    place = np.full(count, -1, dtype=np.int64)
    arcs = kernels.csr_contract(
        level.indptr, level.indices, level.w, level.sizes, partner, coarse, place, indptr, indices, w, sizes
    )
    return Level(indptr, indices[:arcs].copy(), w[:arcs].copy(), sizes), coarse


def _first_cut(level: Level, goal: int, rng: np.random.Generator) -> Signs:
    best: Signs | None = None
    least = np.inf
    for _ in range(STARTS):
        s = np.empty(level.n, dtype=np.int8)
        queue = np.empty(level.n, dtype=np.int64)
        kernels.csr_grow(level.indptr, level.indices, level.sizes, goal, rng.permutation(level.n), s, queue)
        s = refined(level, s, goal, rng)
        off = abs(int(level.sizes[s > 0].sum()) - goal)
        cut = cut_weight(level, s) + 1e-3 * off * level.reach
        if cut < least:
            best, least = s, cut
    assert best is not None
    return best


def refined(level: Level, s: Signs, goal: int, rng: np.random.Generator, passes: int = 12) -> Signs:
    """Passes of refinement until two in a row bring nothing."""
    n = level.n
    s = np.ascontiguousarray(s, dtype=np.int8)
    gain = np.empty(n, dtype=level.w.dtype)
    kernels.csr_gains(level.indptr, level.indices, level.w, s, gain)
    reach = level.reach
    whole = np.issubdtype(level.w.dtype, np.integer)
    steps = 1.0 if whole and 2 * reach + 2 <= BUCKETS else (BUCKETS - 2) / max(2.0 * reach, 1e-300)
    buckets = int(2 * reach * steps) + 2
    heaviest = int(level.sizes.max())
    tolerance = 0 if heaviest == 1 else heaviest
    off = int(level.sizes[s > 0].sum()) - goal
    patience = max(100, min(n, 300 + n // 50))
    quiet = 0
    for turn in range(passes):
        slack = int(heaviest * (1 + rng.integers(0, 8))) if turn % 2 else max(1, heaviest)
        scratch = (
            np.full((2, buckets), -1, dtype=np.int64),
            np.empty(n, dtype=np.int64),
            np.empty(n, dtype=np.int64),
            np.full(n, -1, dtype=np.int64),
            np.zeros(n, dtype=np.bool_),
            np.empty(n, dtype=np.int64),
        )
        before = off
        fixed = (level.indptr, level.indices, level.w, level.sizes, reach, steps)
        decrease, off = kernels.csr_pass(
            *fixed, off, tolerance, slack, patience, int(rng.integers(n)), s, gain, *scratch
        )
        quiet = 0 if decrease > 0 or abs(off) < abs(before) else quiet + 1
        if quiet == 2:
            break
    return s


def cut_weight(level: Level, s: Signs) -> float:
    """The weight of the edges between the sides."""
    gain = np.empty(level.n, dtype=level.w.dtype)
    return float(kernels.csr_gains(level.indptr, level.indices, level.w, s, gain)) / 2.0
