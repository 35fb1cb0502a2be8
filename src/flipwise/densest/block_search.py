"""The heaviest block of a rows and b columns: from either side the best other side, again and again.

For some rows the best columns are the b that these rows tie most, and for these the best rows likewise: the weight
never falls, and mostly stands after a few turns. That begins from the most loaded rows and columns of the load bound,
from the best block of the shape a : b, from heavy and leading ones, from single heavy columns and rows, and at random.
Then a few rows, or columns, of a good block are exchanged, and it goes on from there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from flipwise.densest.block_bounds import LoadBound, best_of_all_blocks, lattice, rounding, simple_block_bounds
from flipwise.densest.flow import BITS, best_ratio, in_units
from flipwise.densest.shapes import worth_their_price
from flipwise.densest.twosided import Block, BlockObjective, TwoSided
from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats, Ints, largest
from flipwise.model.problem import Problem

KICKS = 300
"""Exchanges of a part of a block, at effort 1, on small graphs, ..."""
WORK = 2e8
"""... and at most as many as look at so many nodes."""
SEEDS = 8
"""Single rows and columns that are begun from."""
TURNS = 100
"""Turns from side to side of one ascent."""
STALE = 40
"""Exchanges without an improvement after which the walk goes back to the best block."""


@dataclass(frozen=True)
class BlockSearch:
    """The search for a rows and b columns, on `Problem(BlockObjective(sides, False), GroupCounts(...))`."""

    a: int
    b: int
    effort: float = 1.0
    prove: bool = True
    start: Ints | None = None
    known: dict[str, float] = field(default_factory=dict)
    """Receives the bounds on the weight."""
    name: ClassVar[str] = "dpcd"
    begins_itself: ClassVar[bool] = True

    def solve(self, problem: Problem, x: Floats | None, rng: np.random.Generator, run: Run) -> Status:
        """Search, and prove what can be proven; the start `x` is not used."""
        objective = problem.objective
        assert isinstance(objective, BlockObjective)
        walk = _BlockWalk(objective.sides, self.a, self.b, run)
        stop = walk.begin(self.start)
        bound = LoadBound(walk.sides, self.a, self.b) if self.prove else None
        if bound is not None:
            stop = stop or self._note_bounds(walk, bound)
        for nodes in () if stop is not None else walk.starts(None if bound is None else bound.loads, rng):
            stop = walk.ascend(nodes)
            if stop is not None:
                break
        rounds = int(self.effort * min(KICKS, 1 + WORK / (20 * walk.sides.n)))
        stop = stop or walk.exchange(rounds, rng)
        if stop is not None:
            return stop
        return Status.OPTIMAL if run.is_proven else Status.EFFORT

    def _note_bounds(self, walk: _BlockWalk, bound: LoadBound) -> Status | None:
        """Note the bounds; a status means: stop."""
        sides, run = walk.sides, walk.run
        for name, most in simple_block_bounds(sides, self.a, self.b).items():
            self.known[name] = lattice(most, sides.unit)
        exact = best_of_all_blocks(sides, self.a, self.b)
        if exact is not None:
            self.known["exact"] = exact.weight + rounding(sides, self.a, self.b)
            run.raise_bound(-self.known["exact"])
            return walk.offer(exact) or (Status.OPTIMAL if sides.unit else Status.LOCAL_OPTIMUM)
        self.known["loads"] = lattice(bound.prove(walk.best.weight, run.check_time), sides.unit)
        run.raise_bound(-min(self.known.values()))
        return run.check_time()


@dataclass(eq=False)
class _BlockWalk:
    """The best block so far, and the way on from it."""

    sides: TwoSided
    a: int
    b: int
    run: Run
    best: Block = field(init=False)
    block: Block = field(init=False)

    def begin(self, start: Ints | None) -> Status | None:
        """The heaviest rows and columns, and what the user names."""
        degrees = np.asarray(self.sides.degrees, dtype=np.float64)
        self.best = self.block = self._largest_scores(degrees)
        stop = self.offer(self.best) or self.ascend(self.best.rows)
        if stop is None and start is not None:
            rows, columns = self.sides.split(start)
            stop = self.ascend(rows) if rows.size else None
            stop = stop or (self.ascend(columns + self.sides.rows) if columns.size else None)
        for nodes in () if stop is not None else self._of_the_shape():
            stop = stop or self.ascend(nodes)
        return stop

    def _of_the_shape(self) -> Iterator[Ints]:
        """The rows, and the columns, of the densest block of any size at the prices of this shape."""
        sides = self.sides
        if sides.weight_range[0] < 0.0:
            return
        price = np.full(sides.n, max(1, round(32 * self.a / max(self.a, self.b))), dtype=np.int64)
        price[: sides.rows] = max(1, round(32 * self.b / max(self.a, self.b)))
        units = replace(in_units(sides.graph, bits=BITS - 8), price=price)
        worth = self.best.weight / units.unit / (price[0] * self.a + price[-1] * self.b)
        kept = worth_their_price(units, 0.99 * worth)
        if kept.size:
            rows, columns = sides.split(kept[best_ratio(units.among(kept), stop=self.run.check_time).nodes])
            yield from (rows, columns + sides.rows) if rows.size and columns.size else ()

    def _largest_scores(self, scores: Floats) -> Block:
        """The rows and the columns of the largest scores."""
        rows = largest(scores[: self.sides.rows], self.a)
        return self.sides.block(np.concatenate([rows, largest(scores[self.sides.rows :], self.b) + self.sides.rows]))

    def offer(self, block: Block) -> Status | None:
        """Tell the run of a block; a status means: stop."""
        if block.weight > self.best.weight:
            self.best = block
        self.run.count_evaluation()
        return self.run.step(self.sides.point(block), -block.weight)

    def ascend(self, nodes: Ints) -> Status | None:
        """From some rows, or some columns, to a block that neither side improves; a status means: stop."""
        sides, weight = self.sides, -np.inf
        for _ in range(TURNS):
            scores = sides.scores(nodes)
            if nodes[0] < sides.rows:  # nodes are rows: the best columns, then the best rows for them
                columns = largest(scores[sides.rows :], self.b)
                scores = sides.scores(columns + sides.rows)
                rows = nodes = largest(scores[: sides.rows], self.a)
                now = float(scores[rows].sum())
            else:
                rows = largest(scores[: sides.rows], self.a)
                scores = sides.scores(rows)
                columns = largest(scores[sides.rows :], self.b)
                nodes = columns + sides.rows
                now = float(scores[nodes].sum())
            if now <= weight * (1.0 + 1e-12) if weight > 0 else now <= weight:
                break
            weight = now
        self.block = sides.block(np.concatenate([rows, columns + sides.rows]))
        return self.offer(self.block)

    def starts(self, loads: Floats | None, rng: np.random.Generator) -> Iterator[Ints]:
        """Rows or columns to begin from."""
        sides = self.sides
        if loads is not None and loads.any():
            yield largest(loads[: sides.rows], self.a)
            yield largest(loads[sides.rows :], self.b) + sides.rows
        x = np.ones(sides.n)
        for _ in range(8):  # the leading pair of singular vectors, about
            x = x / max(float(np.abs(x).max()), 1e-300) + sides.graph.to_scipy() @ x
        yield largest(x[: sides.rows], self.a)
        first = np.asarray(sides.degrees if loads is None or not loads.any() else loads, dtype=np.float64)
        for low, high in ((0, sides.rows), (sides.rows, sides.n)):
            for seed in np.argsort(-first[low:high], kind="stable")[:SEEDS]:
                yield np.array([low + int(seed)])
        yield np.sort(rng.choice(sides.rows, self.a, replace=False))

    def exchange(self, rounds: int, rng: np.random.Generator) -> Status | None:
        """Exchange a part of the rows, or of the columns, and ascend from there."""
        sides, current, since = self.sides, self.best, 0
        for _ in range(rounds):
            on_rows = bool(rng.integers(2))
            own = current.rows if on_rows else current.columns + sides.rows
            across = current.columns + sides.rows if on_rows else current.rows
            first, last = (0, sides.rows) if on_rows else (sides.rows, sides.n)
            scores = sides.scores(across)[first:last]
            scores[own - first] = -np.inf
            near = largest(scores, min(2 * own.size + 8, scores.size)) + first
            near = near[~np.isin(near, own)]
            count = int(rng.integers(1, 2 + own.size // 2))
            count = min(count, near.size, own.size)
            if not count:
                continue
            kept = rng.choice(own, own.size - count, replace=False)
            nodes = np.sort(np.concatenate([kept, rng.choice(near, count, replace=False)]))
            stop = self.ascend(nodes)
            if stop is not None:
                return stop
            since = 0 if self.block.weight > current.weight else since + 1
            if self.block.weight >= current.weight:
                current = self.block
            if since > STALE:
                current, since = self.best, 0
        return None
