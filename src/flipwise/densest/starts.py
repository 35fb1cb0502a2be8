"""Where a search for dense subgraphs begins; each start is a mask of k nodes of the core.

A random set of a large sparse graph holds no edge, so the start decides more than the rule that follows. Each of these
is the best on some graphs: loads (the k most loaded nodes of the load bound), peeling (Charikar 2000; Asahiro et al.
1996), degree, spectral (the truncated power method of Yuan and Zhang 2013), Frank-Wolfe with a loaded diagonal (Lu,
Sidiropoulos and Konar 2025), greedy growth from a seed (Ravi et al. 1994), random, and the user's own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from flipwise.densest.core import Core, arc_weights
from flipwise.densest.frank_wolfe import frank_wolfe
from flipwise.densest.peeling import peel
from flipwise.densest.ravi import greedy_dispersion
from flipwise.densest.subset import Subset
from flipwise.densest.tpm import truncated_power
from flipwise.foundation.arrays import Bools, Floats
from flipwise.graphs.graph import Graph
from flipwise.kernels import subgraph as kernels
from flipwise.kernels.jit import threads_worth
from flipwise.solvers.relaxed import inner


def top(scores: Floats, k: int) -> Bools:
    """The k largest scores, the earlier ones among equals."""
    if k >= scores.size:
        return np.ones(scores.size, dtype=bool)
    level = np.partition(scores, scores.size - k)[scores.size - k]
    mask = np.asarray(scores > level)
    mask[np.flatnonzero(scores == level)[: k - np.count_nonzero(mask)]] = True
    return mask


def by_degree(graph: Graph, k: int) -> Bools:
    return top(times(graph, np.ones(graph.n)), k)


def by_peeling(core: Core, k: int) -> Bools:
    """The last k nodes of greedy peeling."""
    mask = np.zeros(core.graph.n, dtype=bool)
    mask[core.order[core.graph.n - k :]] = True
    return mask


def by_frank_wolfe(graph: Graph, k: int, steps: int) -> Bools:
    """max x'(W + lambda I)x over 0 <= x <= 1, sum x = k by Frank-Wolfe from the uniform point, then the k largest."""
    loading = 1.0 if graph.weights is None else float(np.abs(graph.weights).max(initial=0.0))
    x = np.full(graph.n, k / graph.n)
    image = times(graph, x) + loading * x
    for _ in range(steps):
        vertex = top(image, k).astype(float)
        d = vertex - x
        gain = inner(image, d)
        if gain <= 1e-9 * abs(inner(image, x)):
            break
        moved = times(graph, d) + loading * d
        curvature = inner(d, moved)
        step = 1.0 if curvature >= 0.0 else min(1.0, -gain / curvature)
        x = x + step * d
        image = image + step * moved
    return top(x + 1e-9 * image / max(float(np.abs(image).max()), 1e-300), k)


def by_spectrum(graph: Graph, k: int, steps: int) -> Bools:
    """The truncated power method from the leading eigenvector.

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


def by_published_methods(graph: Graph, k: int) -> Iterator[Bools]:
    """RAVI, peeling, Frank-Wolfe and the truncated power method exactly as the method registry runs them.

    (Peeling there breaks ties in another way than the peeling of a core; on meshes that makes much of a difference.)
    """
    for method in (greedy_dispersion, peel, frank_wolfe, truncated_power):
        mask = np.zeros(graph.n, dtype=bool)
        mask[method(graph.indptr, graph.indices, graph.weights, k)] = True
        yield mask


def at_random(graph: Graph, k: int, rng: np.random.Generator) -> Bools:
    return top(rng.random(graph.n), k)


def grown_from_seeds(core: Core, loads: Floats, k: int, count: int) -> Iterator[Bools]:
    """Greedy growth from up to `count` seeds, none of them in an earlier set or joined to an earlier seed.

    So each dense piece of the graph is met after few trials, however small it is beside the others. The seeds are the
    first free ones by load, by core number, and by the excess of the core number over the load, in turn: in a clique
    the core number is twice the load, so the last finds small regular pieces beside large ones that lean on hubs.
    """
    graph = core.graph
    rankings = [np.argsort(-loads, kind="stable")]
    if graph.weights is None:
        cores = core.core_numbers
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


def times(graph: Graph, x: Floats) -> Floats:
    """W x."""
    product = np.empty(graph.n)
    with threads_worth(graph.n_arcs):
        kernels.multiply(graph.indptr, graph.indices, arc_weights(graph), x, product)
    return product
