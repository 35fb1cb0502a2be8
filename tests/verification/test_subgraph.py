"""Certificates of dense subgraphs: every kind proves its bound, and nothing that was changed is believed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import flipwise
from flipwise.densest.bounds import CoreLoads, SubgraphBounds, add_cheap_bounds, balanced_loads
from flipwise.densest.certifying import bipartite_proof, certificate_of, square_proof
from flipwise.densest.core import core_above, weight_matrix, whole_core
from flipwise.densest.pairs import pair_bound
from flipwise.densest.semidefinite import Relaxation
from flipwise.densest.whole import weight_range, weight_unit
from flipwise.engine.certificate import Certificate, graph_hash
from flipwise.graphs.convert import as_graph
from flipwise.graphs.graph import Graph

N, K = 14, 5


def graph_of(kind: str) -> Graph:
    """With a dense part and a fringe of little degree."""
    rng = np.random.default_rng(4)
    edges = [(i, j) for i, j in combinations(range(9), 2) if rng.random() < 0.75]
    edges += [(i, int(rng.integers(0, 9))) for i in range(9, N)]
    if kind == "sides":
        edges = [(i, j) for i in range(7) for j in range(7, N) if rng.random() < 0.8]
    weights = {
        "plain": None,
        "sides": None,
        "whole": rng.integers(1, 9, len(edges)),
        "real": rng.normal(1, 1, len(edges)),
    }
    own = weights[kind]
    return as_graph((N, np.array(edges) if own is None else np.column_stack([np.array(edges, dtype=float), own])))


def bounds_of(graph: Graph) -> Iterator[tuple[str, SubgraphBounds]]:
    """Each kind of bound by itself."""
    core, unit = whole_core(graph), weight_unit(graph)
    for each in (core, core_above(core, 1.0)):
        bounds, loads = SubgraphBounds(K, unit), balanced_loads(each, [K])
        add_cheap_bounds(bounds, each, CoreLoads(each, loads), weight_range(graph)[1])
        found = pair_bound(each, K, 1e9, 0.0, most_work=3e4)
        bounds.add("pairs", found.bound, found.proof)
        for name in bounds.known:
            yield name, SubgraphBounds(K, unit, {name: bounds.known[name]}, bounds.proofs)
    relaxation = Relaxation(weight_matrix(graph), K)
    relaxation.run(60)
    relaxation.tighten()
    relaxation.run(30)
    known = relaxation.certificate(keep=True)
    assert known is not None
    square = square_proof(core, N, known, K)
    bounds = SubgraphBounds(K, unit)
    bounds.add("semidefinite", known.bound(K), lambda: square)
    yield "semidefinite", bounds


def densest(graph: Graph) -> float:
    W = graph.to_scipy().toarray()
    return max(float(W[np.ix_(nodes, nodes)].sum()) / K for nodes in map(list, combinations(range(N), K)))


def changed(proof: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The proof with one entry of an array changed a little, or left out."""
    for name, value in proof.items():
        if not isinstance(value, np.ndarray):
            yield {**proof, name: value - 1}
            continue
        flat = value.reshape(-1)
        for at in sorted({0, flat.size // 2, flat.size - 1}) if flat.size else ():
            for step in (1, -1, max(1, int(np.abs(flat).max()) // 100)):
                other = flat.copy()
                other[at] -= step
                yield {**proof, name: other.reshape(value.shape)}
        yield {**proof, name: value[:-1]}


def refusals(graph: Graph, certificate: Certificate) -> tuple[int, int]:
    """How many changed proofs are refused, and how many there are."""
    refused = tried = 0
    for proof in changed(certificate.proof):
        tried += 1
        try:
            assert flipwise.verify(graph, replace(certificate, proof=proof)) == certificate.bound
        except flipwise.InvalidCertificate:
            refused += 1
    return refused, tried


@pytest.mark.parametrize("kind", ["plain", "whole", "real"])
def test_every_kind_is_verified(kind: str) -> None:
    """The bound holds by brute force, is what is claimed, and no better one is believed."""
    graph, seen = graph_of(kind), set()
    for name, bounds in bounds_of(graph):
        claimed = bounds.density(bounds.best[1])
        certificate = certificate_of(graph, bounds, claimed)
        assert certificate is not None and certificate.kind == name
        assert certificate.bound == pytest.approx(claimed, rel=2e-9) and certificate.bound >= densest(graph) - 1e-9
        assert flipwise.verify(graph, certificate) == certificate.bound
        with pytest.raises(flipwise.InvalidCertificate, match="claims"):
            flipwise.verify(graph, replace(certificate, bound=claimed * (1.0 - 1e-6)))
        refused, tried = refusals(graph, certificate)
        assert not tried or refused > 0
        seen.add(name)
    assert seen >= {"clique", "loads", "pairs", "semidefinite"} and ("order" in seen) == (kind == "plain")


def test_two_sides_and_all_sets() -> None:
    """Sides are checked edge by edge, small graphs enumerated."""
    graph = graph_of("sides")
    bounds = SubgraphBounds(K, 1.0)
    bounds.add("bipartite", K**2 // 4, lambda: bipartite_proof(graph))
    certificate = certificate_of(graph, bounds, bounds.density(K**2 // 4))
    assert certificate is not None and flipwise.verify(graph, certificate) == certificate.bound
    assert refusals(graph, certificate)[0] > 0
    for kind in ("plain", "real"):
        graph = graph_of(kind)
        result = flipwise.densest_subgraph(graph, K, seed=0)
        assert result.certificate is not None and result.certificate.kind == "exact"
        assert flipwise.verify(graph, result.certificate) == result.bound == pytest.approx(densest(graph), rel=1e-12)


def forged(kind: str, bound: float, proof: dict[str, Any]) -> tuple[Graph, Certificate]:
    """A false bound for three nodes of a graph whose triangle has density 2."""
    graph = as_graph((5, [[0, 1], [1, 2], [0, 2], [2, 3], [3, 4]]))
    problem = {"n": 5, "k": 3, "hash": graph_hash(graph.indptr, graph.indices, graph.weights)}
    return graph, Certificate("subgraph", kind, bound, problem, proof)


def test_more_sides_than_two_are_none() -> None:
    """Any graph has no edge inside a side where every node has a side of its own."""
    for side in (np.arange(5), np.array([0, 1, 2, 0, 1]), np.array([0, 1, -1, 0, 1])):
        with pytest.raises(flipwise.InvalidCertificate, match="sides"):
            flipwise.verify(*forged("bipartite", 4 / 3, {"side": side}))


@pytest.mark.parametrize("changed", ["share", "credit", "price"])
def test_sums_beyond_64_bits_are_refused(changed: str) -> None:
    """Four times 2^62 is 0 for NumPy, and a price of 2^61 for each of two others is negative."""
    ends = {"first": np.array([0, 1, 0, 2, 3]), "second": np.array([1, 2, 2, 3, 4])}
    numbers = {name: np.zeros(5, dtype=np.int64) for name in ("share", "credit", "price")}
    for large in (2**62, 2**61, 2**63 - 1):
        numbers[changed] = np.array([large, large, large, large, 0])
        for bound in (0.0, 4 / 3):
            proof = {"exponent": 0, "nodes": np.arange(5), "cap": 0, **ends, **numbers}
            with pytest.raises(flipwise.InvalidCertificate):
                flipwise.verify(*forged("pairs", bound, proof))


def test_another_graph_or_k_is_refused(tmp_path: Any) -> None:
    """A certificate is of one graph and one k; profiles hold one for each k that has one."""
    graph = graph_of("whole")
    result = flipwise.densest_subgraph(graph, K, seed=0)
    assert result.certificate is not None
    result.certificate.save(tmp_path / "proof")
    assert flipwise.verify(graph, tmp_path / "proof", k=K) == flipwise.verify(graph, tmp_path / "proof") == result.bound
    with pytest.raises(flipwise.InvalidCertificate, match="k = 4"):
        flipwise.verify(graph, tmp_path / "proof", k=4)
    with pytest.raises(flipwise.InvalidCertificate, match="another graph"):
        flipwise.verify(graph_of("plain"), tmp_path / "proof")
    with pytest.raises(flipwise.InvalidCertificate):
        flipwise.verify(graph, replace(result.certificate, problem={**result.certificate.problem, "k": K + 1}))
    for each in flipwise.densest_subgraph(graph, [3, 4, 5], seed=0):
        assert each.certificate is None or flipwise.verify(graph, each.certificate) == each.bound


@pytest.mark.parametrize(
    ("name", "entry"),
    [("multipliers", -1), ("corners", N + 1), ("corners", -1), ("corners", "twice"), ("signs", 0), ("signs", "two")],
)
def test_triangles_that_are_none_are_refused(name: str, entry: Any) -> None:
    """Multipliers below 0, corners that are no nodes or no three, and signs whose product is not 1."""
    graph = graph_of("plain")
    bounds = next(found for kind, found in bounds_of(graph) if kind == "semidefinite")
    certificate = certificate_of(graph, bounds, bounds.density(bounds.best[1]))
    assert certificate is not None and flipwise.verify(graph, certificate) == certificate.bound
    forged = certificate.proof[name].copy()
    if name == "multipliers":
        forged[0] = entry
    elif entry == "twice":
        forged[0, 1] = forged[0, 0]
    elif entry == "two":
        forged[0] *= -1
    else:
        forged[0, 0] = entry
    with pytest.raises(flipwise.InvalidCertificate, match=r"triangle|multipliers"):
        flipwise.verify(graph, replace(certificate, proof={**certificate.proof, name: forged}))
