"""Dense blocks and directed dense subgraphs: against all blocks of small matrices, and their own rules."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import flipwise
from flipwise.densest.block_bounds import LoadBound, simple_block_bounds
from flipwise.densest.shapes import ShapeSearch
from flipwise.densest.twosided import TwoSided
from flipwise.foundation.errors import InvalidFile, InvalidInput


def random_matrix(rows: int, columns: int, seed: int, kind: str = "plain") -> np.ndarray:
    """A matrix with some zeros."""
    rng = np.random.default_rng(seed)
    B = (rng.random((rows, columns)) < rng.choice([0.2, 0.5, 0.8])).astype(float)
    if kind == "whole":
        B *= rng.integers(1, 5, B.shape)
    elif kind == "real":
        B *= rng.random(B.shape)
    elif kind == "signed":
        B *= rng.integers(-3, 5, B.shape)
    return B


def heaviest_blocks(B: np.ndarray) -> dict[tuple[int, int], float]:
    """The weight of the heaviest block of each shape."""
    found: dict[tuple[int, int], float] = {}
    for a in range(1, B.shape[0] + 1):
        for S in combinations(range(B.shape[0]), a):
            for b, weight in enumerate(np.cumsum(np.sort(B[list(S)].sum(axis=0))[::-1]), 1):
                found[a, b] = max(found.get((a, b), -math.inf), float(weight))
    return found


shapes = st.integers(1, 7), st.integers(1, 7), st.integers(0, 10**6)


@settings(max_examples=30)
@given(*shapes, st.sampled_from(["plain", "whole", "real"]))
def test_any_size_is_the_best_of_all_blocks(rows: int, columns: int, seed: int, kind: str) -> None:
    """The density of all blocks of small matrices; with whole weights it is proven."""
    B = random_matrix(rows, columns, seed, kind)
    best = max(weight / math.sqrt(a * b) for (a, b), weight in heaviest_blocks(B).items())
    found = flipwise.densest_block(B)
    assert found.density == pytest.approx(best, rel=1e-9, abs=1e-12)
    assert found.bound is not None and best * (1 - 1e-15) <= found.bound <= best * (1 + 2e-6) + 1e-12
    assert found.optimal or kind == "real"
    assert found.weight == pytest.approx(B[np.ix_(found.rows, found.columns)].sum())


@settings(max_examples=30)
@given(*shapes, st.sampled_from(["plain", "whole", "real", "signed"]), st.floats(0, 1), st.floats(0, 1))
def test_given_sizes_against_all_blocks(rows: int, columns: int, seed: int, kind: str, p: float, q: float) -> None:
    """The optimum is found, no bound is below it, also without the comparison of all sets."""
    B = random_matrix(rows, columns, seed, kind)
    a, b = 1 + int(p * (rows - 1)), 1 + int(q * (columns - 1))
    best = heaviest_blocks(B)[a, b]
    found = flipwise.densest_block(B, a, b, seed=0)
    assert (len(found.rows), len(found.columns)) == found.shape == (a, b)
    assert found.weight == pytest.approx(best, rel=1e-12, abs=1e-12)
    assert found.bound is not None and found.bound >= best / math.sqrt(a * b) - 1e-15 * abs(best)
    assert found.optimal or kind == "real"
    sides = TwoSided.of(sp.csr_array(B))
    loads = LoadBound(sides, a, b)
    for most in (*simple_block_bounds(sides, a, b).values(), *(loads.at(p, q, 0.0) for p, q in ((1, 1), (5, 2)))):
        assert most >= best - 1e-12
    loads.cuts = True
    assert loads.at(2, 3, max(best, 0.0)) >= best - 1e-12


@settings(max_examples=15)
@given(st.integers(2, 6), st.integers(0, 10**6))
def test_cells_of_shapes_find_and_prove_what_pairs_of_sizes_do(n: int, seed: int) -> None:
    """As on large matrices: cells first, and the few pairs of sizes that are left at the end."""
    B = random_matrix(n, n + 1, seed, "whole")
    best = flipwise.densest_block(B)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("flipwise.densest.shapes.MOST_SIZES", 0)
        cells = flipwise.densest_block(B)
        assert cells.density == best.density and best.density <= cells.bound <= best.density * (1 + 2e-6)
        patch.setattr(ShapeSearch, "__post_init__", _with_cells(ShapeSearch.__post_init__))
        assert flipwise.densest_block(B).bound == best.density


def _with_cells(begin):  # type: ignore[no-untyped-def]
    """A search that begins with cells and may keep all sizes at its end."""

    def begun(self: ShapeSearch) -> None:
        begin(self)
        import flipwise.densest.shapes as home

        home.MOST_SIZES = 10_000

    return begun


@settings(max_examples=20)
@given(st.integers(2, 6), st.integers(0, 10**6))
def test_directed_graphs_against_all_pairs_of_sets(n: int, seed: int) -> None:
    """Kannan and Vinay's density; self loops do not count."""
    B = random_matrix(n, n, seed)
    found = flipwise.densest_directed_subgraph(B)
    np.fill_diagonal(B, 0.0)
    best = max(weight / math.sqrt(a * b) for (a, b), weight in heaviest_blocks(B).items())
    assert found.density == pytest.approx(best) and found.optimal
    assert found.sources == found.rows and found.targets == found.columns


