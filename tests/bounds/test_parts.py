"""Parts: energies, lattices, and the order of a branch and bound."""

from __future__ import annotations

import numpy as np

from flipwise.bounds.journal import Journal
from flipwise.bounds.parts import Node, Part, branch_and_bound


def triangle() -> Part:
    """Three spins that all want to differ."""
    return Part.of({0: {1: 1, 2: 1}, 1: {0: 1, 2: 1}, 2: {0: 1, 1: 1}}, [0, 1, 2])


def test_energies_and_lattices() -> None:
    """The triangle has the energies 3 and -1, so a bound of -3 is one of -1."""
    part = triangle()
    assert part.energy == 3 and part.offer(np.array([1, -1, 1])) and part.energy == -1
    assert not part.offer(np.array([1, 1, 1])) and part.lift(-3) == -1 == part.lift(-4)
    part.further = (12, 3)
    assert part.lift(-3) == 3


def test_the_least_bound_comes_first_and_stopping_keeps_it() -> None:
    """A tree of two levels: the bound of the part is the least of the open nodes at every moment."""
    part = triangle()
    seen: list[int] = []

    def evaluate(node: Node) -> tuple[int, list[Node]]:
        seen.append(node.decided)
        if node.decided == 0:
            return -9, [Node(-5, 0, 1), Node(-7, 0, 2)]
        return part.energy, []

    branch_and_bound(part, evaluate, Node(-20, 0, 0), lambda: len(seen) == 1, Journal())
    assert seen == [0] and part.bound == -7 and part.nodes == 1
    seen.clear()
    branch_and_bound(part, evaluate, Node(-20, 0, 0), lambda: False, Journal())
    assert seen == [0, 2, 1] and part.is_closed
