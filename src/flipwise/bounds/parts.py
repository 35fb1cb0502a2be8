"""A connected part of what the presolve leaves: its couplings, its best spins, what is proven of their energy; and how
much its proof may take.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.bounds.journal import Decision, Journal
from flipwise.foundation.arrays import Ints, Signs


@dataclass(eq=False)
class Allowance:
    """What is left for a proof: the seconds of a time limit; where there is none, work, spent by those who do it.

    A proof that ended with the clock would prove another bound in every run, so without a limit it ends with its work.
    Work is stated in seconds of one core of the machine on which its costs were measured; elsewhere it is no more than
    a unit.

    Examples
    --------
    >>> allowed = Allowance(lambda: 10.0, work_left=2.0)
    >>> allowed.spend(2.5)
    >>> allowed.is_over
    True
    """

    seconds_left: Callable[[], float] = lambda: math.inf
    work_left: float = math.inf

    def spend(self, work: float) -> None:
        """Take off what was done."""
        self.work_left -= work

    @property
    def is_over(self) -> bool:
        """Whether to end at once."""
        return self.work_left <= 0.0 or self.seconds_left() <= 0.0


@dataclass(eq=False)
class Part:
    """E(s) = sum_{i<j} J_ij s_i s_j over the spins of `members`, of which the last may stay at +1."""

    members: list[int]
    first: Ints
    second: Ints
    J: list[int]
    best: Signs
    energy: int = 0
    bound: int | None = None
    """No point has less energy; None before anything is proven."""
    further: tuple[int, int] | None = None
    """(step, value): all energies also differ from this value by multiples of this step."""
    nodes: int = 0
    """Nodes of the branch and bound."""
    journals: list[Journal] = field(default_factory=list)
    """What each branch and bound has proven."""

    @classmethod
    def of(cls, rows: dict[int, dict[int, int]], members: list[int]) -> Part:
        place = {i: p for p, i in enumerate(members)}
        triples = [(place[i], place[j], w) for i in members for j, w in rows[i].items() if place[i] < place[j]]
        first, second = (np.array([t[k] for t in triples], dtype=np.int64) for k in (0, 1))
        part = cls(members, first, second, [t[2] for t in triples], np.ones(len(members), dtype=np.int8))
        part.energy = part.energy_at(part.best)
        part._step, part._value = part._own_lattice(), part.energy
        return part

    _step: int = field(default=0, init=False)
    _value: int = field(default=0, init=False)

    @property
    def n(self) -> int:
        return len(self.members)

    @property
    def is_closed(self) -> bool:
        """Whether the best spins are proven to be a minimum."""
        return self.bound is not None and self.bound >= self.energy

    def energy_at(self, s: Signs) -> int:
        same = (s[self.first] == s[self.second]).tolist()
        return sum(w if equal else -w for w, equal in zip(self.J, same, strict=True))

    def offer(self, s: Signs) -> bool:
        """Keep these spins if they are better than the best; says whether they are."""
        energy = self.energy_at(s)
        if energy >= self.energy:
            return False
        self.best, self.energy = s.astype(np.int8), energy
        return True

    def lift(self, bound: int) -> int:
        """The least energy, by the lattices of energies, that is not below `bound`."""
        for step, value in ((self._step, self._value), self.further or (0, 0)):
            if step:
                bound = value - (value - bound) // step * step
        return bound

    def raise_bound(self, bound: int) -> None:
        self.bound = bound if self.bound is None else max(self.bound, bound)

    def matrix(self) -> npt.NDArray[np.object_]:
        """J, symmetric."""
        J = np.zeros((self.n, self.n), dtype=object)
        for i, j, w in zip(self.first.tolist(), self.second.tolist(), self.J, strict=True):
            J[i, j] = J[j, i] = w
        return J

    def _own_lattice(self) -> int:
        sums = [0] * self.n
        divisor = 0
        for i, j, w in zip(self.first.tolist(), self.second.tolist(), self.J, strict=True):
            sums[i] += w
            sums[j] += w
            divisor = math.gcd(divisor, 2 * w)
        return 2 * math.gcd(divisor, *sums)


@dataclass(order=True)
class Node:
    """A part of the tree: what no point in it is below, and what is decided there."""

    bound: int
    number: int
    decided: Any = field(compare=False)
    memory: Any = field(compare=False, default=None)
    """What its children begin with."""
    decision: Decision = field(compare=False, default=(0, 0, 0))
    """What it has decided beside its parent."""


def branch_and_bound(
    part: Part,
    evaluate: Callable[[Node], tuple[int, list[Node]]],
    root: Node,
    stop: Callable[[], bool],
    journal: Journal,
) -> None:
    """The node with the least bound first: `evaluate` says what it proves of a node, and its children.

    A node without children is done with: its bound is at least the energy of the best spins, or it was solved exactly.
    The bound of the part is the least of those that are open, so that it holds whenever it is stopped.
    """
    heap = [root]
    number = root.number
    while heap:
        if part.energy <= heap[0].bound:
            break
        if stop():
            return
        node = heapq.heappop(heap)
        part.nodes += 1
        bound, children = evaluate(node)
        bound = max(bound, node.bound)
        if not children and bound < part.energy:  # it was stopped
            heapq.heappush(heap, Node(bound, node.number, node.decided, node.memory, node.decision))
            part.raise_bound(heap[0].bound)
            return
        for child in children:
            number += 1
            child.number, child.bound = number, max(bound, child.bound)
            heapq.heappush(heap, child)
        if children:
            journal.split(node.number, [(child.number, child.decision) for child in children], part.bound or 0)
        part.raise_bound(min(heap[0].bound if heap else part.energy, part.energy))
    part.raise_bound(part.energy)