def test_a_hidden_block_is_found_with_its_bound() -> None:
    """By its sizes, and without them; the bound meets it."""
    rng = np.random.default_rng(3)
    B = (rng.random((400, 300)) < 0.02).astype(float)
    B[40:70, 100:112] = rng.random((30, 12)) < 0.8
    for found in (flipwise.densest_block(B), flipwise.densest_block(B, 30, 12, seed=0)):
        assert found.optimal
        assert set(found.rows) >= set(range(40, 70)) and set(found.columns) >= set(range(100, 112))
    assert flipwise.densest_block(B, 25, 20, seed=0, effort=0.2).gap < 0.2
    assert flipwise.densest_block(B, 5, 5, seed=0, bound="none", effort=0.1).bound is None


def test_the_doors(tmp_path: Path) -> None:
    """Tables, files and graphs keep the direction of arcs and the two kinds of nodes apart."""
    arcs = [("a", "b"), ("a", "c"), ("d", "b"), ("d", "c"), ("b", "a")]
    path = tmp_path / "arcs.csv"
    path.write_text("source,target\n" + "".join(f"{u},{v}\n" for u, v in arcs))
    for graph in (path, nx.DiGraph(arcs)):
        found = flipwise.densest_directed_subgraph(graph)
        assert (sorted(found.sources), sorted(found.targets), found.density) == (["a", "d"], ["b", "c"], 2.0)
    turned = flipwise.densest_directed_subgraph(nx.DiGraph(arcs).reverse())
    assert (sorted(turned.sources), sorted(turned.targets)) == (["b", "c"], ["a", "d"])
    path = tmp_path / "bought.txt"  # the same numbers for accounts and for products
    path.write_text("1 1\n1 2\n2 1\n2 2\n3 7\n")
    block = flipwise.densest_block(path)
    assert (block.rows, block.columns, block.optimal) == ([1, 2], [1, 2], True)
    assert any("2 names stand in both" in note for note in block.notes)
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"account": ["x", "x", "y", "y"], "item": ["p", "q", "p", "q"], "n": [1, 2, 3, 4]})
    block = flipwise.densest_block(table, names=("account", "item", "n"))
    assert (block.rows, block.columns, block.weight) == (["x", "y"], ["p", "q"], 10.0)
    sides = nx.complete_bipartite_graph(2, 3)
    assert flipwise.densest_block(sides).shape == (2, 3)
    matrix = tmp_path / "m.mtx"
    import scipy.io

    scipy.io.mmwrite(matrix, sp.coo_array(np.ones((2, 5))))
    assert flipwise.densest_block(matrix).shape == (2, 5)
    again = tmp_path / "result.bin"
    block.save(again)
    assert flipwise.DenseBlock.load(again).rows == ["x", "y"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: flipwise.densest_block(np.ones((3, 3)), 2), "`columns` is missing"),
        (lambda: flipwise.densest_block(np.ones((3, 3)), 4, 1), "`rows` must be an integer from 1 to 3"),
        (lambda: flipwise.densest_block(-np.ones((3, 3))), "not negative"),
        (lambda: flipwise.densest_block(np.ones((3, 0))), "no entries"),
        (lambda: flipwise.densest_block(np.ones((3, 3)), bound="best"), "`bound`"),
        (lambda: flipwise.densest_block(nx.path_graph(3)), "bipartite"),
        (lambda: flipwise.densest_block("abc"), "existing file"),
        (lambda: flipwise.densest_directed_subgraph(np.ones((3, 2))), "square"),
        (lambda: flipwise.densest_directed_subgraph(nx.path_graph(3)), "must be directed"),
        (lambda: flipwise.densest_block(np.ones((3, 3)), 1, 1, start=([7], [0])), "7 is none of them"),
    ],
)
def test_bad_input(call, message: str) -> None:  # type: ignore[no-untyped-def]
    """One clear error before any work."""
    with pytest.raises(InvalidInput, match=message):
        call()


def test_files_without_arcs_are_refused(tmp_path: Path) -> None:
    """Formats in which the direction of an edge is not read say how to go on."""
    path = tmp_path / "g.graphml"
    nx.write_graphml(nx.path_graph(3), path)
    with pytest.raises(InvalidFile, match="networkx"):
        flipwise.densest_directed_subgraph(path)
