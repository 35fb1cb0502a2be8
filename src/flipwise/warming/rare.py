"""Kernels that no job needs by default."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from flipwise.foundation.errors import FlipwiseError
from flipwise.warming.examples import Step, glass, graphs, read_files


def _every_method() -> Iterator[Step]:
    """Every method of `minimize` and of dense subgraphs, every bound."""
    from flipwise.densest.api import densest_subgraph
    from flipwise.densest.methods import DENSEST
    from flipwise.minimization import METHODS, minimize
    from flipwise.model.constraints import Cardinality
    from flipwise.model.quadratic import Quadratic
    from flipwise.model.terms import LowRank

    dense, U = glass(12), np.random.default_rng(0).standard_normal((12, 2))
    yield partial(minimize, Quadratic(LowRank(U)), method="dcc", seed=0, max_iterations=3)
    for A in (dense, sp.csr_array(dense)):
        for method in METHODS:
            for constraint in (None, Cardinality(5)):
                yield partial(
                    _call_if_possible, minimize, A, method=method, constraint=constraint, seed=0, max_iterations=3
                )
        for bound in ("sdp", "spectral"):
            yield partial(minimize, A, bound=bound, seed=0, max_iterations=3)
    for graph in graphs():
        for method in DENSEST:
            yield partial(_call_if_possible, densest_subgraph, graph, 7, method=method, seed=0, max_iterations=3)


def _every_condition() -> Iterator[Step]:
    """Dense subgraphs with conditions, of graphs that are walked through and of others."""
    from flipwise.densest.api import densest_subgraph

    for graph in graphs():
        yield partial(densest_subgraph, graph, at_least=30, include=[0], seed=0, effort=0.02)
        yield partial(densest_subgraph, graph, 9, exclude=range(30), connected=True, seed=0)
        yield partial(densest_subgraph, graph, 9, include=[0], connected=True, seed=0, effort=0.1)
        yield partial(densest_subgraph, graph, 9, node_weights=np.arange(40) / 7.0, seed=0, effort=0.02)


def _call_if_possible(function: Callable[..., object], *arguments: Any, **keywords: Any) -> None:
    """Call it; some methods do not take some problems."""
    with suppress(FlipwiseError):
        function(*arguments, **keywords)


def _higher_degrees() -> Iterator[Step]:
    """Functions of a higher degree than two."""
    from flipwise.minimization import minimize
    from flipwise.model.constraints import Cardinality
    from flipwise.model.polynomial import Polynomial
    from flipwise.solvers.portfolio.correlations import autocorrelation

    for scale in (1.0, 0.3):
        f = Polynomial({(i, (i + 1) % 20, (i + 5) % 20): scale * (-1.0) ** (i // 3) for i in range(20)})
        for constraint in (None, Cardinality(7)):
            for method in ("dpcd", "portfolio"):
                yield partial(minimize, f, method=method, constraint=constraint, seed=0, max_iterations=4)
        yield partial(f.flip, np.ones(20), f.gradient(np.ones(20)), np.arange(3))
        yield partial(minimize, f, method="exact", seed=0)
    yield partial(minimize, autocorrelation(20), method="portfolio", seed=0, max_iterations=2)


def _every_estimator() -> Iterator[Step]:
    """Every estimator, optimiser and measure of hashing."""
    try:
        from flipwise.hashing import ARE, SADH, SDH, Codes, FastHash, precision_at
    except ImportError:
        return
    from flipwise.kernels import codes as code_kernels
    from flipwise.kernels import hamming

    rng = np.random.default_rng(0)
    X, labels = rng.standard_normal((60, 20)), np.arange(60) % 3
    for optimizer in ("dpcd", "dcc"):
        yield partial(SDH(16, optimizer=optimizer, random_state=0).fit, X, labels)
    for estimator in (ARE(16, random_state=0), SADH(16, random_state=0), FastHash(16, random_state=0)):
        yield partial(estimator.fit, X, labels)
    codes = Codes.from_bits(rng.integers(0, 2, (60, 64)))
    yield partial(precision_at, codes, codes, labels, labels, 5, ties="stable")
    words, found = codes.words(), np.zeros((60, 1), dtype=np.int32)  # the nearest of each is itself, at distance 0
    yield partial(hamming.settle_ties, words, words, found, found.astype(np.int64))
    B, chosen, flips, change = np.ones((3, 2)), np.ones((3, 2), np.bool_), np.zeros(3, np.int64), np.zeros(3)
    yield partial(code_kernels.rows_flip_improving, np.eye(2), np.ones(3), 0.0, chosen, True, B, -B, flips, change)


def _cluster_workers() -> Iterator[Step]:
    """What the workers of a cluster run on the shards of a graph."""
    from flipwise.kernels import shards

    rows, signs = np.arange(3), np.ones(3, np.int64)
    for graph in graphs():
        n, weights = graph.n, np.ones(1, np.int64) if graph.weights is None else graph.weights
        csr, mask, degrees = (graph.indptr, graph.indices, weights), np.ones(n, np.uint8), np.zeros(n, weights.dtype)
        yield partial(shards.row_degrees, *csr, mask, mask, True, degrees)
        yield partial(shards.toggle_rows, *csr, rows, signs, 0, True, degrees)
        yield partial(shards.row_loads, *csr, mask, np.ones(n), 0, np.zeros(n))


def _large_inputs() -> Iterator[Step]:
    """What is done only where there is much of something: many names, many variables to project, stored graphs."""
    from flipwise.kernels import arcs, projection

    yield partial(read_files, {"names.txt": b"".join(b"a%d b%d\n" % (i, i) for i in range(3000))})
    described = b"graphclass=it.unimi.dsi.webgraph.BVGraph\nnodes=2\narcs=0\nwindowsize=0\n"
    yield partial(read_files, {"web.graph": b"\xff", "web.properties": described})
    graph = graphs()[0]
    yield partial(arcs.rows_are_simple, graph.indptr, graph.indices, np.empty(graph.n, np.bool_))
    yield partial(projection.clipped_counts, np.zeros(3), 0.0)


RARE: dict[str, Callable[[], Iterator[Step]]] = {
    "methods": _every_method,
    "conditions": _every_condition,
    "polynomials": _higher_degrees,
    "estimators": _every_estimator,
    "clusters": _cluster_workers,
    "large": _large_inputs,
}
"""What only rivals, other options, clusters and large data need."""
