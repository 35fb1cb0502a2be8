"""Generated graphs for bisection: power law, geometric, grid with holes, circuit-like; their largest component.

`generated("geometric-5000")` is the graph of that name, always the same one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from flipwise.graphs.convert import as_graph
from flipwise.graphs.graph import Graph

SIZES = (1000, 2000, 5000, 10_000, 20_000)


def power_law(n: int, rng: np.random.Generator) -> np.ndarray:
    """Stubs joined at random; the number of nodes with degree d falls as d^-2.5, from 2 on."""
    degrees = np.minimum(np.floor(2.0 * (1.0 - rng.random(n)) ** (-1.0 / 1.5)), np.sqrt(n)).astype(np.int64)
    stubs = rng.permutation(np.repeat(np.arange(n), degrees))
    return stubs[: stubs.size // 2 * 2].reshape(-1, 2)


def geometric(n: int, rng: np.random.Generator) -> np.ndarray:
    """Random points of a square, joined within the distance that gives a mean degree of 8."""
    return np.asarray(cKDTree(rng.random((n, 2))).query_pairs(np.sqrt(8.0 / (np.pi * n)), output_type="ndarray"))


def grid_with_holes(n: int, rng: np.random.Generator) -> np.ndarray:
    """A square grid without the nodes of twenty random discs."""
    side = round(np.sqrt(1.25 * n))
    rows, columns = np.divmod(np.arange(side * side), side)
    kept = np.ones(side * side, dtype=bool)
    for _ in range(20):
        y, x = rng.random(2) * side
        kept &= (rows - y) ** 2 + (columns - x) ** 2 > (side * rng.uniform(0.02, 0.08)) ** 2
    nodes = np.arange(side * side).reshape(side, side)
    beside = np.stack([nodes[:, :-1].ravel(), nodes[:, 1:].ravel()], axis=1)
    below = np.stack([nodes[:-1].ravel(), nodes[1:].ravel()], axis=1)
    edges = np.concatenate([beside, below])
    return edges[kept[edges].all(axis=1)]


def circuit(n: int, rng: np.random.Generator) -> np.ndarray:
    """Three wires from each node, of lengths from 1 to n / 2 that are equally likely on a logarithmic scale."""
    ends = np.repeat(np.arange(n), 3)
    lengths = np.exp(rng.random(ends.size) * np.log(n / 2.0)).astype(np.int64)
    return np.stack([ends, (ends + lengths) % n], axis=1)


KINDS: dict[str, Callable[[int, np.random.Generator], np.ndarray]] = {
    "power-law": power_law,
    "geometric": geometric,
    "holes": grid_with_holes,
    "circuit": circuit,
}
NAMES = tuple(f"{kind}-{n}" for kind in KINDS for n in SIZES)


def generated(name: str) -> Graph:
    """The largest component of the graph of this name, without loops and repeated edges."""
    kind, _, size = name.rpartition("-")
    edges = KINDS[kind](int(size), np.random.default_rng([int(size), list(KINDS).index(kind)]))
    n = int(edges.max()) + 1
    joined = sp.coo_array((np.ones(len(edges)), edges.T), shape=(n, n))
    labels = connected_components(joined, directed=False)[1]
    inside = labels == np.bincount(labels).argmax()
    numbers = np.cumsum(inside) - 1
    low, high = np.sort(numbers[edges[inside[edges].all(axis=1)]], axis=1).T
    pairs = np.unique(np.stack([low[low < high], high[low < high]], axis=1), axis=0)
    return as_graph((int(inside.sum()), pairs))
