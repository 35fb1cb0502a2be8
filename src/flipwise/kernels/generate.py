"""Kernels of the graph generators. Random numbers come in as arrays: each arc is a pure function of its own ones."""

from __future__ import annotations

from flipwise.kernels.jit import kernel, parallel_kernel, prange


@parallel_kernel
def rmat_arcs(draws, n, first, second, third, sources, targets):
    """Drop each arc into the adjacency matrix by halving its rows and columns until one cell is left.

    `draws[p, level]` (16 bits) chooses the quadrant: below `first` the upper left, below `second` the upper right,
    below `third` the lower left. An odd range gives its middle to the upper or left half.
    """
    for p in prange(sources.size):
        row = 0
        rows = n
        column = 0
        columns = n
        level = 0
        while rows > 1 or columns > 1:
            draw = draws[p, level]
            lower = draw >= second
            right = draw >= third or (draw >= first and not lower)
            half = (rows + 1) >> 1
            if rows > 1:
                if lower:
                    row += half
                    rows -= half
                else:
                    rows = half
            half = (columns + 1) >> 1
            if columns > 1:
                if right:
                    column += half
                    columns -= half
                else:
                    columns = half
            level += 1
        sources[p] = row
        targets[p] = column


@kernel
def power_law_links(picks, closes, probability, each, sources, targets):
    """Preferential attachment with triangles, after Holme and Kim (2002): every new node brings `each` links.

    A link goes to an end of a random earlier link, that is to a node in proportion to its degree. The next one goes,
    with `probability`, to the other end of that link, a random neighbour, which closes a triangle. `picks` and `closes`
    hold uniform numbers in [0, 1). The start is a path over nodes 0..`each`. Links may repeat.
    """
    for link in range(each):
        sources[link] = link
        targets[link] = link + 1
    known = each
    other = -1
    for link in range(each, sources.size):
        if (link - each) % each == 0:
            known = link
            other = -1
        sources[link] = each + 1 + (link - each) // each
        if other >= 0 and closes[link] < probability:
            targets[link] = other
            other = -1
        else:
            end = int(picks[link] * 2 * known)
            targets[link] = sources[end >> 1] if end & 1 else targets[end >> 1]
            other = targets[end >> 1] if end & 1 else sources[end >> 1]
