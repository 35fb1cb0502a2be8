"""What the nodes of a tree have proven becomes a proof of the whole, or none where a branch is open."""

from __future__ import annotations

import pytest

from flipwise.bounds import journal
from flipwise.bounds.journal import Journal


def a_tree() -> Journal:
    """The root splits on the spins 0 and 1, its second child on 2 and 3."""
    notes = Journal()
    notes.note(0, -9, {"by": "root"}, 1)
    notes.split(0, [(2, (0, 1, -1)), (1, (0, 1, 1))], -9)
    notes.note(1, -3, {"by": "equal"}, 1)
    notes.note(2, -7, {"by": "opposite"}, 1)
    notes.split(2, [(3, (2, 3, 1)), (4, (2, 3, -1))], -7)
    notes.note(3, -4, {"by": "three"}, 1)
    return notes


def test_a_bound_that_a_node_has_proven_ends_its_branch() -> None:
    """The children where spins are equal come first."""
    nodes = a_tree().tree(-7, lambda proof: proof)
    assert nodes == [{"pair": [0, 1], "children": [1, 2]}, {"by": "equal"}, {"by": "opposite"}]
    assert a_tree().tree(-9, lambda proof: proof) == [{"by": "root"}]


def test_an_open_branch_is_no_proof() -> None:
    """Until its last node has proven the bound."""
    notes = a_tree()
    assert notes.tree(-4, lambda proof: proof) is None
    notes.note(4, -4, {"by": "four"}, 1)
    nodes = notes.tree(-4, lambda proof: proof)
    assert nodes is not None and len(nodes) == 5 and nodes[2] == {"pair": [2, 3], "children": [3, 4]}
    assert [nodes[at] for at in (1, 3, 4)] == [{"by": "equal"}, {"by": "three"}, {"by": "four"}]


def test_only_a_better_bound_replaces_a_proof() -> None:
    """And its size counts in place of the old one's."""
    notes = Journal()
    notes.note(0, -5, {"by": "first"}, 10)
    notes.note(0, -5, {"by": "second"}, 100)
    assert not notes.wants(0, -6) and notes.wants(0, -4) and notes.size == 10
    notes.note(0, -4, {"by": "third"}, 30)
    assert notes.size == 30 and notes.tree(-4, lambda proof: proof) == [{"by": "third"}]


def test_proofs_that_are_too_large_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """First those of less than what is proven of all go, then everything."""
    monkeypatch.setattr(journal, "MOST_NUMBERS", 100)
    notes = Journal()
    notes.note(0, -9, {"by": "root"}, 90)
    notes.note(1, -3, {"by": "one"}, 20)
    notes.split(0, [(1, (0, 1, 1)), (2, (0, 1, -1))], -5)
    assert notes.size == 20 and not notes.too_large and 0 not in notes.own
    notes.note(2, -3, {"by": "two"}, 200)
    notes.split(2, [], -5)
    assert notes.too_large and notes.tree(-9, lambda proof: proof) is None and not notes.wants(5, 0)
