"""Partitions as a problem: the weight between parts, sizes, and parts that are given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from flipwise import InvalidInput
from flipwise.cuts.parts import PartitionProblem, PartSizes, cut_between, held_parts, part_sizes
from flipwise.graphs.convert import as_graph


@given(st.integers(1, 9), st.integers(1, 4), st.integers(0, 10**6), st.booleans())
def test_the_weight_between_parts_is_that_of_the_edges(n: int, parts: int, seed: int, weighted: bool) -> None:
    """Pair by pair."""
    rng = np.random.default_rng(seed)
    W = np.triu(rng.integers(0, 3 if weighted else 2, (n, n)), 1)
    chosen = rng.integers(0, parts, n)
    expected = sum(W[i, j] for j in range(n) for i in range(j) if chosen[i] != chosen[j])
    assert cut_between(as_graph(sp.csr_array(W + W.T)), chosen) == expected


@given(st.integers(1, 60), st.integers(1, 60))
def test_a_number_of_parts_means_sizes_that_differ_by_one(n: int, parts: int) -> None:
    """And more parts than nodes are refused."""
    if parts > n:
        with pytest.raises(InvalidInput, match="`sizes` must be between 1"):
            part_sizes(n, parts)
        return
    sizes = part_sizes(n, parts)
    assert sizes.sum() == n and sizes.size == parts and sizes.max() - sizes.min() <= 1


@pytest.mark.parametrize("sizes", [[2, 2], [5, 0], [2.5, 2.5], [], [[5]], 0, "five"])
def test_sizes_that_are_none_are_refused(sizes: Any) -> None:
    """Of five nodes."""
    with pytest.raises(InvalidInput, match="`sizes` must"):
        part_sizes(5, sizes)


def test_nodes_that_are_given_are_held_and_must_fit() -> None:
    """One too many for its part, a node or a part that is not there."""
    sizes = np.array([2, 3])
    assert held_parts(5, sizes, None) is None
    held = held_parts(5, sizes, {0: 1, 3: 0})
    assert held is not None and held.tolist() == [1, -1, -1, 0, -1]
    for fixed, words in (({9: 0}, "names the node 9"), ({0: 2}, "parts from 0 to 1"), ({0: 0, 1: 0, 2: 0}, "puts 3")):
        with pytest.raises(InvalidInput, match=words):
            held_parts(5, sizes, fixed)


def test_a_point_that_breaks_a_size_is_told_by_its_part() -> None:
    """Exact sizes, and with an imbalance at most so many and at least one."""
    exact, loose = PartSizes(np.array([2, 2])), PartSizes(np.array([2, 2]), 0.5)
    assert exact.violation(np.array([0, 1, 1, 0])) is None
    assert exact.violation(np.array([0, 1, 1, 1])) == "part 0 must have exactly its size"
    assert loose.violation(np.array([0, 1, 1, 1])) is None and loose.violation(np.ones(4)) is not None
    assert exact.violation(np.array([0, 1, 2, 0])) == "there are only 2 parts"
    assert PartSizes(np.array([1, 1]), held=np.array([1, -1])).violation(np.array([0, 1])) == "node 0 must be in part 1"


def test_parts_are_alike_when_their_names_may_be_exchanged() -> None:
    """Of one size, and without a node that is given."""
    assert len(set(PartSizes(np.array([2, 3, 2])).alike.tolist())) == 2
    held = PartSizes(np.array([2, 3, 2]), held=np.array([0, -1, -1, -1, -1, -1, -1]))
    assert len(set(held.alike.tolist())) == 3


def test_a_start_is_checked_against_the_sizes() -> None:
    """Before any search."""
    problem = PartitionProblem.of(as_graph((4, [[0, 1], [2, 3]])), np.array([2, 2]))
    assert problem.objective.value(problem.start([0, 1, 1, 0])) == 2.0
    for start in ([0, 0, 0, 1], [0, 1], [0.5, 0, 1, 1], [-1, 0, 1, 1]):
        with pytest.raises(InvalidInput, match="`start`"):
            problem.start(start)
