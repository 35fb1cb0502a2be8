"""Random cases on graphs in any container: cuts, partitions and dense subgraphs, judged exactly."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np

import flipwise
from tests.exactness import numbers, oracle
from tests.exactness.numbers import Drawn
from tests.exactness.oracle import BOUNDS, refused_or


def draw_graph(rng: np.random.Generator, n: int) -> tuple[Drawn, dict[tuple[int, int], Fraction]]:
    """A graph in a random container, and the weight of each of its edges i < j."""
    kind = str(rng.choice(["small", "wide", "halves", "gaussian", "mixed", "negative", "ties", "tiny", "huge", "dust"]))
    form = rng.random()
    arcs: list[tuple[int, int, Fraction]] = []
    if form < 0.5:
        drawn = numbers.draw_bad_matrix(rng, n) if rng.random() < 1 / 12 else numbers.draw_matrix(rng, n, kind)
        if drawn.must_refuse:
            return drawn, {}
        if isinstance(drawn.given, list):
            drawn.given = np.array(drawn.given)
        arcs = [(i, j, w) for i, row in enumerate(drawn.entries) for j, w in enumerate(row) if w]
        return drawn, merged(arcs)
    scale = numbers.draw_scale(rng, kind)
    number = int(rng.integers(0, n * n))
    ends = rng.integers(0, n, (number, 2))
    weights = np.array([numbers.draw_number(rng, kind) * scale for _ in range(number)])
    refusable = kind in ("tiny", "huge", "dust")
    if form < 0.8:
        if rng.random() < 0.3:
            weights = np.ones(number)
            table: Any = ends.astype(str(rng.choice(["int8", "uint8", "int64", ">i4", "uint64", "float64"])))
        else:
            table = (ends[:, 0], ends[:, 1], weights) if rng.random() < 0.5 else np.column_stack([ends, weights])
            if isinstance(table, np.ndarray) and rng.random() < 0.3:
                table = table.tolist()
        arcs = [(int(i), int(j), Fraction(float(w))) for (i, j), w in zip(ends, weights, strict=True)]
        return Drawn((n, table), [], f"edges {kind}", refusable), merged(arcs)
    graph: Any = nx.DiGraph() if rng.random() < 0.5 else nx.MultiGraph()
    graph.add_nodes_from(range(n))
    for (i, j), w in zip(ends.tolist(), weights.tolist(), strict=True):
        graph.add_edge(i, j, weight=w)
    arcs = [(i, j, Fraction(w)) for i, j, w in graph.edges(data="weight")]
    return Drawn(graph, [], f"{type(graph).__name__} {kind}", refusable), merged(arcs)


def merged(arcs: list[tuple[int, int, Fraction]]) -> dict[tuple[int, int], Fraction]:
    """The simple graph of these arcs: the largest weight of those between two nodes; without loops and zeros."""
    edges: dict[tuple[int, int], Fraction] = {}
    for i, j, w in arcs:
        if i != j:
            pair = min(i, j), max(i, j)
            edges[pair] = max(edges[pair], w) if pair in edges else w
    return {pair: w for pair, w in edges.items() if w}


def cut_of(edges: dict[tuple[int, int], Fraction], parts: Any) -> Fraction:
    """The weight of the edges between parts."""
    return sum((w for (i, j), w in edges.items() if parts[i] != parts[j]), Fraction(0))


def cut_case(rng: np.random.Generator) -> str:
    """`maxcut` and `bisect`."""
    n = int(rng.integers(2, 8))
    drawn, edges = draw_graph(rng, n)
    largest = rng.random() < 0.5
    bound = str(rng.choice(BOUNDS))
    name = f"{'maxcut' if largest else 'bisect'} {bound} {drawn.name}"
    function: Any = flipwise.maxcut if largest else flipwise.bisect
    options: dict[str, Any] = {"effort": 0.05}
    if largest and rng.random() < 0.3:
        options = {"method": "exact"}
    try:
        result = refused_or(drawn, lambda: function(drawn.given, bound=bound, seed=1, **options))
        if result is None:
            return f"{name}: refused"
        points = list(oracle.feasible_points(n, -1, None if largest else [0] * n, None if largest else [n // 2]))
        cuts = [cut_of(edges, x) for x in points]
        allowed = set(points) | {tuple(-e for e in x) for x in points}
        oracle.judge(
            result,
            lambda x: cut_of(edges, x),
            max(cuts) if largest else min(cuts),
            lambda x: tuple(x) in allowed,
            largest=largest,
        )
    except Exception as error:
        error.add_note(f"{name} {edges}")
        raise
    return f"{name}: solved"


def partition_case(rng: np.random.Generator) -> str:
    """`partition`, which proves no bound."""
    n = int(rng.integers(2, 8))
    drawn, edges = draw_graph(rng, n)
    first = int(rng.integers(1, n))
    sizes = [first, n - first] if n - first < 2 or rng.random() < 0.5 else [first, 1, n - first - 1]
    name = f"partition {sizes} {drawn.name}"
    try:
        result = refused_or(drawn, lambda: flipwise.partition(drawn.given, sizes, effort=0.05, seed=1))
        if result is None:
            return f"{name}: refused"
        assert np.bincount(result.parts, minlength=len(sizes)).tolist() == sizes
        assert oracle.is_rounded(result.value, cut_of(edges, result.parts.tolist()))
        assert result.bound is None or result.bound <= result.value
    except Exception as error:
        error.add_note(f"{name} {edges}")
        raise
    return f"{name}: solved"


def densest_case(rng: np.random.Generator) -> str:
    """`densest_subgraph`, for one k or all of them."""
    n = int(rng.integers(2, 8))
    drawn, edges = draw_graph(rng, n)
    k = int(rng.integers(1, n + 1))
    several = rng.random() < 0.2
    name = f"densest_subgraph {'1..' if several else ''}{k} {drawn.name}"
    options: dict[str, Any] = {"effort": 0.1}
    if rng.random() < 0.2:
        options = {"method": "exact"}
    try:
        given = list(range(1, k + 1)) if several else k
        results = refused_or(drawn, lambda: flipwise.densest_subgraph(drawn.given, given, seed=1, **options))
        if results is None:
            return f"{name}: refused"
        total = sum((abs(w) for w in edges.values()), Fraction(0))
        for result in results if several else [results]:
            size = result.k

            def density(nodes: Any, size: int = size) -> Fraction:
                chosen = set(nodes)
                return sum((2 * w for (i, j), w in edges.items() if i in chosen and j in chosen), Fraction(0)) / size

            best = max(density(nodes) for nodes in combinations(range(n), size))
            assert len(result.nodes) == size
            oracle.judge(
                result,
                lambda x: density([i for i, e in enumerate(x) if e == 1]),
                best,
                lambda x, size=size: sum(x) == size and set(x) <= {0, 1},  # type: ignore[misc]
                largest=True,
                slack=Fraction(2) ** -49 * total / size,
            )
    except Exception as error:
        error.add_note(f"{name} {edges}")
        raise
    return f"{name}: solved"
