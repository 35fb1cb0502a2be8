"""Branch and cut on the odd-cycle relaxation, for parts with few couplings a spin."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

from flipwise.bounds.journal import Journal
from flipwise.bounds.odd_cycles import DROPPED_EVERY, NEAR, CycleGraph, CycleProgramme
from flipwise.bounds.parts import Allowance, Node, Part, branch_and_bound
from flipwise.foundation.arrays import Floats, Signs

STALLED = 8
"""Rounds without an improvement worth the name after which a node is split."""
PROGRESS = 0.02
"""An improvement worth the name, as a share of the gap."""
INTEGRAL = 1e-6
LARGE, BY_VERTICES = 1000, 4
"""Edges from which the root is cut at interior points, after some rounds in which rows are so few that these would be
far from all of them; the last rounds of the root, and all nodes below it, are by vertices."""
SEPARATION_WORK = 5e-8
"""What a state of the shortest paths takes (see `Allowance`)."""


@dataclass(eq=False)
class CycleTree:
    """The relaxation of one part, whose rows hold in every node."""

    part: Part
    allowed: Allowance

    def __post_init__(self) -> None:
        part = self.part
        self.graph = CycleGraph(part.n, part.first, part.second)
        self.programme = CycleProgramme(part.J)
        self.total = sum(part.J)
        self.rounds = 0
        self.journal = Journal()
        part.journals.append(self.journal)

    def run(self) -> None:
        """Prove the part, or as much as there is time for."""
        lowest = self.part.lift(-sum(map(abs, self.part.J)))
        self.journal.note(0, lowest, {"shift": 0, "rows": []}, 0)
        root = Node(lowest if self.part.bound is None else max(self.part.bound, lowest), 0, {})
        branch_and_bound(self.part, self.evaluate, root, lambda: self.allowed.is_over, self.journal)

    def evaluate(self, node: Node) -> tuple[int, list[Node]]:
        """Cut until the node is done with, or until it is time to split it."""
        programme, part = self.programme, self.part
        programme.fix(node.decided)
        bound, idle, last = node.bound, 0, float("inf")
        is_root = not node.decided
        by_vertices = BY_VERTICES if is_root and len(part.J) >= LARGE else math.inf
        while True:
            if self.allowed.is_over:
                return bound, []
            interior = self.rounds >= by_vertices
            if not programme.solve(self.allowed, interior=interior):
                if not programme.is_empty():
                    return bound, []
                self._keep_multipliers(node, part.energy, empty=True)
                return part.energy, []
            proven = part.lift(self.total - 2 * programme.most())
            self._keep_multipliers(node, proven)
            bound = max(bound, proven)
            if is_root:
                part.raise_bound(min(bound, part.energy))
            part.offer(self._rounded_spins(programme.x))
            if bound >= part.energy:
                return bound, []
            value = float(programme.w @ programme.x)
            gap = max(value - float((self.total - part.energy) / (2 * programme.unit)), 1e-12)
            idle = 0 if last - value > PROGRESS * gap else idle + 1
            last = min(last, value)
            rows = self._violated_cycles(full=idle <= STALLED or is_root)
            if rows and (idle <= STALLED or (is_root and idle <= 4 * STALLED)):
                self.rounds += 1
                if self.rounds % DROPPED_EVERY == 0:
                    programme.drop_idle()
                programme.add(rows)
                continue
            if interior:
                by_vertices, idle = math.inf, 0
                continue
            return self._branch(node, bound)

    def _branch(self, node: Node, bound: int) -> tuple[int, list[Node]]:
        """The two sides of a fractional edge; where x is a cut, more digits of the multipliers, or any edge."""
        part, programme = self.part, self.programme
        at = self._split_at(programme.x, node.decided)
        if at is None:
            proven = part.lift(self.total - 2 * programme.refined_most())
            self._keep_multipliers(node, proven)
            bound = max(bound, proven)
            if bound >= part.energy:
                return bound, []
            free = [e for e in range(len(part.J)) if e not in node.decided]
            at = max(free, key=lambda e: abs(part.J[e]), default=None)
            if at is None:  # every edge is decided: this is a point, or none
                return max(bound, part.energy), []
        i, j = int(part.first[at]), int(part.second[at])
        return bound, [Node(bound, 0, {**node.decided, at: value}, decision=(i, j, 1 - 2 * value)) for value in (0, 1)]

    def _keep_multipliers(self, node: Node, bound: int, *, empty: bool = False) -> None:
        """Keep the multipliers that have just proven a bound of a node."""
        if self.journal.wants(node.number, bound):
            rows = self.programme.proof()
            proof = {"shift": self.programme.multipliers[0], "rows": rows, **({"empty": True} if empty else {})}
            self.journal.note(node.number, bound, proof, sum(len(row) + 1 for row, _ in rows))

    def _violated_cycles(self, *, full: bool) -> list[tuple[int, ...]]:
        nodes = np.arange(self.part.n)
        self.allowed.spend(SEPARATION_WORK * self.part.n * min(NEAR, 2 * self.part.n))
        rows = self.graph.violated(self.programme.x, nodes, NEAR)
        return rows or (self.graph.violated(self.programme.x, nodes, 2 * self.part.n) if full else [])

    def _split_at(self, x: Floats, decided: dict[int, int]) -> int | None:
        """The edge to decide next: far from 0 and 1, and of a heavy coupling; None where x is a cut."""
        away = np.minimum(x, 1.0 - x)
        away[list(decided)] = 0.0
        if away.max(initial=0.0) <= INTEGRAL:
            return None
        return int(np.argmax(away * np.abs(self.programme.w) + away * 0.01))

    def _rounded_spins(self, x: Floats) -> Signs:
        """Spins by the edges of a spanning tree that are nearest to 0 or 1, then flips that improve."""
        part = self.part
        length = np.minimum(x, 1.0 - x) + 1e-3
        tree = minimum_spanning_tree(sp.csr_array((length, (part.first, part.second)), shape=(part.n, part.n)))
        order, before = breadth_first_order(tree, 0, directed=False)
        differs = sp.csr_array((np.where(x > 0.5, 2.0, 1.0), (part.first, part.second)), shape=(part.n, part.n))
        differs = sp.csr_array(differs + differs.T)
        s = np.ones(part.n)
        marks = np.asarray(differs[order[1:], before[order[1:]]]).reshape(-1)
        for i, mark in zip(order[1:].tolist(), marks.tolist(), strict=True):
            s[i] = -s[before[i]] if mark > 1.5 else s[before[i]]
        w = self.programme.w
        A = sp.csr_array((w, (part.first, part.second)), shape=(part.n, part.n))
        return descended(sp.csr_array(A + A.T), s)


def descended(A: sp.csr_array, s: Floats) -> Signs:
    """Spins after single flips that lower s'As, the best first, until none does (in float64)."""
    field = np.asarray(A @ s)
    for _ in range(20 * s.size):
        gain = s * field
        i = int(np.argmax(gain))
        if gain[i] <= 1e-12:
            break
        row = slice(A.indptr[i], A.indptr[i + 1])
        field[A.indices[row]] -= 2.0 * s[i] * A.data[row]
        s[i] = -s[i]
    return np.where(s > 0, 1, -1).astype(np.int8)
