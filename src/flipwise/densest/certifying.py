"""The certificate of a bound on k nodes: what each kind of proof has to say, in integers.

Weights, shares, prices and the like are multiples of a power of two, 2^exponent, weights rounded up to them. Nodes are
those of the whole graph; nodes outside the core can be peeled away, each tied by at most `cap` to what is left. How
each kind is checked stands in the documentation and, in code of its own, in `flipwise.verification`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from flipwise.densest.core import Core
from flipwise.densest.triangles import Triangles
from flipwise.engine.certificate import Certificate, graph_hash
from flipwise.foundation.arrays import Floats, Ints
from flipwise.graphs.graph import Graph

if TYPE_CHECKING:
    from flipwise.densest.bounds import Shares, SubgraphBounds
    from flipwise.densest.semidefinite import DualCertificate

MOST_EDGES = 1_000_000
"""The split of more edges is not kept."""
MOST_ROWS = 1000
"""Larger matrices are not kept."""
ENUMERATED = 23
"""Graphs of so many nodes are enumerated anew by who checks the certificate."""
GRID = 1e-9
"""By what the bound of a certificate is above that of the result where weights are no multiples of one number."""
BITS = 60
"""Sums of numbers in a certificate have at most about so many."""


def certificate_of(graph: Graph, bounds: SubgraphBounds, bound: float) -> Certificate | None:
    """The proof of the best bound; None where its kind has none, or it was too large to keep."""
    name = bounds.best[0]
    if name == "exact" and graph.n > ENUMERATED:
        return None
    made = bounds.proofs.get(name)
    proof = {} if name in ("exact", "clique") else None if made is None else made()
    if proof is None:
        return None
    claimed = bound if bounds.unit or name == "exact" else bound + GRID * abs(bound)
    problem = {"n": graph.n, "k": bounds.k, "hash": graph_hash(graph.indptr, graph.indices, graph.weights)}
    return Certificate("subgraph", name, claimed, problem, proof)


def order_proof(core: Core) -> dict[str, Any]:
    """An order of the nodes of an unweighted core."""
    return {**_core_in_numbers(core, 0), "order": core.nodes[core.peeling.order].astype(np.int64)}


def loads_proof(core: Core, shares: Shares) -> dict[str, Any]:
    """What each edge gives to its first end."""
    exponent = _grid_exponent(float(shares.weight.sum()) if shares.weight.size > 1 else float(shares.first.size))
    return {
        **_core_in_numbers(core, exponent),
        "first": core.nodes[shares.first].astype(np.int64),
        "second": core.nodes[shares.second].astype(np.int64),
        "share": _on_grid(shares.share, exponent),
    }


def pairs_proof(core: Core, pairs: tuple[Ints, Ints, Floats], v: Floats, p: Floats, split: Shares) -> dict[str, Any]:
    """The price of each node, the credit of each pair, and what each pair gives to its first end."""
    first, second, weight = pairs
    n, k_sizes = core.graph.n, float(np.abs(v).sum()) * core.graph.n
    exponent = _grid_exponent(float(weight.sum() + p.sum()) + k_sizes)
    given = {
        (min(i, j), max(i, j)): share if i < j else -share - 1
        for i, j, share in zip(
            split.first.tolist(), split.second.tolist(), _on_grid(split.share, exponent).tolist(), strict=True
        )
    }
    low, high = np.minimum(first, second), np.maximum(first, second)
    share = np.zeros(low.size, dtype=np.int64)
    turned = np.zeros(low.size, dtype=bool)
    for at, pair in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        value = given.get(pair, 0)
        turned[at] = value < 0
        share[at] = -value - 1 if value < 0 else value
    prices = np.zeros(n, dtype=np.int64)
    prices[:] = _on_grid(v, exponent)
    return {
        **_core_in_numbers(core, exponent),
        "first": core.nodes[np.where(turned, high, low)].astype(np.int64),
        "second": core.nodes[np.where(turned, low, high)].astype(np.int64),
        "share": share,
        "credit": _on_grid(p, exponent),
        "price": prices,
    }


def square_proof(core: Core, whole: int, of: DualCertificate, k: int) -> dict[str, Any] | None:
    """A positive semidefinite matrix with a row for the constant first, the price of each node, and triangles."""
    if core.graph.n != whole or of.square is None or len(of.square) > MOST_ROWS:
        return None
    raised = of.square.copy()
    raised[np.diag_indices(len(raised))] += of.lifted
    t = of.best_sums(k).t
    raised[0] *= t
    raised[:, 0] *= t
    raised = np.maximum(raised, raised.T) if np.array_equal(raised, raised.T) else 0.5 * (raised + raised.T)
    triangles = of.triangles or Triangles()
    numbers = (raised, of.prices, triangles.z, core.graph.weights, core.graph.n_arcs > 0)
    size = max(float(np.abs(each).max(initial=0.0)) for each in numbers if each is not None)
    exponent = _grid_exponent(8.0 * size * len(raised) * max(k, len(raised)) + 16.0 * float(triangles.z.sum()))

    def on_grid(values: Floats) -> Ints:
        return np.rint(np.ldexp(values, -exponent)).astype(np.int64)

    return {
        **_core_in_numbers(core, exponent),
        "square": on_grid(raised),
        "price": on_grid(of.prices),
        "corners": triangles.nodes,
        "signs": triangles.signs.astype(np.int64),
        "multipliers": on_grid(triangles.z),
    }


def bipartite_proof(graph: Graph) -> dict[str, Any]:
    """The side of each node."""
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    matrix = graph.to_scipy()
    matrix.data = np.ones_like(matrix.data)
    side = np.zeros(graph.n, dtype=np.int8)
    _, part = connected_components(matrix, directed=False)
    for start in np.unique(part, return_index=True)[1].tolist():
        order, before = breadth_first_order(matrix, start, directed=False)
        for i in order[1:].tolist():
            side[i] = 1 - side[before[i]]
    return {"side": side}


def _core_in_numbers(core: Core, exponent: int) -> dict[str, Any]:
    """The nodes of a core, and its cap on the grid, where the ties of a node are rounded up one by one."""
    slack = 0 if core.graph.weights is None else core.graph.n_arcs + core.nodes.size
    cap = 0 if core.is_whole else math.ceil(math.ldexp(core.cap, -exponent)) + slack
    return {"exponent": exponent, "nodes": core.nodes.astype(np.int64), "cap": cap}


def _grid_exponent(size: float) -> int:
    """So that a sum of this size has `BITS` bits on the grid."""
    return math.frexp(size or 1.0)[1] - BITS


def _on_grid(values: Floats, exponent: int) -> Ints:
    """Rounded down."""
    return np.floor(np.ldexp(values, -exponent)).astype(np.int64)
