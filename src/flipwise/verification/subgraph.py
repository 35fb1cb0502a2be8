"""Certificates of dense subgraphs: from the user's graph to an upper bound on E(S), the weight inside k nodes.

All numbers are integers on a grid of 2^exponent, to which weights are rounded up (the shares of an edge must cover it).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.engine.certificate import Certificate, graph_hash
from flipwise.graphs.graph import Graph
from flipwise.verification.integers import is_semidefinite, least_energy
from flipwise.verification.refusing import claim, whole

MOST_ENUMERATED = 24
LARGEST = 2**62
Whole = npt.NDArray[np.int64]


def proven_weight(graph: Graph, certificate: Certificate) -> Fraction:
    """What no k nodes have more weight than, by the certificate; refused where it proves nothing of this graph."""
    known = certificate.problem
    own = known.get("n") == graph.n and known.get("hash") == graph_hash(graph.indptr, graph.indices, graph.weights)
    claim(own, "it is of another graph")
    k = whole(known["k"], 1, graph.n)
    claim(certificate.kind in _KINDS, f"dense subgraphs have no proof of the kind {certificate.kind!r:.40}")
    weight = _KINDS[certificate.kind](_Edges(graph), k, certificate.proof)
    unit = _unit_of_weights(graph)
    if unit:
        weight = weight // unit * unit
    return weight


class _Edges:
    """Each edge once, its first end below its second."""

    def __init__(self, graph: Graph) -> None:
        rows = np.repeat(np.arange(graph.n), np.diff(graph.indptr))
        once = rows < graph.indices
        self.n, self.graph = graph.n, graph
        self.first, self.second = rows[once].astype(np.int64), graph.indices[once].astype(np.int64)
        self.weights = np.ones(self.first.size) if graph.weights is None else np.asarray(graph.weights)[once]

    @property
    def largest(self) -> Fraction:
        """The largest weight of a pair; pairs without an edge have 0."""
        every_pair = 2 * self.first.size == self.n * (self.n - 1)
        most = max(map(Fraction, self.weights.tolist()), default=Fraction())
        return most if every_pair else max(most, Fraction())

    def on_grid(self, exponent: int) -> Whole:
        """The weights, negative ones left out, rounded up to multiples of 2^exponent."""
        grid = np.ceil(np.ldexp(np.maximum(self.weights, 0.0), -exponent))
        claim(bool(np.isfinite(grid).all()) and float(grid.sum()) < LARGEST, "its grid is too fine")
        return grid.astype(np.int64)


def _unit_of_weights(graph: Graph) -> Fraction:
    """What every weight of a set is a multiple of; 0 where that is not worth the name."""
    if graph.weights is None:
        return Fraction(1)
    values = [Fraction(w) for w in np.unique(graph.weights).tolist()]
    common = math.lcm(*(w.denominator for w in values))
    return Fraction(math.gcd(*(int(w * common) for w in values)), common)


# --- kinds -----------------------------------------------------------------------------------------------------------


def _clique(edges: _Edges, k: int, proof: dict[str, Any]) -> Fraction:
    """k (k - 1) / 2 pairs of the largest weight."""
    return k * (k - 1) // 2 * edges.largest


def _bipartite(edges: _Edges, k: int, proof: dict[str, Any]) -> Fraction:
    """a b <= k^2 / 4 pairs between two sides."""
    side = _integer_array(proof["side"], edges.n)
    claim(bool(((side == 0) | (side == 1)).all()), "there are more sides than two")
    claim(bool((side[edges.first] != side[edges.second]).all()), "an edge is inside a side")
    return k**2 // 4 * max(edges.largest, Fraction())


def _exact(edges: _Edges, k: int, proof: dict[str, Any]) -> Fraction:
    """All sets: with s = 2x - 1, 4 w x_i x_j = w (1 + s_i + s_j + s_i s_j)."""
    claim(edges.n <= MOST_ENUMERATED, f"more than {MOST_ENUMERATED} nodes are not enumerated")
    weights = [Fraction(w) for w in edges.weights.tolist()]
    common = math.lcm(*(w.denominator for w in weights), 1)
    J = np.zeros((edges.n + 1, edges.n + 1), dtype=object)
    total = 0
    for i, j, w in zip(edges.first.tolist(), edges.second.tolist(), weights, strict=True):
        c = int(w * common)
        total += c
        for p, q in ((i, j), (i, edges.n), (j, edges.n)):
            J[p, q] -= c
            J[q, p] -= c
    return Fraction(total - least_energy(J, k), 4 * common)


def _order(edges: _Edges, k: int, proof: dict[str, Any]) -> Fraction:
    """In an order of the nodes each edge belongs to its earlier end; t members come after the (t+1)-th from the end."""
    claim(edges.graph.weights is None, "an order is a proof without weights only")
    inside, cap = _core_of_proof(edges, edges.on_grid(0), proof)
    order = _integer_array(proof["order"])
    claim(order.size == int(inside.sum()) and np.array_equal(np.sort(order), np.flatnonzero(inside)), "it is no order")
    place = np.zeros(edges.n, dtype=np.int64)
    place[order] = np.arange(order.size)
    both = inside[edges.first] & inside[edges.second]
    first, second = edges.first[both], edges.second[both]
    later = np.bincount(np.where(place[first] < place[second], first, second), minlength=edges.n)
    owned = np.where(inside, np.maximum(later, cap), cap)
    most = np.sort(owned)[edges.n - k :]
    return Fraction(int(np.minimum(np.arange(k), most).sum()))


def _loads(edges: _Edges, k: int, proof: dict[str, Any]) -> Fraction:
    """Each edge is split between its ends; a set has no more weight than its members carry."""
    exponent = whole(proof["exponent"], -2000, 2000)
    weights = edges.on_grid(exponent)
    inside, cap = _core_of_proof(edges, weights, proof)
    pair, _ = _numbered_pairs(edges, proof)
    both = inside[edges.first] & inside[edges.second] & (weights > 0)
    keys = edges.first[both] * edges.n + edges.second[both]
    order, own = np.argsort(keys), np.argsort(pair)
    claim(np.array_equal(keys[order], pair[own]), "its edges are not those of the graph")
    whole_weight = np.empty(pair.size, dtype=np.int64)
    whole_weight[own] = weights[both][order]
    first, second, share = (_integer_array(proof[name], pair.size) for name in ("first", "second", "share"))
    claim(bool(((share >= 0) & (share <= whole_weight)).all()), "a share is more than there is")
    loads = np.zeros(edges.n, dtype=np.int64)
    np.add.at(loads, first, share)
    np.add.at(loads, second, whole_weight - share)
    return _sum_of_largest(np.where(inside, loads, 0), k, cap) * Fraction(2) ** exponent


def _credits(edges: _Edges, k: int, proof: dict[str, Any]) -> Fraction:
    """E(S) <= sum p + sum over members of (what they carry of w - v_i - v_j + p, plus (k-1) v_i, less their p).

    Every member meets k - 1 others, and p x_i x_j >= p (x_i + x_j - 1) for every pair.
    """
    exponent = whole(proof["exponent"], -2000, 2000)
    weights = edges.on_grid(exponent)
    inside, cap = _core_of_proof(edges, weights, proof)
    pair, (first, second) = _numbered_pairs(edges, proof)
    share, credit = (_integer_array(proof[name], pair.size) for name in ("share", "credit"))
    price = np.zeros(edges.n, dtype=np.int64)
    price[inside] = _integer_array(proof["price"], int(inside.sum()))
    claim(bool((price >= 0).all() and (credit >= 0).all() and (share >= 0).all()), "a number of it is negative")
    sizes = (2.0 * weights.sum(dtype=float), 4.0 * credit.sum(dtype=float), share.sum(dtype=float))
    # in floating point, which does not begin anew at 2^63
    claim(sum(sizes) + float(k) * price.sum(dtype=float) < LARGEST, "its grid is too fine")
    both = inside[edges.first] & inside[edges.second] & (weights > 0)
    keys = edges.first[both] * edges.n + edges.second[both]
    order = np.argsort(keys)
    at = np.searchsorted(keys[order], pair)
    at = np.minimum(at, max(0, keys.size - 1))
    is_edge = keys[order][at] == pair if keys.size else np.zeros(pair.size, dtype=bool)
    claim(int(is_edge.sum()) == keys.size, "an edge is missing")
    w = np.where(is_edge, weights[both][order][at], 0) if keys.size else np.zeros(pair.size, dtype=np.int64)
    need = w - price[first] - price[second] + credit
    loads = np.where(inside, (k - 1) * price, 0)
    np.add.at(loads, first, share - credit)
    np.add.at(loads, second, np.maximum(need - share, 0) - credit)
    return (int(credit.sum()) + _sum_of_largest(loads, k, cap)) * Fraction(2) ** exponent


def _square(edges: _Edges, k: int, proof: dict[str, Any]) -> Fraction:
    """2 E(S) <= S_00 + sum over members of (2 S_0i + S_ii + (k-1) v_i + sum_j of the positive w + S - (v_i + v_j)/2).

    S is positive semidefinite, so that y'Sy >= 0 for y = (1, x); it is about all nodes. Triangles come to that: with
    s_0 = 1 and s_i = 2 x_i - 1, a s_i s_j + b s_i s_k + c s_j s_k >= -1 where abc = 1. P has the multipliers by pairs.
    """
    exponent, n = whole(proof["exponent"], -2000, 2000), edges.n
    claim(np.array_equal(_integer_array(proof["nodes"]), np.arange(n)), "it is not about all nodes")
    S, v = _integer_array(proof["square"]), _integer_array(proof["price"], n)
    claim(S.shape == (n + 1, n + 1) and np.array_equal(S, S.T), "its matrix is none")
    claim(max(int(np.abs(S).max()), int(np.abs(v).max(initial=0))) < LARGEST // (8 * n * n), "its grid is too fine")
    claim(is_semidefinite(S.astype(object)), "its matrix is not positive semidefinite")
    double = 2 * S[1:, 1:] - v[:, None] - v[None, :]
    grid = np.ceil(np.ldexp(edges.weights, -exponent))
    claim(bool((np.abs(grid) < LARGEST // (8 * n)).all()), "its grid is too fine")
    np.add.at(double, (edges.first, edges.second), 2 * grid.astype(np.int64))
    np.add.at(double, (edges.second, edges.first), 2 * grid.astype(np.int64))
    P, total = _triangles(proof, n)
    inner, first = P[1:, 1:], P[0, 1:]
    double += 4 * inner
    np.maximum(double, 0, out=double)
    np.fill_diagonal(double, 0)
    sums = 4 * S[0, 1:] + 2 * S.diagonal()[1:] + 2 * (k - 1) * v + double.sum(axis=1)
    sums += 4 * (first - inner.sum(axis=1))
    chosen = np.sort(sums)[n - k :]
    constant = 2 * int(S[0, 0]) + 2 * total + int(inner.sum()) - 2 * int(first.sum())
    return Fraction(constant + sum(chosen.tolist()), 4) * Fraction(2) ** exponent


def _triangles(proof: dict[str, Any], n: int) -> tuple[Whole, int]:
    """The multipliers of each pair of n + 1 spins, with their signs; and the sum of all."""
    z = _integer_array(proof["multipliers"])
    corners, signs = _integer_array(proof["corners"]), _integer_array(proof["signs"])
    claim(z.ndim == 1 and corners.shape == signs.shape == (z.size, 3), "its triangles are none")
    claim(
        bool((z >= 0).all()) and float(z.sum(dtype=float)) < LARGEST // 64, "its multipliers are negative or too large"
    )
    claim(bool(((corners >= 0) & (corners <= n)).all()), "a triangle has a corner that is no node")
    i, j, k = corners.T
    claim(bool(((i != j) & (i != k) & (j != k)).all()), "a triangle has a corner twice")
    claim(bool((np.abs(signs) == 1).all() and (signs.prod(axis=1) == 1).all()), "the signs of a triangle are none")
    P = np.zeros((n + 1, n + 1), dtype=np.int64)
    for a, b, pair in ((i, j, 0), (i, k, 1), (j, k, 2)):
        np.add.at(P, (a, b), z * signs[:, pair])
        np.add.at(P, (b, a), z * signs[:, pair])
    return P, int(z.sum())


_KINDS: dict[str, Callable[[_Edges, int, dict[str, Any]], Fraction]] = {
    "clique": _clique,
    "bipartite": _bipartite,
    "exact": _exact,
    "order": _order,
    "loads": _loads,
    "pairs": _credits,
    "spectral": _square,
    "semidefinite": _square,
}


# --- parts of them ---------------------------------------------------------------------------------------------------


def _integer_array(value: Any, size: int | None = None) -> Whole:
    """An array of integers."""
    is_array = isinstance(value, np.ndarray) and value.dtype.kind == "i"
    claim(is_array and (size is None or value.shape == (size,)), "an array in it is of another kind")
    found: Whole = value.astype(np.int64)
    return found


def _core_of_proof(edges: _Edges, weights: Whole, proof: dict[str, Any]) -> tuple[npt.NDArray[np.bool_], int]:
    """Which nodes are in the core; all others can be peeled away, each tied by at most the cap to what is left."""
    nodes, cap = _integer_array(proof["nodes"]), whole(proof["cap"], 0, LARGEST)
    claim(nodes.size == 0 or (nodes.min() >= 0 and nodes.max() < edges.n), "its nodes are not those of the graph")
    inside = np.zeros(edges.n, dtype=bool)
    inside[nodes] = True
    claim(int(inside.sum()) == nodes.size, "a node is there twice")
    alive = np.ones(edges.n, dtype=bool)
    first, second = edges.first, edges.second
    while not np.array_equal(alive, inside):
        ties = np.zeros(edges.n, dtype=np.int64)
        np.add.at(ties, first, weights)
        np.add.at(ties, second, weights)
        gone = alive & ~inside & (ties <= cap)
        claim(bool(gone.any()), "a node outside its core is tied by more than it says")
        # together, those that go carry no more than when they go one after another
        alive &= ~gone
        kept = alive[first] & alive[second]
        first, second, weights = first[kept], second[kept], weights[kept]
    return inside, cap


def _numbered_pairs(edges: _Edges, proof: dict[str, Any]) -> tuple[Whole, tuple[Whole, Whole]]:
    """Each pair of nodes as one number, each there once; and its ends."""
    first = _integer_array(proof["first"])
    second = _integer_array(proof["second"], first.size)
    ends = np.concatenate([first, second])
    claim(ends.size == 0 or (ends.min() >= 0 and ends.max() < edges.n), "its nodes are not those of the graph")
    pair: Whole = np.minimum(first, second) * edges.n + np.maximum(first, second)
    claim(np.unique(pair).size == pair.size and bool((first != second).all()), "a pair is there twice")
    return pair, (first, second)


def _sum_of_largest(loads: Whole, k: int, cap: int) -> int:
    """The sum of the k largest, of which none is below the cap."""
    return sum(np.maximum(np.sort(loads)[loads.size - k :], cap).tolist())
