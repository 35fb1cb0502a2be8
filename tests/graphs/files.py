"""What the tests of readers and writers share: files with a text, small graphs, and their comparison."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np

from flipwise import Graph
from flipwise.graphs.convert import as_graph

TRIANGLE = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


def written(folder: Path, text: str | bytes, name: str = "g.txt") -> Path:
    """A file with this content."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def dense(graph: Graph) -> list[list[float]]:
    """The adjacency matrix."""
    return graph.to_scipy().toarray().tolist()


def same(a: Graph, b: Graph) -> bool:
    """Whether two graphs have the same arrays."""
    weights = (a.weights is None) == (b.weights is None) and (a.weights is None or np.array_equal(a.weights, b.weights))
    return weights and np.array_equal(a.indptr, b.indptr) and np.array_equal(a.indices, b.indices)


def random_graph(n: int, edges: int, seed: int) -> Graph:
    """A random graph with so many nodes and edges."""
    return as_graph(nx.gnm_random_graph(n, edges, seed=seed))


def weighted_graph(seed: int) -> Graph:
    """A random graph of 40 nodes with weights of both signs."""
    rng = np.random.default_rng(seed)
    return as_graph((40, np.column_stack([rng.integers(0, 40, (150, 2)), rng.standard_normal(150)])))
