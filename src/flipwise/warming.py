"""Compile the kernels ahead of time: every job on a few variables, all kernels in the compiled tier."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import scipy.sparse as sp

from flipwise.foundation.errors import FlipwiseError, FlipwiseWarning, InvalidInput
from flipwise.kernels.jit import Kernel, compiled_at_once

Step = Callable[[], object]
"""A part of a job that meets some of its kernels, or some of the types that they are compiled for."""


def warm_up(job: str | None = None, *, callback: Callable[[int, int], object] | None = None) -> None:
    """Compile the kernels that a job needs (or load them from the cache), so that its first large run does not wait.

    Parameters
    ----------
    job
        "minimize", "qubo", "maxcut", "bisect", "subgraph", "hash", or "files" for the readers of graph files. None
        is all of these, and every kernel that only other methods, bounds or options need.
    callback
        Called with the parts that are done and their number, for a progress bar.

    Examples
    --------
    >>> import flipwise
    >>> flipwise.warm_up("qubo")  # doctest: +SKIP
    """
    if job is not None and job not in JOBS:
        raise InvalidInput(f"`job` must be None or one of {', '.join(JOBS)}, got {job!r}.")
    steps = [step for name in ([job] if job else [*JOBS, *RARE]) for step in ({**JOBS, **RARE})[name]()]
    with compiled_at_once(), warnings.catch_warnings():
        warnings.simplefilter("ignore", FlipwiseWarning)
        for done, step in enumerate(steps):
            if callback is not None:
                callback(done, len(steps))
            step()
    if callback is not None:
        callback(len(steps), len(steps))


def all_kernels() -> dict[str, Kernel]:
    """Every kernel of the library, by `module.name`."""
    package = import_module("flipwise.kernels")
    modules = [import_module(f"flipwise.kernels.{found.name}") for found in iter_modules(package.__path__)]
    return {
        f"{module.__name__.rpartition('.')[2]}.{name}": value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, Kernel)
    }


# --- small problems of every type ------------------------------------------------------------------------------------


def _sparse(n: int, degree: int) -> sp.csr_array:
    """A random graph with weights -1 and +1 of about this degree."""
    rng = np.random.default_rng(0)
    W = np.triu(rng.choice([-1.0, 1.0], (n, n)) * (rng.random((n, n)) < degree / n), 1)
    return sp.csr_array(W + W.T)


def _glass(n: int) -> Any:
    A = np.random.default_rng(0).standard_normal((n, n))
    return A + A.T


def _wide(A: sp.csr_array) -> sp.csr_array:
    """The same matrix with 64-bit indices, as scipy makes them for many entries."""
    return sp.csr_array((A.data, A.indices.astype(np.int64), A.indptr.astype(np.int64)), shape=A.shape)


def _graphs() -> list[Any]:
    """A graph without and one with weights."""
    from flipwise.graphs.convert import as_graph

    edges = np.array([[i, j, 1.0 + (i * j) % 3] for i in range(40) for j in range(i) if (i * i + 3 * j) % 4])
    return [as_graph((40, edges[:, :2].astype(int))), as_graph((40, edges))]


# --- the jobs --------------------------------------------------------------------------------------------------------


def _minimize() -> Iterator[Step]:
    from flipwise.minimization import minimize
    from flipwise.model.constraints import Cardinality, GroupCounts

    for A in _matrices():
        for constraint in (None, Cardinality(5), GroupCounts(np.arange(A.shape[0]) % 2, [3, 4])):
            yield partial(minimize, A, seed=0, constraint=constraint, method="dpcd")
            yield partial(minimize, A, seed=0, constraint=constraint, method="portfolio", max_iterations=8)
            yield partial(_walk, A, constraint)
        yield partial(_make_late_moves, A)
    for A in (_sparse(20, 5), _wide(_sparse(20, 5))):
        yield partial(_ask_as_if_large, A)
    yield _search_under_rows


def _search_under_rows() -> None:
    """A search with linear constraints."""
    from flipwise.minimization import minimize

    minimize(_sparse(20, 5), rows=(np.ones((1, 20)), None, 4), seed=0, method="portfolio", max_iterations=2)


def _walk(A: Any, constraint: Any) -> None:
    """The walk of DPCD past a local optimum, which not every descent comes to."""
    from flipwise.engine.run import Run
    from flipwise.model.constraints import Free
    from flipwise.model.problem import Problem
    from flipwise.model.quadratic import Quadratic
    from flipwise.solvers.dpcd.walks import make_walk

    problem = Problem(Quadratic(A), constraint or Free())
    walk, rng = make_walk(problem.objective, problem.constraint), np.random.default_rng(0)  # type: ignore[arg-type]
    if walk is not None:
        x = problem.constraint.random(problem.shape, rng)
        walk(x, problem.objective.gradient(x), rng, Run(problem))


def _qubo() -> Iterator[Step]:
    from flipwise.qubo.solve import solve_qubo

    for A in _matrices():
        for count in (None, 5):
            # a small problem that is solved exactly would spare the search
            yield partial(solve_qubo, A, count=count, bound="sdp", seed=0, max_iterations=8)
        yield partial(_make_late_moves, A)
    yield partial(_ask_as_if_large, _sparse(20, 5))
    yield _search_under_rows
    for scale in (1.0, 0.3):
        yield partial(
            solve_qubo, scale * (abs(_sparse(20, 5)) - sp.eye_array(20)), bound="none", seed=0, max_iterations=8
        )
    yield _look_for_odd_cycles


def _maxcut() -> Iterator[Step]:
    from flipwise.cuts.api import maxcut

    for W in (*_matrices(), *_graphs()):
        yield partial(maxcut, W, bound="sdp", seed=0, max_iterations=8)
    for W in _matrices():
        yield partial(_make_late_moves, W)
    yield partial(_ask_as_if_large, _sparse(20, 5))
    yield _look_for_odd_cycles


def _matrices() -> list[Any]:
    """Sparse, with either type of indices, and dense; integers of every size, and real numbers: what a search meets."""
    signs, rng = _sparse(200, 5), np.random.default_rng(0)
    large = sp.csr_array(np.rint(signs.multiply(np.outer(*rng.uniform(1e4, 3e4, (2, 200))))))
    large = sp.csr_array((large + large.T) / 2)
    dense = [np.triu(rng.integers(-most, most + 1, (14, 14)), 1).astype(np.float64) for most in (9, 5000, 90_000)]
    sparse = [each for A in (signs, large, 0.3 * signs) for each in (A, _wide(A))]
    return [*sparse, *(D + D.T for D in dense), _glass(14)]


def _look_for_odd_cycles() -> None:
    """What the proof of a sparse problem does."""
    from flipwise.bounds.odd_cycles import CycleGraph

    CycleGraph(3, np.array([0, 1, 0]), np.array([1, 2, 2])).violated(np.ones(3), np.arange(3), 10)


def _make_late_moves(A: Any) -> None:
    """Moves of the portfolio that its first rounds do not make."""
    from flipwise.engine.limits import Clock
    from flipwise.model.forms import ising_form
    from flipwise.model.quadratic import Quadratic
    from flipwise.solvers.portfolio.annealing import anneal_part, random_state, temperatures
    from flipwise.solvers.portfolio.moves import relinked, take_better_components

    form = ising_form(Quadratic(A))
    assert form is not None
    s = np.ones(form.n, dtype=np.int8)
    if form.dense:
        relinked(form, s, -s)
        return
    f = form.fields(s)
    take_better_components(form, s, f, -s)
    state = random_state(np.random.default_rng(0))
    anneal_part(form, s, f, np.arange(3), temperatures(form, 1.0, 2), state, Clock())


def _ask_as_if_large(A: sp.csr_array) -> None:
    """What is asked of a sparse matrix only where it has many entries."""
    from flipwise.kernels import sparse
    from flipwise.model.terms import has_symmetric_fingerprint

    n = A.shape[0]
    has_symmetric_fingerprint(A)
    sparse.csr_gradient(A.indptr, A.indices, A.data, np.ones(n), np.zeros(n), np.empty(n))


def _bisect() -> Iterator[Step]:
    from flipwise.cuts.api import bisect, partition

    for W in (abs(_sparse(200, 5)), 0.3 * _sparse(200, 5), *_graphs()):
        yield partial(bisect, W, seed=0, effort=0.2)
        yield partial(partition, W, 4, seed=0, effort=0.1)


def _subgraph() -> Iterator[Step]:
    from flipwise.densest.api import densest_subgraph

    for graph in _graphs():
        yield partial(densest_subgraph, graph, 7, seed=0, effort=0.02, bound="none")  # a proof would spare the search
        yield partial(densest_subgraph, graph, 7, seed=0, effort=0.02)
        yield partial(densest_subgraph, graph)
        yield partial(_search_on, graph)
    yield from _files()


def _search_on(graph: Any) -> None:
    """What a search for dense subgraphs does on harder graphs: exchanges of cliques, longer proofs."""
    from flipwise.densest.bounds import positive_edges, split_in_halves
    from flipwise.densest.cliques import find_clique
    from flipwise.densest.core import core_above, whole_core
    from flipwise.densest.pairs import PairProgramme
    from flipwise.densest.subset import Subset, clique_exchanges
    from flipwise.kernels import bounds

    list(clique_exchanges(Subset.of(graph, np.arange(graph.n) < 7), np.ones(graph.n), 1e9))
    core_above(whole_core(graph), 1.0)
    find_clique(whole_core(graph), 3, np.random.default_rng(0), lambda: None, 1.0)
    shares = split_in_halves(graph.n, positive_edges(whole_core(graph)))
    arrays = shares.first, shares.second, shares.weight, shares.share, shares.loads
    bounds.balance(*arrays, shares.group_start, shares.rounds, 1)
    PairProgramme(whole_core(graph), 7).run(1)


def _files() -> Iterator[Step]:
    files = {
        "plain.txt": b"0 1\n1 2\n2 0\n",
        "weighted.txt": b"0 1 0.5\n1 2 1.5\n2 0 2.5\n",
        "named.txt": b"a b\nb c\nc a\n",
        "weighted.csv": b"from,to,weight\na,b,0.5\nb,c,1.5\n",
        "rows.metis": b"3 3\n2 3\n1 3\n1 2\n",
    }
    for name, content in files.items():
        yield partial(_read, {name: content})


def _read(files: dict[str, bytes]) -> None:
    """Write the files and read a graph from the first."""
    from flipwise.graphs.read import read_graph

    with TemporaryDirectory() as folder:
        for name, content in files.items():
            Path(folder, name).write_bytes(content)
        read_graph(Path(folder, next(iter(files))))


def _hash() -> Iterator[Step]:
    try:
        from flipwise.hashing import (
            ITQ,
            SDH,
            AdditiveQuantizer,
            Codes,
            Index,
            asymmetric_search,
            hamming_search,
            mean_average_precision,
        )
    except ImportError:
        return
    rng = np.random.default_rng(0)
    labels = np.arange(400) % 3
    codes = Codes.from_bits(rng.integers(0, 2, (400, 64)))
    for kind in (np.float64, np.float32):
        X = rng.standard_normal((400, 40)).astype(kind)
        yield partial(ITQ(32, random_state=0).fit, X)
        yield partial(SDH(32, random_state=0).fit, X, labels)
        yield partial(SDH(32, refine=False, distinct=False, random_state=0).fit, X, labels)
    yield partial(hamming_search, codes, codes, 3, backend="compiled")
    yield partial(asymmetric_search, rng.standard_normal((3, 64)), codes, 3)
    yield partial(AdditiveQuantizer(2, effort=0.0, random_state=0).fit, X)
    index = Index(ITQ(32, random_state=0).fit(X), lists=2)
    yield partial(index.add, X)
    yield partial(index.search, X[:3], 3)
    yield partial(mean_average_precision, codes, codes, labels, labels)


JOBS: dict[str, Callable[[], Iterator[Step]]] = {
    "minimize": _minimize,
    "qubo": _qubo,
    "maxcut": _maxcut,
    "bisect": _bisect,
    "subgraph": _subgraph,
    "hash": _hash,
    "files": _files,
}
"""The jobs by name: what a user runs."""


# --- what no job needs by default ------------------------------------------------------------------------------------


def _methods() -> Iterator[Step]:
    """Every method of `minimize` and of dense subgraphs, every bound."""
    from flipwise.densest.api import densest_subgraph
    from flipwise.densest.methods import DENSEST
    from flipwise.minimization import METHODS, minimize
    from flipwise.model.constraints import Cardinality
    from flipwise.model.quadratic import Quadratic
    from flipwise.model.terms import LowRank

    dense, U = _glass(12), np.random.default_rng(0).standard_normal((12, 2))
    yield partial(minimize, Quadratic(LowRank(U)), method="dcc", seed=0, max_iterations=3)
    for A in (dense, sp.csr_array(dense)):
        for method in METHODS:
            for constraint in (None, Cardinality(5)):
                yield partial(_try, minimize, A, method=method, constraint=constraint, seed=0, max_iterations=3)
        for bound in ("sdp", "spectral"):
            yield partial(minimize, A, bound=bound, seed=0, max_iterations=3)
    for graph in _graphs():
        for method in DENSEST:
            yield partial(_try, densest_subgraph, graph, 7, method=method, seed=0, max_iterations=3)


def _conditions() -> Iterator[Step]:
    """Dense subgraphs with conditions, of graphs that are walked through and of others."""
    from flipwise.densest.api import densest_subgraph

    for graph in _graphs():
        yield partial(densest_subgraph, graph, at_least=30, include=[0], seed=0, effort=0.02)
        yield partial(densest_subgraph, graph, 9, exclude=range(30), connected=True, seed=0)
        yield partial(densest_subgraph, graph, 9, include=[0], connected=True, seed=0, effort=0.1)
        yield partial(densest_subgraph, graph, 9, node_weights=np.arange(40) / 7.0, seed=0, effort=0.02)


def _try(function: Callable[..., object], *arguments: Any, **keywords: Any) -> None:
    """Call it; some methods do not take some problems."""
    with suppress(FlipwiseError):
        function(*arguments, **keywords)


def _polynomials() -> Iterator[Step]:
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


def _estimators() -> Iterator[Step]:
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


def _clusters() -> Iterator[Step]:
    """What the workers of a cluster run on the shards of a graph."""
    from flipwise.kernels import shards

    rows, signs = np.arange(3), np.ones(3, np.int64)
    for graph in _graphs():
        n, weights = graph.n, np.ones(1, np.int64) if graph.weights is None else graph.weights
        csr, mask, degrees = (graph.indptr, graph.indices, weights), np.ones(n, np.uint8), np.zeros(n, weights.dtype)
        yield partial(shards.row_degrees, *csr, mask, mask, True, degrees)
        yield partial(shards.toggle_rows, *csr, rows, signs, 0, True, degrees)
        yield partial(shards.row_loads, *csr, mask, np.ones(n), 0, np.zeros(n))


def _large() -> Iterator[Step]:
    """What is done only where there is much of something: many names, many variables to project, stored graphs."""
    from flipwise.kernels import arcs, projection

    yield partial(_read, {"names.txt": b"".join(b"a%d b%d\n" % (i, i) for i in range(3000))})
    described = b"graphclass=it.unimi.dsi.webgraph.BVGraph\nnodes=2\narcs=0\nwindowsize=0\n"
    yield partial(_read, {"web.graph": b"\xff", "web.properties": described})
    graph = _graphs()[0]
    yield partial(arcs.rows_are_simple, graph.indptr, graph.indices, np.empty(graph.n, np.bool_))
    yield partial(projection.clipped_counts, np.zeros(3), 0.0)


RARE: dict[str, Callable[[], Iterator[Step]]] = {
    "methods": _methods,
    "conditions": _conditions,
    "polynomials": _polynomials,
    "estimators": _estimators,
    "clusters": _clusters,
    "large": _large,
}
"""What only rivals, other options, clusters and large data need."""
