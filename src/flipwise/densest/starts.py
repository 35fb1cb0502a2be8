"""Where a search for dense subgraphs begins: the starts in a core, and the sets of the published methods.

A random set of a large sparse graph holds no edge, so the start decides more than the rule that follows. Each of these
is the best on some graphs: loads (the k most loaded nodes of the load bound), peeling, degree, spectral, Frank-Wolfe
with a loaded diagonal, greedy growth from a seed, random, and the user's own.

The published methods are also methods of their own (`densest.rivals`), and run to the letter on the whole graph:
RAVI          Ravi, Rosenkrantz, Tayi: Heuristic and special case algorithms for dispersion problems, OR 42, 1994
peeling       Asahiro, Iwama, Tamaki, Tokuyama: Greedily finding a dense subgraph, J. Algorithms 34, 2000
Frank-Wolfe   Lu, Sidiropoulos, Konar: On densest k-subgraph mining and diagonal loading, AAAI 2025
TPM           Yuan, Zhang: Truncated power method for sparse eigenvalue problems, JMLR 14, 2013
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from flipwise.bounds.eigenvalues import smallest_eigenpair
from flipwise.densest.core import Core, arc_weights, whole_core
from flipwise.densest.subset import Subset, times
from flipwise.foundation.arrays import Bools, Floats, Ints, inner, largest
from flipwise.graphs.graph import Graph
from flipwise.kernels import peeling as peeling_kernels
from flipwise.kernels import subgraph as kernels

POINTS_EVERY = 10
"""Iterations of the published Frank-Wolfe method between two points that are looked at."""
FIRST_SHIFT = 1e-4
"""The first diagonal load of a step of the truncated power method that would lower the density."""


def top(scores: Floats, k: int) -> Bools:
    """The k largest scores as a mask, the earlier ones among equals."""
    mask = np.zeros(scores.size, dtype=bool)
    mask[largest(scores, k)] = True
    return mask


# --- starts in a core ------------------------------------------------------------------------------------------------


def by_degree(graph: Graph, k: int) -> Bools:
    """The k nodes of largest degree."""
    degrees = graph.degrees if graph.weights is None else times(graph, np.ones(graph.n))
    return top(degrees.astype(np.float64), k)


def by_peeling(core: Core, k: int) -> Bools:
    """The last k nodes of greedy peeling."""
    mask = np.zeros(core.graph.n, dtype=bool)
    mask[core.peeling.order[core.graph.n - k :]] = True
    return mask


def by_frank_wolfe(graph: Graph, k: int, steps: int) -> Bools:
    """max x'(W + lambda I)x over 0 <= x <= 1, sum x = k by Frank-Wolfe from the uniform point, then the k largest.

    The step is exact, unlike that of the published method.
    """
    load = 1.0 if graph.weights is None else float(np.abs(graph.weights).max(initial=0.0))
    x = np.full(graph.n, k / graph.n)
    image = times(graph, x) + load * x
    for _ in range(steps):
        towards = _towards_vertex(image, x, k, 1e-9)
        if towards is None:
            break
        moved = times(graph, towards.d) + load * towards.d
        curvature = inner(towards.d, moved)
        step = 1.0 if curvature >= 0.0 else min(1.0, -towards.gain / curvature)
        x = x + step * towards.d
        image = image + step * moved
    return top(x + 1e-9 * image / max(float(np.abs(image).max()), 1e-300), k)


def by_spectrum(graph: Graph, k: int, steps: int) -> Bools:
    """The truncated power method on real vectors, from the leading eigenvector.

    x <- the k largest entries of (W + I)x, normalised, until the support stays.
    """
    x = np.sqrt(np.maximum(times(graph, np.ones(graph.n)), 0.0)) + 1e-12
    for _ in range(steps):
        x = times(graph, x) + x
        x /= max(math.sqrt(inner(x, x)), 1e-300)
    support = top(x, k)
    for _ in range(steps):
        x = np.where(support, x, 0.0)
        x /= max(math.sqrt(inner(x, x)), 1e-300)
        x = times(graph, x) + x
        following = top(x, k)
        if np.array_equal(following, support):
            break
        support = following
    return support


def at_random(graph: Graph, k: int, rng: np.random.Generator) -> Bools:
    """k nodes drawn uniformly."""
    return top(rng.random(graph.n), k)


def grown_from_seeds(core: Core, loads: Floats, k: int, count: int) -> Iterator[Bools]:
    """Greedy growth from up to `count` seeds, none of them in an earlier set or joined to an earlier seed.

    So each dense piece of the graph is met after few trials, however small it is beside the others. The seeds are the
    first free ones by load, by core number, and by the excess of the core number over the load, in turn: in a clique
    the core number is twice the load, so the last finds small regular pieces beside large ones that lean on hubs.
    """
    graph = core.graph
    rankings = [np.argsort(-loads, kind="stable")]
    cores = core.peeling.core_numbers
    if cores is not None:
        rankings += [np.argsort(-cores, kind="stable"), np.argsort(loads - cores, kind="stable")]
    free = np.ones(graph.n, dtype=bool)
    for trial in range(count):
        which = trial % len(rankings)
        rankings[which] = rankings[which][free[rankings[which]]]
        if not rankings[which].size:
            return
        seed = int(rankings[which][0])
        subset = Subset.empty(graph)
        subset.grow(seed, k, 1)
        mask = subset.mask
        free[mask] = False
        free[graph.indices[graph.indptr[seed] : graph.indptr[seed + 1]]] = False
        yield mask


def completed(graph: Graph, mask: Bools, k: int) -> Bools:
    """Exactly k nodes that agree with the mask as far as they can."""
    chosen = np.flatnonzero(mask)
    if chosen.size == k:
        return mask
    subset = Subset.empty(graph)
    subset.exchange(np.empty(0, np.int64), chosen[:k])
    if chosen.size > k:
        return subset.mask
    return top(subset.degrees.astype(float) + np.where(subset.inside, np.inf, 0.0), k)


# --- the published methods -------------------------------------------------------------------------------------------


def ravi_nodes(graph: Graph, k: int) -> Ints:
    """RAVI, greedy dispersion; the k nodes in the order in which they were chosen.

    Start from the two ends of the heaviest edge; then add, one at a time,
        the node with the largest total weight to the nodes chosen so far                               (1)
    until k nodes are chosen. Ties, which the authors leave open, go to the larger weighted degree, then to the first
    node. A heap over the touched nodes makes a run O(arcs of the chosen nodes * log n).
    """
    chosen, tie = np.empty(k, dtype=np.int64), _weighted_degrees(graph)
    if k == 0:
        return chosen
    csr = graph.indptr, graph.indices, _real_weights(graph)
    first, second = peeling_kernels.heaviest_edge(*csr, tie)
    place, heap = np.full(graph.n, -1, dtype=np.int64), np.empty(graph.n, dtype=np.int64)
    by_tie, ends = np.argsort(-tie, kind="stable"), (np.int64(first), np.int64(second))
    peeling_kernels.greedy_growth(*csr, tie, by_tie, *ends, chosen, place, heap, np.zeros(graph.n))  # (1)
    return chosen


def peeled_nodes(graph: Graph, k: int) -> Ints:
    """Greedy peeling: remove the node of least degree among those left until k are left.

    Lists by degree make it O(n + arcs) without weights; with weights a heap takes their place. (Ties are broken in
    another way than in the peeling of a core; on meshes that makes much of a difference.)
    """
    if graph.weights is not None:
        return whole_core(graph).peeling.order[graph.n - k :]
    nodes, place, following = (np.empty(graph.n, dtype=np.int64) for _ in range(3))
    head = np.empty(int(graph.degrees.max(initial=0)) + 1, dtype=np.int64)
    peeling_kernels.peel_least(graph.indptr, graph.indices, graph.degrees, head, following, place, nodes)
    return nodes[graph.n - k :]


def frank_wolfe_points(
    graph: Graph, k: int, largest_eigenvalue: float, lam: float = 1.0, iterations: int = 200
) -> Iterator[Floats]:
    """Frank-Wolfe with diagonal loading: the relaxed points, every few iterations and at the end.

    With the relaxation  max x'(W + lambda I)x  over  0 <= x <= 1, 1'x = k  and lambda = 1 (for 0/1 weights the
    relaxation is then tight), from x = (k/n) 1:
        s <- the k largest entries of g = (W + lambda I)x                                               (1)
        x <- x + t (s - x),   t = min(1, <g, s - x> / (L |s - x|^2)),   L = lambda_max(W + lambda I)    (2)
    until <g, s - x> = 0; the answer is the k largest entries of x. The steps are those of the authors' code. W s is
    added up from the rows of s alone and W x follows from it, so an iteration costs O(n + arcs of s). lambda_max(W)
    comes from outside.
    """
    x = np.full(graph.n, k / graph.n)
    L = max(lam + largest_eigenvalue, 1e-300)
    Wx = _weighted_degrees(graph) * (k / graph.n)
    for iteration in range(1, iterations + 1):
        towards = _towards_vertex(Wx + lam * x, x, k, 1e-12)  # (1)
        square = 0.0 if towards is None else inner(towards.d, towards.d)
        if towards is None or square == 0.0:
            break
        t = min(1.0, towards.gain / (L * square))
        x = x + t * towards.d  # (2)
        Wx = (1.0 - t) * Wx + t * _degrees_into(graph, towards.nodes)
        if iteration % POINTS_EVERY == 0:
            yield x
    yield x


def power_sets(graph: Graph, k: int, lam: float = 0.0, iterations: int = 1000) -> Iterator[tuple[Ints, float]]:
    """The truncated power method on sets: each set with its x'Wx.

        S <- the k largest entries of (W + lambda I) 1_S                                                (1)
    from the k nodes of largest degree, until S or its density stays. With W + lambda I positive semidefinite every step
    raises the density; as in the authors' program, a step that would lower it is repeated with lambda = 0.0001, 0.001,
    ...
    """
    nodes = largest(_weighted_degrees(graph), k)
    product = _degrees_into(graph, nodes)
    weight = float(product[nodes].sum())
    yield nodes, weight
    for _ in range(iterations):
        shift = lam
        while True:
            loaded = product.copy()
            loaded[nodes] += shift
            following = largest(loaded, k)  # (1)
            if np.array_equal(following, nodes):
                return
            new = _degrees_into(graph, following)
            new_weight = float(new[following].sum())
            if new_weight >= weight:
                break
            shift = max(10.0 * shift, FIRST_SHIFT)
        if new_weight == weight:
            return
        nodes, product, weight = following, new, new_weight
        yield nodes, weight


def leading_eigenvalue(graph: Graph) -> float:
    """lambda_max(W), estimated; the product is scipy's, which adds in the same order as our own."""
    weights = np.full(graph.n_arcs, -1.0) if graph.weights is None else -graph.weights
    W = sp.csr_array((weights, graph.indices, graph.indptr), shape=(graph.n, graph.n))
    return -smallest_eigenpair(W.dot, graph.n, tolerance=1e-4)[0]


