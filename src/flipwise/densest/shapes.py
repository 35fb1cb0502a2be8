"""The block of the largest density w(S, T) / sqrt(|S| |T|) of all sizes, with a proof (Kannan and Vinay 1999).

For a shape c = i / j, what a block weighs for its price,
    g_c(S, T) = 2 w(S, T) sqrt(i j) / (j |S| + i |T|),
is at most its density, and equal to it where |S| / |T| = c: the price is an arithmetic mean, the density has the
geometric one. With u = log c and u' = log(|S| / |T|) it is the density divided by cosh((u - u') / 2), exactly. The
largest g_c of all blocks is a ratio of whole numbers, found and proven by maximum flows (`densest.flow`). So one such
number, g, proves for every other shape u' that no block of it is denser than g cosh((u - u') / 2).

Shapes are tried until none is left that could have a denser block than the best known. Of small matrices all pairs of
sizes are kept, with weights as whole numbers: the end is a proof of optimality. Of large ones the shapes fall into
cells. What their width leaves open is less than one in a million; where it is few pairs of sizes, these are kept one by
one at the end. Where a shape cannot have anything
denser, mostly no flow is needed: rows and columns whose ties are worth less than their price fall away until none is
left (the [x, y]-core of Ma, Fang, Cheng, Lakshmanan, Zhang and Lin 2020).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from flipwise.densest.flow import BITS, Units, best_ratio, in_units
from flipwise.densest.twosided import Block, BlockObjective, TwoSided
from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Bools, Floats, Ints
from flipwise.kernels import orientation as kernels
from flipwise.model.problem import Problem

MOST_SIZES = 10_000
"""Pairs of sizes that are kept one by one."""
FINEST = 4096
"""Shapes are ratios of whole numbers up to this, or up to the shape itself."""
MOST_CELLS, MOST_PAIRS = 8, 4_000_000
"""At the end, cells and pairs of sizes that are looked at for those few."""
CELL = 0.0025
"""Half the width of a cell, in the logarithm of the shape."""
REACH = 0.5
"""How far from a shape, in logarithms, its proof should reach where nothing dense is near: less is looked at then."""
_UP = 1.0 + 1e-12


@dataclass(frozen=True)
class DensestShape:
    """The densest block of any size, on `Problem(BlockObjective(sides, True), NonemptyBlocks(rows))`."""

    name: ClassVar[str] = "flow"
    begins_itself: ClassVar[bool] = True

    def solve(self, problem: Problem, x: Floats | None, rng: np.random.Generator, run: Run) -> Status:
        """Find it and prove it; the start `x` is not used."""
        objective = problem.objective
        assert isinstance(objective, BlockObjective)
        sides = objective.sides
        search = ShapeSearch(sides, run)
        stop = search.offer(search.best)
        while stop is None:
            shape = search.next_shape()
            if shape is None and search.keep_sizes():
                shape = search.next_shape()
            if shape is None:
                break
            stop = search.look_at(*shape) or run.check_time()
        run.raise_bound(-search.bound)
        return stop or (Status.OPTIMAL if search.bound == search.best.density else Status.LOCAL_OPTIMUM)


@dataclass(eq=False)
class ShapeSearch:
    """What is known about every shape, and the densest block so far."""

    sides: TwoSided
    run: Run
    best: Block = field(init=False)
    tried: dict[tuple[int, int], float] = field(default_factory=dict)
    """The shapes that were looked at, and what no block is worth more than at their prices."""

    def __post_init__(self) -> None:
        sides = self.sides
        self.best = sides.block(np.array([0, sides.rows]))
        self.units: Units = in_units(sides.graph)
        self.sizes = sides.rows * sides.columns <= MOST_SIZES and self.units.exact
        if self.sizes:
            s, t = np.divmod(np.arange(sides.rows * sides.columns), sides.columns)
            self.s, self.t = s + 1, t + 1
            self.shapes, self.half = np.log(self.s / self.t), 0.0
        else:
            low, high = -math.log(sides.columns), math.log(sides.rows)
            count = max(1, math.ceil((high - low) / (2 * CELL)))
            self.half = (high - low) / (2 * count)
            self.shapes = low + self.half * (2 * np.arange(count) + 1)
        self.most = self._first_bounds()
        self.seen = np.zeros(self.shapes.size, dtype=bool)

    def _first_bounds(self) -> Floats:
        """What the heaviest row and column allow: w <= |S| r and w <= |T| c, and no entry is above the largest."""
        sides = self.sides
        row = float(sides.degrees[: sides.rows].max(initial=0))
        column = float(sides.degrees[sides.rows :].max(initial=0))
        root = np.exp(self.shapes / 2)
        wide = math.exp(self.half / 2) * _UP
        bounds: Floats = np.minimum(row * root, column / root) * wide
        return bounds

    @property
    def density(self) -> float:
        """Of the best block."""
        return self.best.density

    @property
    def bound(self) -> float:
        """What no block exceeds."""
        left = self.open
        return max(self.density, float(self._rounded_bounds()[left].max())) if left.any() else self.density

    @property
    def open(self) -> Bools:
        """The shapes that may have a denser block."""
        if not self.sizes:
            left: Bools = self.most > self.density * (1.0 + 1e-15)
            return left
        weight = self._weight_bounds()
        roots = np.sqrt(self.s * self.t)
        own = self.best.weight / self.units.unit
        size = math.sqrt(self.best.rows.size * self.best.columns.size)
        left = weight * size > own * roots * (1.0 + 1e-9)
        near = ~left & (weight * size > own * roots * (1.0 - 1e-9))
        if near.any():  # in whole numbers
            squared = round(own) ** 2, self.best.rows.size * self.best.columns.size
            for at in np.flatnonzero(near).tolist():
                left[at] = int(weight[at]) ** 2 * squared[1] > squared[0] * int(self.s[at]) * int(self.t[at])
        return left

    def _weight_bounds(self) -> Floats:
        """The most whole units that a block of each pair of sizes can weigh."""
        weights: Floats = np.floor(self.most * np.sqrt(self.s * self.t) / self.units.unit * _UP)
        return weights

    def _rounded_bounds(self) -> Floats:
        """The bounds on the density, for whole numbers of units where sizes are kept one by one."""
        if not self.sizes:
            return self.most
        rounded: Floats = np.minimum(
            self.most, self._weight_bounds() * self.units.unit / np.sqrt(self.s * self.t) * _UP
        )
        return rounded

    def next_shape(self) -> tuple[int, int] | None:
        """That of the best block, then the one that leaves most open; None when nothing is to be gained."""
        left = self.open & ~self.seen
        if not left.any():
            return None
        own = math.gcd(self.best.rows.size, self.best.columns.size)
        shape = self.best.rows.size // own, self.best.columns.size // own
        if not self.tried:
            shape = 1, 1
        elif shape in self.tried or max(shape) > FINEST:
            at = int(np.argmax(np.where(left, self.most, -1.0)))
            self.seen[at] = True
            shape = self._as_ratio(at)
        return shape

    def _as_ratio(self, at: int) -> tuple[int, int]:
        """A shape as a ratio of whole numbers."""
        if self.sizes:
            common = math.gcd(int(self.s[at]), int(self.t[at]))
            return int(self.s[at]) // common, int(self.t[at]) // common
        c = math.exp(abs(float(self.shapes[at])))
        j = max(1, int(FINEST / c))
        ratio = max(1, round(c * j)), j
        return ratio if self.shapes[at] >= 0.0 else ratio[::-1]

    def look_at(self, i: int, j: int) -> Status | None:
        """Find the best block for the prices of the shape i / j, and note what that proves; a status means: stop."""
        sides, floor = self.sides, self.density / math.cosh(REACH / 2)
        units, scale = self._priced_matrix(i, j)
        kept = worth_their_price(units, floor / scale * (1.0 - 1e-9))
        if not kept.size:
            self._note_bound(i, j, floor)
            return None
        inner = units.among(kept)
        if float(inner.degrees().sum()) * float(inner.price.sum()) >= 2.0**BITS:
            self._note_bound(i, j, math.inf)  # beyond whole numbers of 64 bits: nothing is proven here
            return None
        found = best_ratio(inner, stop=self.run.check_time, largest=False)
        self._note_bound(i, j, max(floor, scale * found.most * _UP))
        nodes = kept[found.nodes]
        rows, columns = sides.split(nodes)
        return self.offer(sides.block(nodes)) if rows.size and columns.size else self.run.check_time()

    def _priced_matrix(self, i: int, j: int) -> tuple[Units, float]:
        """The matrix at the prices of a shape, and the density that a ratio of 1 stands for."""
        price = np.full(self.sides.n, i, dtype=np.int64)
        price[: self.sides.rows] = j
        return replace(self.units, price=price), 2.0 * math.sqrt(i * j) * self.units.unit

    def keep_sizes(self) -> bool:
        """Go on with the pairs of sizes that the open cells leave; whether that is possible and was not done before."""
        if self.sizes or not self.units.exact:
            return False
        cells = np.flatnonzero(self.open)
        found = [] if cells.size > MOST_CELLS else [self._sizes_in(at) for at in cells.tolist()]
        if not found or any(pairs is None for pairs in found):
            return False
        s, t = (np.concatenate([pairs[side] for pairs in found if pairs is not None]) for side in (0, 1))
        if s.size > MOST_SIZES:
            return False
        self.sizes, self.s, self.t, self.half = True, s, t, 0.0
        self.shapes, self.seen = np.log(s / t), np.zeros(s.size, dtype=bool)
        self.most = np.full(s.size, np.inf)
        for (i, j), most in self.tried.items():
            self._lower_all(i, j, most)
        return True

    def _sizes_in(self, at: int) -> tuple[Ints, Ints] | None:
        """The pairs of sizes of a cell that a denser block can have; None where these are too many to look at."""
        i, j = self._as_ratio(at)
        away = abs(math.log(i / j) - float(self.shapes[at])) + self.half
        units, scale = self._priced_matrix(i, j)
        kept = worth_their_price(units, self.density / math.cosh(away / 2) / scale * (1.0 - 1e-9))
        rows, columns = (side.size for side in self.sides.split(kept))
        if rows * columns > MOST_PAIRS:
            return None
        s, t = (side.ravel() + 1 for side in np.divmod(np.arange(rows * columns), max(columns, 1)))
        inside = np.abs(np.log(s / t) - self.shapes[at]) <= self.half * (1.0 + 1e-9)
        return s[inside], t[inside]

    def _note_bound(self, i: int, j: int, most: float) -> None:
        """No block is worth more than `most` at the prices of this shape."""
        self.tried[i, j] = most
        self._lower_all(i, j, most)

    def _lower_all(self, i: int, j: int, most: float) -> None:
        """What that says of every shape."""
        away = np.abs(self.shapes - math.log(i / j)) + self.half
        np.minimum(self.most, most * np.cosh(away / 2) * _UP, out=self.most)

    def offer(self, block: Block) -> Status | None:
        """Tell the run of a block; a status means: stop."""
        if block.density > self.density:
            self.best = block
        self.run.count_evaluation()
        return self.run.step(self.sides.point(block), -block.density)


def worth_their_price(units: Units, least: float) -> Ints:
    """The nodes that are left when all go whose ties are worth less than so much for their price."""
    graph, wanted = units.graph, max(least, 1e-300) * units.price
    degrees = units.degrees()
    kept = np.flatnonzero(degrees >= wanted)
    if 2 * kept.size < graph.n:  # most go at once: what they were tied to is added up anew, not taken away one by one
        return kept[worth_their_price(units.among(kept), least)] if kept.size else kept
    alive, queue = np.ones(graph.n, np.uint8), np.empty(graph.n, np.int64)
    kernels.fall_below(graph.indptr, graph.indices, units.weights, alive, degrees, wanted, queue)
    return np.flatnonzero(alive)
