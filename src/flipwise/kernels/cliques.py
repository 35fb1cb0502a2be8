"""Kernels that grow cliques outside a set S, with what each would bring: the edges inside it and its ties to S.

A graph is `indptr, indices, weights`; `weights` holds one number for each arc, or a single 1 that stands for all.
`degrees[i]` is the weight of the edges from i into S. Work arrays hold one zero for each node, and do so again
afterwards.
"""

from __future__ import annotations

from flipwise.kernels.jit import helper, kernel


@helper
def _weight(weights, p):
    """The weight of arc p."""
    return weights[0] if weights.size == 1 else weights[p]


@helper
def _grown(indptr, indices, weights, seed, inside, degrees, near, common, own, piece, worth):
    """A clique through `seed` that avoids S, in the order in which it grows; returns its size, at most that of `piece`.

    The next node is the one with the largest tie to the seed's neighbours and to S among those joined to all so far:
    ties to S alone would lead away from the clique at the first step. `worth[t]` is what the first t nodes bring.
    `near`, `common` and `own` are work arrays: ties to the seed's neighbours, how many and how strong into the clique.
    """
    first, last = indptr[seed], indptr[seed + 1]
    for p in range(first, last):
        if not inside[indices[p]]:
            common[indices[p]] = 1
            own[indices[p]] = _weight(weights, p)
    for p in range(first, last):
        j = indices[p]
        if common[j]:
            for q in range(indptr[j], indptr[j + 1]):
                if common[indices[q]]:
                    near[j] += _weight(weights, q)
    piece[0] = seed
    worth[0] = weights[0] * 0
    worth[1] = degrees[seed]
    size = 1
    while size < piece.size:
        node = -1
        for p in range(first, last):
            j = indices[p]
            if common[j] == size and (node < 0 or near[j] + degrees[j] > near[node] + degrees[node]):
                node = j
        if node < 0:
            break
        piece[size] = node
        worth[size + 1] = worth[size] + degrees[node] + own[node]
        size += 1
        common[node] = 0
        for q in range(indptr[node], indptr[node + 1]):
            if common[indices[q]]:
                common[indices[q]] += 1
                own[indices[q]] += _weight(weights, q)
    for p in range(first, last):
        common[indices[p]] = 0
        own[indices[p]] = weights[0] * 0
        near[indices[p]] = weights[0] * 0
    return size


@kernel
def clique_through(indptr, indices, weights, seed, inside, degrees, near, common, own, piece, worth):
    """Write a clique through `seed` into `piece`; returns its size, at most that of `piece`."""
    return _grown(indptr, indices, weights, seed, inside, degrees, near, common, own, piece, worth)


@kernel
def best_cliques(indptr, indices, weights, seeds, loss, inside, degrees, near, common, own, piece, worth, gains, sizes):
    """For each seed, how many nodes of its clique to take and what that gains, when q nodes of S can go for `loss[q]`.

    Ties to nodes that would have to go are counted as gained, so the true gain may be smaller.
    """
    for a in range(seeds.size):
        size = _grown(indptr, indices, weights, seeds[a], inside, degrees, near, common, own, piece, worth)
        sizes[a] = 1
        for q in range(2, size + 1):
            if worth[q] - loss[q] > worth[sizes[a]] - loss[sizes[a]]:
                sizes[a] = q
        gains[a] = worth[sizes[a]] - loss[sizes[a]]
    return seeds.size