class _Towards(NamedTuple):
    """From x to the vertex of k nodes that its gradient g likes best: these nodes, the way, and the promised gain."""

    nodes: Ints
    d: Floats
    gain: float


def _towards_vertex(g: Floats, x: Floats, k: int, tolerance: float) -> _Towards | None:
    """The step of the Frank-Wolfe methods; None when it promises no more than this part of what x has."""
    nodes = largest(g, k)
    vertex = np.zeros(x.size)
    vertex[nodes] = 1.0
    d = vertex - x
    gain = inner(g, d)
    return None if gain <= tolerance * abs(inner(g, x)) else _Towards(nodes, d, gain)


def _real_weights(graph: Graph) -> Floats:
    """The weights as the kernels of the published methods take them: a single 1 stands for all."""
    return arc_weights(graph).astype(np.float64, copy=False)


def _weighted_degrees(graph: Graph) -> Floats:
    """W 1."""
    return graph.degrees.astype(np.float64) if graph.weights is None else times(graph, np.ones(graph.n))


def _degrees_into(graph: Graph, nodes: Ints) -> Floats:
    """W 1_S, touching the rows of S only."""
    product = np.zeros(graph.n)
    kernels.add_rows(graph.indptr, graph.indices, _real_weights(graph), nodes, product)
    return product
