"""Power-law graphs of any size: R-MAT. The same seed gives the same graph on any number of threads.

Chakrabarti, Zhan and Faloutsos, "R-MAT: A Recursive Model for Graph Mining", SDM 2004. The arcs are drawn block by
block from generators of their own, twice: once to count and once to store, so that only the graph is ever held.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from flipwise.foundation.checks import as_generator
from flipwise.foundation.errors import InvalidInput
from flipwise.graphs.graph import ArcBlock, Graph, GraphBuilder, index_type
from flipwise_studies.data.kernels import rmat_arcs

Seed = int | np.random.Generator | None
BLOCK_ARCS = 1 << 18
CALIBRATION_ARCS = 1 << 17


def rmat_graph(n: int, arcs: int, seed: Seed = None, *, a: float = 0.57, b: float = 0.19) -> Graph:
    """A power-law graph (R-MAT) with n nodes and about `arcs` stored arcs, that is `arcs / 2` edges.

    Each arc falls into the upper left quarter of the adjacency matrix with probability `a`, into each of the two mixed
    quarters with `b`, into the lower right one otherwise, and so on inside the quarter. So many arcs are drawn that
    about `arcs` are left after merging repeats (within 1 or 2 per cent); how many came out is in the graph.

    Examples
    --------
    >>> graph = rmat_graph(1000, 20_000, seed=1)
    >>> graph.n, 0.97 < graph.n_arcs / 20_000 < 1.03
    (1000, True)
    """
    if n < 1:
        raise InvalidInput(f"`n` must be at least 1, got {n!r}.")
    if not 0 <= arcs // 2 <= n * (n - 1) // 2:
        raise InvalidInput(f"a simple graph with {n} nodes has from 0 to {n * (n - 1)} arcs, got {arcs!r}.")
    if not (0 < b < 1 and b <= a < 1 and a + 2 * b < 1):
        raise InvalidInput(f"`a` and `b` must be positive with b <= a and a + 2b < 1, got a={a!r}, b={b!r}.")
    entropy = int(as_generator(seed).integers(2**63))
    draws = _draws_for_edges(arcs / 2, n, a, b)
    builder = GraphBuilder(n)
    for block in _rmat_blocks(n, draws, entropy, a, b):
        builder.count(block)
    for block in _rmat_blocks(n, draws, entropy, a, b):
        builder.store(block)
    graph = builder.graph()
    return Graph(graph.indptr, graph.indices, notes=(f"R-MAT a={a} b={b}: {draws:,} arcs drawn.",))


def _rmat_blocks(n: int, draws: int, entropy: int, a: float, b: float) -> Iterator[ArcBlock]:
    """The arcs of an R-MAT graph, block by block, each from a generator of its own: the same every time."""
    levels = max(1, (n - 1).bit_length())
    bounds = [round(65536 * p) for p in (a, a + b, a + 2 * b)]
    kind = index_type(n)
    for block in range(-(-draws // BLOCK_ARCS)):
        size = min(BLOCK_ARCS, draws - block * BLOCK_ARCS)
        rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(block,)))
        words = rng.integers(0, 65536, size=(size, levels), dtype=np.uint16)
        sources, targets = np.empty(size, dtype=kind), np.empty(size, dtype=kind)
        rmat_arcs(words, n, *bounds, sources, targets)
        yield ArcBlock(sources, targets)


def _draws_for_edges(edges: float, n: int, a: float, b: float) -> int:
    """How many arcs to draw for this many distinct edges in expectation.

    With p the probability of a cell, D draws hit {i, j} with probability 1 - exp(-2 D p) about. Summed over all pairs
    that is the mean, over arcs drawn by the model itself, of (1 - exp(-2 D p)) / (2 p), self loops counting 0.
    """
    chance, loop = _sampled_chances(n, a, b)

    def expected(draws: float) -> float:
        return float(np.where(loop, 0.0, -np.expm1(-2 * draws * chance) / (2 * chance)).mean())

    low, high = edges, max(2 * edges, 1.0)
    while expected(high) < edges:
        low, high = high, 2 * high
        if high > 1e3 * edges + 1e6:
            raise InvalidInput(f"`arcs` is too large for {n} nodes: this distribution cannot fill the graph so far.")
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if expected(middle) < edges else (low, middle)
    return round(high)


def _sampled_chances(n: int, a: float, b: float) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """The probabilities of the cells of many arcs of the model, and which of them are self loops."""
    rng = np.random.default_rng(0)
    position = np.zeros((2, CALIBRATION_ARCS), dtype=np.int64)
    width = np.full((2, CALIBRATION_ARCS), n, dtype=np.int64)
    chance = np.ones(CALIBRATION_ARCS)
    d = 1 - a - 2 * b
    for _ in range((n - 1).bit_length()):
        draw = rng.random(CALIBRATION_ARCS)
        upper = np.stack([draw >= a + b, ((draw >= a) & (draw < a + b)) | (draw >= a + 2 * b)])
        open_ = width > 1
        both = np.where(upper[0] & upper[1], d, np.where(upper[0] | upper[1], b, a))
        single = np.where(np.where(open_[0], upper[0], upper[1]), b + d, a + b)
        chance *= np.where(open_.all(axis=0), both, np.where(open_.any(axis=0), single, 1.0))
        half = (width + 1) // 2
        position += np.where(open_ & upper, half, 0)
        width = np.where(open_, np.where(upper, width - half, half), width)
    return chance, position[0] == position[1]
