"""The jobs that users run, in steps that meet all of their kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from flipwise.warming.examples import Step, glass, graphs, read_files, sparse_glass, wide


def _minimize_steps() -> Iterator[Step]:
    """What `minimize` compiles."""
    from flipwise.minimization import minimize
    from flipwise.model.constraints import Cardinality, GroupCounts

    for A in _example_matrices():
        for constraint in (None, Cardinality(5), GroupCounts(np.arange(A.shape[0]) % 2, [3, 4])):
            yield partial(minimize, A, seed=0, constraint=constraint, method="dpcd")
            yield partial(minimize, A, seed=0, constraint=constraint, method="portfolio", max_iterations=8)
            yield partial(_late_walk, A, constraint)
        yield partial(_make_late_moves, A)
    for A in (sparse_glass(20, 5), wide(sparse_glass(20, 5))):
        yield partial(_ask_as_if_large, A)
    yield _search_under_rows


def _search_under_rows() -> None:
    """A search with linear constraints."""
    from flipwise.minimization import minimize

    minimize(sparse_glass(20, 5), rows=(np.ones((1, 20)), None, 4), seed=0, method="portfolio", max_iterations=2)


def _late_walk(A: Any, constraint: Any) -> None:
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


def _qubo_steps() -> Iterator[Step]:
    """What quadratic models compile."""
    from flipwise.qubo.solve import solve_qubo

    for A in _example_matrices():
        for count in (None, 5):
            # a small problem that is solved exactly would spare the search
            yield partial(solve_qubo, A, count=count, bound="sdp", seed=0, max_iterations=8)
        yield partial(_make_late_moves, A)
    yield partial(_ask_as_if_large, sparse_glass(20, 5))
    yield _search_under_rows
    for scale in (1.0, 0.3):
        yield partial(
            solve_qubo, scale * (abs(sparse_glass(20, 5)) - sp.eye_array(20)), bound="none", seed=0, max_iterations=8
        )
    yield _look_for_odd_cycles
    yield _look_for_inequalities


def _maxcut_steps() -> Iterator[Step]:
    """What largest cuts compile."""
    from flipwise.cuts.api import maxcut

    for W in (*_example_matrices(), *graphs()):
        yield partial(maxcut, W, bound="sdp", seed=0, max_iterations=8)
    for W in _example_matrices():
        yield partial(_make_late_moves, W)
    yield partial(_ask_as_if_large, sparse_glass(20, 5))
    yield _look_for_odd_cycles
    yield _look_for_inequalities


def _example_matrices() -> list[Any]:
    """Sparse, with either type of indices, and dense; integers of every size, and real numbers: what a search meets."""
    signs, rng = sparse_glass(200, 5), np.random.default_rng(0)
    large = sp.csr_array(np.rint(signs.multiply(np.outer(*rng.uniform(1e4, 3e4, (2, 200))))))
    large = sp.csr_array((large + large.T) / 2)
    dense = [np.triu(rng.integers(-most, most + 1, (14, 14)), 1).astype(np.float64) for most in (9, 5000, 90_000)]
    sparse = [each for A in (signs, large, 0.3 * signs) for each in (A, wide(A))]
    return [*sparse, *(D + D.T for D in dense), glass(14)]


def _look_for_odd_cycles() -> None:
    """What the proof of a sparse problem does."""
    from flipwise.bounds.odd_cycles import CycleGraph

    CycleGraph(3, np.array([0, 1, 0]), np.array([1, 2, 2])).violated(np.ones(3), np.arange(3), 10)


def _look_for_inequalities() -> None:
    """What the proof of a dense problem does."""
    from flipwise.bounds.hypermetric import grown

    _look_for_triangles()
    grown(np.eye(6) * 1.2 - 0.2, np.array([[1, 1, 1, 0, 0, 0]], dtype=np.int8), 3)


def _look_for_triangles() -> None:
    """What the semidefinite proof of a dense subgraph does, too."""
    from flipwise.bounds.hypermetric import violated_triangles

    violated_triangles(np.eye(6) * 1.2 - 0.2, 5, -1.0)


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
    for x in (np.ones(n), np.ones(n, dtype=np.int8)):
        sparse.csr_gradient(A.indptr, A.indices, A.data, x, np.zeros(n), np.empty(n))


def _bisect_steps() -> Iterator[Step]:
    """What bisections and partitions compile."""
    from flipwise.cuts.api import bisect, partition

    for W in (abs(sparse_glass(200, 5)), 0.3 * sparse_glass(200, 5), *graphs()):
        yield partial(bisect, W, seed=0, effort=0.2)
        yield partial(partition, W, 4, seed=0, effort=0.1)


def _subgraph_steps() -> Iterator[Step]:
    """What dense subgraphs compile."""
    from flipwise.densest.api import densest_subgraph

    for graph in graphs():
        yield partial(densest_subgraph, graph, 7, seed=0, effort=0.02, bound="none")  # a proof would spare the search
        yield partial(densest_subgraph, graph, 7, seed=0, effort=0.02)
        yield partial(densest_subgraph, graph)
        yield partial(_search_on, graph)
    yield _look_for_triangles
    yield from _file_steps()


def _search_on(graph: Any) -> None:
    """What a search for dense subgraphs does on harder graphs: exchanges of cliques, longer proofs."""
    from flipwise.densest.bounds import positive_edges, split_in_halves
    from flipwise.densest.cliques import find_clique
    from flipwise.densest.core import core_above, whole_core
    from flipwise.densest.pairs import PairProgramme
    from flipwise.densest.subset import Subset, clique_exchanges

    list(clique_exchanges(Subset.of(graph, np.arange(graph.n) < 7), np.ones(graph.n), 1e9))
    core_above(whole_core(graph), 1.0)
    find_clique(whole_core(graph), 3, np.random.default_rng(0), lambda: None, 1.0)
    shares = split_in_halves(graph.n, positive_edges(whole_core(graph)))
    shares.balance(1)
    PairProgramme(whole_core(graph), 7).run(1)


def _file_steps() -> Iterator[Step]:
    """What reading files compiles."""
    files = {
        "plain.txt": b"0 1\n1 2\n2 0\n",
        "weighted.txt": b"0 1 0.5\n1 2 1.5\n2 0 2.5\n",
        "named.txt": b"a b\nb c\nc a\n",
        "weighted.csv": b"from,to,weight\na,b,0.5\nb,c,1.5\n",
        "rows.metis": b"3 3\n2 3\n1 3\n1 2\n",
    }
    for name, content in files.items():
        yield partial(read_files, {name: content})


def _hash_steps() -> Iterator[Step]:
    """What hashing compiles."""
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
    "minimize": _minimize_steps,
    "qubo": _qubo_steps,
    "maxcut": _maxcut_steps,
    "bisect": _bisect_steps,
    "subgraph": _subgraph_steps,
    "hash": _hash_steps,
    "files": _file_steps,
}
"""The jobs by name: what a user runs."""
