"""A generated graph with a dense group hidden in it: what the demo, the examples and the documentation solve."""

from __future__ import annotations

import numpy as np

from flipwise.foundation.arrays import Ints
from flipwise.foundation.checks import as_generator
from flipwise.foundation.errors import InvalidInput
from flipwise.graphs.convert import as_graph
from flipwise.graphs.graph import Graph


def planted_subgraph(
    n: int = 20_000,
    k: int = 60,
    *,
    mean_degree: float = 10.0,
    density: float = 0.8,
    seed: int | np.random.Generator | None = 0,
) -> tuple[Graph, Ints]:
    """A sparse graph with uneven degrees, and the `k` of its nodes that are joined far more densely than the rest.

    Parameters
    ----------
    n, k
        Number of nodes, and of those in the hidden group.
    mean_degree
        Of the background, whose expected degrees fall off as a power law (Chung and Lu 2002).
    density
        The probability of an edge inside the group.
    seed
        None, an integer, or a generator.

    Returns
    -------
    Graph, array
        The graph and the hidden nodes, ascending.

    Examples
    --------
    >>> from flipwise.graphs.planted import planted_subgraph
    >>> graph, hidden = planted_subgraph(1000, 20, seed=1)
    >>> graph.n, hidden.size
    (1000, 20)
    """
    if not 2 <= k <= n:
        raise InvalidInput(f"`k` must be between 2 and `n` = {n}, got {k}.")
    if not 0.0 < density <= 1.0:
        raise InvalidInput(f"`density` must be above 0 and at most 1, got {density}.")
    if not 0.0 < mean_degree < n:
        raise InvalidInput(f"`mean_degree` must be above 0 and below `n` = {n}, got {mean_degree}.")
    rng = as_generator(seed)
    expected = (1.0 + np.arange(n)) ** -0.5
    ends = np.searchsorted(np.cumsum(expected / expected.sum()), rng.random((int(n * mean_degree / 2), 2)))
    relabel = rng.permutation(n)
    background = relabel[np.minimum(ends, n - 1)]
    hidden = np.sort(rng.choice(n, k, replace=False))
    pairs = np.stack(np.triu_indices(k, 1), axis=1)
    group = hidden[pairs[rng.random(len(pairs)) < density]]
    return as_graph((n, np.concatenate([background, group]))), hidden
