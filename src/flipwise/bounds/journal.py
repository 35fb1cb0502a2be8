"""What each node of a branch and bound has proven by itself, for certificates (see `certifying`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

MOST_NUMBERS = 1_000_000
"""Larger proofs are not kept."""

Decision = tuple[int, int, int]
"""Two spins of the part, and 1 where they are equal, -1 where they are opposite."""


@dataclass(eq=False)
class Journal:
    """The proofs of the nodes of one tree, by the number of each; the root has the number 0."""

    own: dict[int, tuple[int, dict[str, Any], int]] = field(default_factory=dict)
    """What a node has proven, how, and how many numbers that takes."""
    children: dict[int, list[tuple[int, Decision]]] = field(default_factory=dict)
    size: int = 0
    too_large: bool = False

    def wants(self, number: int, bound: int) -> bool:
        """Whether a proof of this bound would be news."""
        return not self.too_large and (number not in self.own or bound > self.own[number][0])

    def note(self, number: int, bound: int, proof: dict[str, Any], size: int) -> None:
        """Keep what a node has proven, if it is more than before."""
        if not self.wants(number, bound):
            return
        self.size += size - (self.own[number][2] if number in self.own else 0)
        self.own[number] = bound, proof, size

    def split(self, number: int, children: list[tuple[int, Decision]], proven: int) -> None:
        """Note the children of a node; proofs of less than what is `proven` of all by now are not needed any more."""
        if self.too_large:
            return
        self.children[number] = children
        if self.size > MOST_NUMBERS:
            self.own = {at: kept for at, kept in self.own.items() if kept[0] >= proven}
            self.size = sum(kept[2] for kept in self.own.values())
            if self.size > MOST_NUMBERS // 2:
                self.own, self.children, self.too_large = {}, {}, True

    def tree(self, bound: int, described: Callable[[dict[str, Any]], dict[str, Any]]) -> list[dict[str, Any]] | None:
        """Nodes that prove the bound, the root first: proofs, or two spins and the numbers of the nodes in which these
        are equal and opposite. None where it is not proven here."""
        nodes: list[dict[str, Any]] = [{}]
        open_ = [(0, 0)]
        while open_:
            number, at = open_.pop()
            kept = self.own.get(number)
            if kept is not None and kept[0] >= bound:
                nodes[at] = described(kept[1])
            elif number in self.children:
                below = sorted(self.children[number], key=lambda child: -child[1][2])
                i, j, _ = below[0][1]
                nodes[at] = {"pair": [i, j], "children": [len(nodes), len(nodes) + 1]}
                open_ += [(child, len(nodes) + place) for place, (child, _) in enumerate(below)]
                nodes += [{}, {}]
            else:
                return None
        return nodes
