"""Branch and bound over the sets of k nodes of a small graph, by a fixed order of the nodes.

Node t of the order is taken or left; what is still to come are the nodes t, t+1, ... With c nodes taken, r = k - c to
go and g_i the weight between i and those taken, every completion adds at most the r largest of
    g_i + half[t, r - 1, i],    half[t, r, i] = half of the r largest w_ij over j >= t, j != i, added up,
for each pair of new nodes is counted by halves at both ends.
"""

from __future__ import annotations

import math

from flipwise.kernels.jit import helper, kernel

AT, TAKEN, FOUND, VISITS = 0, 1, 2, 3
"""Where the walk keeps its place: the node to decide, how many are taken, sets found, decisions made."""


@helper
def _largest_rest(ties, half, t, r, top):
    """At most what r more nodes from t on add: the r largest of ties + half, kept in `top` in descending order."""
    kept = 0
    for i in range(t, ties.size):
        worth = ties[i] + half[t, r - 1, i]
        if kept < r:
            kept += 1
        elif worth <= top[r - 1]:
            continue
        place = kept - 1
        while place > 0 and top[place - 1] < worth:
            top[place] = top[place - 1]
            place -= 1
        top[place] = worth
    total = 0.0
    for a in range(r):
        total += top[a]
    return total


@kernel(
    operations=lambda W, half, k, *more: (
        W.shape[0] * float(min(more[-1], 4 * math.comb(W.shape[0], min(int(k), W.shape[0]))))
    )
)
def walk_sets(W, half, k, slack, best, ties, sums, decided, chosen, found, top, place, most):
    """Go on through the tree for `most` decisions; True when it is done. `best[0]` is the largest weight known.

    A branch is left when its bound is at most best - slack; with slack = 0 only better sets are found, otherwise all of
    at least best - slack. `found` has a row for each; when there are more, `place[FOUND]` counts on.
    `ties[c]` holds the ties to the first c nodes taken, `sums[c]` their weight, `decided` what was tried at each node.
    """
    n = W.shape[0]
    t = place[AT]
    c = place[TAKEN]
    visits = 0
    while t >= 0 and visits < most:
        visits += 1
        r = k - c
        if decided[t] == 0:
            promising = n - t >= r
            if promising and r == 0:
                if sums[c] > best[0] - slack and (slack > 0.0 or sums[c] > best[0]):
                    if sums[c] - slack > best[0]:
                        place[FOUND] = 0
                    if place[FOUND] < found.shape[0]:
                        for a in range(k):
                            found[place[FOUND], a] = chosen[a]
                    place[FOUND] += 1
                    best[0] = max(best[0], sums[c])
                promising = False
            elif promising:
                promising = sums[c] + _largest_rest(ties[c], half, t, r, top) > best[0] - slack
            if promising:  # take it
                decided[t] = 1
                chosen[c] = t
                for i in range(t + 1, n):
                    ties[c + 1, i] = ties[c, i] + W[t, i]
                sums[c + 1] = sums[c] + ties[c, t]
                c += 1
                t += 1
                decided[t] = 0
                continue
        elif decided[t] == 1:  # leave it
            decided[t] = 2
            c -= 1
            if n - t - 1 >= k - c:
                t += 1
                decided[t] = 0
                continue
        t -= 1
    place[AT] = t
    place[TAKEN] = c
    place[VISITS] += visits
    return t < 0
