"""Arcs into the simple symmetric graph."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from flipwise import InvalidInput
from flipwise.graphs.convert import as_graph
from flipwise.graphs.graph import ArcBlock, build_graph
from flipwise.kernels.jit import threads

ARCS = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11), st.integers(-3, 3)), max_size=60)


def _dense(n: int, arcs: list[tuple[int, int, float]], rule: str) -> np.ndarray:
    """The definition: all arcs between two different nodes, by maximum or sum."""
    found: dict[tuple[int, int], list[float]] = {}
    for i, j, w in arcs:
        if i != j:
            found.setdefault((min(i, j), max(i, j)), []).append(w)
    W = np.zeros((n, n))
    for (i, j), weights in found.items():
        W[i, j] = W[j, i] = max(weights) if rule == "max" else sum(weights)
    return W


@pytest.mark.kernels
@given(arcs=ARCS, rule=st.sampled_from(["max", "sum"]), weighted=st.booleans(), cut=st.integers(0, 60))
def test_matches_the_definition(arcs, rule, weighted, cut) -> None:  # type: ignore[no-untyped-def]
    """Any arcs, in any number of blocks, give the matrix of the definition with ascending rows."""
    arcs = [(i, j, float(w) if weighted else 1.0) for i, j, w in arcs]
    blocks = []
    for part in (arcs[:cut], arcs[cut:]):
        columns = [np.array([a[c] for a in part], dtype=float) for c in range(3)]
        weights = columns[2] if weighted else None
        blocks.append(ArcBlock(columns[0].astype(np.int64), columns[1].astype(np.int64), weights))
    graph = build_graph(12, blocks, symmetrise=rule)
    assert np.array_equal(graph.to_scipy().toarray(), _dense(12, arcs, rule))
    for i in range(12):
        row = graph.indices[graph.indptr[i] : graph.indptr[i + 1]]
        assert (np.diff(row) > 0).all()
    assert graph.indices.dtype == np.int32 and graph.indptr.dtype == np.int64
    assert graph.weights is None or (graph.weights != 1).any()


def test_sums_that_no_number_holds_are_refused() -> None:
    """Weights near the largest number: their maximum is a graph, their sum an error rather than inf."""
    arcs = (np.array([0, 1]), np.array([1, 0]), np.array([1e308, 1e308]))
    assert build_graph(2, [ArcBlock(*arcs)]).weights is not None
    with pytest.raises(InvalidInput, match="beyond the largest number"):
        build_graph(2, [ArcBlock(*arcs)], symmetrise="sum")


def test_sums_are_symmetric_to_the_last_bit() -> None:
    """Both rows of an edge add its arcs in the same order."""
    rng = np.random.default_rng(0)
    arcs = ArcBlock(rng.integers(0, 30, 4000), rng.integers(0, 30, 4000), rng.standard_normal(4000))
    W = build_graph(30, [arcs], symmetrise="sum").to_scipy().toarray()
    assert np.array_equal(W, W.T)


def test_notes_say_what_was_done() -> None:
    """Loops, repeats, opposite and single arcs are counted."""
    arcs = ArcBlock(np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 0, 2, 0, 0]))
    assert build_graph(3, [arcs]).notes == (
        "6 arcs read: 1 self loop dropped, 1 repeated arc merged, 1 pair of opposite arcs joined, "
        "2 single arcs mirrored.",
    )


@pytest.mark.parametrize(
    ("pairs", "fault"),
    [
        ([(0, 0), (0, 1)], "1 self loops"),
        ([(0, 1), (0, 1)], "1 repeated arcs"),
        ([(0, 1), (1, 0), (1, 2)], "1 arcs without a reverse"),
    ],
)
def test_error_repairs_nothing(pairs, fault) -> None:  # type: ignore[no-untyped-def]
    """symmetrise="error" refuses loops, repeats and partly directed input."""
    with pytest.raises(InvalidInput, match=fault):
        as_graph((3, pairs), symmetrise="error")


@pytest.mark.parametrize("pairs", [[(0, 1), (1, 2)], [(0, 1), (1, 0), (1, 2), (2, 1)], []])
def test_error_accepts_both_conventions(pairs) -> None:  # type: ignore[no-untyped-def]
    """Every edge once, or every edge in both directions, is a simple undirected graph."""
    assert as_graph((3, pairs), symmetrise="error").n_edges == len({frozenset(p) for p in pairs})


def test_threads_do_not_matter() -> None:
    """One thread and two give the same arrays."""
    rng = np.random.default_rng(1)
    columns = rng.integers(0, 5000, (2, 200_000)), rng.standard_normal(200_000)
    graphs = []
    for count in (1, 2):
        with threads(count):
            graphs.append(build_graph(5000, [ArcBlock(*columns[0], columns[1])], symmetrise="sum"))
    assert all(np.array_equal(getattr(graphs[0], f), getattr(graphs[1], f)) for f in ("indptr", "indices", "weights"))


def test_large_random_graph_is_networkx_and_scipy() -> None:
    """The compiled tier agrees with scipy's own union of A and A^T."""
    G = nx.gnm_random_graph(3000, 40_000, seed=2, directed=True)
    A = nx.to_scipy_sparse_array(G, dtype=float, format="csr")
    expected = sp.csr_array(A.maximum(A.T))
    expected.sort_indices()
    for graph in (as_graph(G), as_graph(A), as_graph((3000, list(G.edges)))):
        assert np.array_equal(graph.indptr, expected.indptr) and np.array_equal(graph.indices, expected.indices)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, [(0, 3)]), "node 3 is outside 0..2"),
        ((3, [(0, -1)]), "node -1 is outside"),
        ((3, [(0, 1, np.nan)]), "finite"),
        ((3, [[0.5, 1]]), "must be integers"),
        ((3, [[0, 1, 2, 3]]), "shape"),
        ((-1, []), "at least 0"),
    ],
)
def test_bad_arcs(arguments, message) -> None:  # type: ignore[no-untyped-def]
    """Nodes out of range and odd numbers are refused with the rule."""
    with pytest.raises(InvalidInput, match=message):
        as_graph(arguments)


def test_unknown_rule() -> None:
    """An unknown symmetrise is refused by name."""
    with pytest.raises(InvalidInput, match="`symmetrise`"):
        as_graph((2, []), symmetrise="min")  # type: ignore[arg-type]
