"""Graphs with a hidden dense group."""

from __future__ import annotations

import numpy as np
import pytest

from flipwise.foundation.errors import InvalidInput
from flipwise.graphs.planted import planted_subgraph


def test_the_hidden_group_is_dense_and_the_rest_is_not() -> None:
    """Inside the group about the asked share of pairs is joined; the mean degree outside is about the asked one."""
    graph, hidden = planted_subgraph(5000, 50, mean_degree=8.0, density=0.7, seed=2)
    W = graph.to_scipy()
    assert abs(W[hidden][:, hidden].sum() / (50 * 49) - 0.7) < 0.06
    assert abs(np.delete(graph.degrees, hidden).mean() - 8.0) < 1.0


def test_seeds_decide() -> None:
    """One seed, one graph; another seed, another."""
    one, two, other = (planted_subgraph(300, 10, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(one[0].indices, two[0].indices) and np.array_equal(one[1], two[1])
    assert not np.array_equal(one[1], other[1])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [({"k": 1}, "`k`"), ({"k": 301}, "300"), ({"density": 0.0}, "`density`"), ({"mean_degree": 0.0}, "`mean_degree`")],
)
def test_bad_sizes_are_refused(arguments: dict[str, float], said: str) -> None:
    """The message names the argument."""
    with pytest.raises(InvalidInput, match=said):
        planted_subgraph(**{"n": 300, "k": 10} | arguments)  # type: ignore[arg-type]
