"""Inequalities (b's)^2 >= 1 that a matrix in the place of ss' violates (see `bounds.hypermetric`)."""

from __future__ import annotations

from flipwise.kernels.heaps import push, sift
from flipwise.kernels.jit import kernel


@kernel(operations=lambda X, *_: 2 * len(X) ** 3 // 3)
def violated_triangles(X, least, most, keys, items):
    """The triangles (+-1, +-1, +-1) with the largest violations above `least`, at most so many; says how many.

    `items` gets 4 (N (N i + j) + k) + kind for i < j < k, where s_i s_j and s_i s_k have the signs ++, +-, -+ and --,
    and `keys` by how much 1 + (the sum of the three products) is below 0. Both have room for one more than `most`.
    """
    N = len(X)
    size = 0
    for i in range(N - 2):
        for j in range(i + 1, N - 1):
            a = X[i, j]
            for k in range(j + 1, N):
                b = X[i, k]
                c = X[j, k]
                for kind in range(4):
                    if kind == 0:
                        left = a + b + c
                    elif kind == 1:
                        left = a - b - c
                    elif kind == 2:
                        left = b - a - c
                    else:
                        left = c - a - b
                    violation = -1.0 - left
                    if violation <= least:
                        continue
                    item = 4 * (N * (N * i + j) + k) + kind
                    if size < most:
                        push(keys, items, size, violation, item)
                        size += 1
                    elif violation > keys[0]:
                        keys[size] = violation
                        items[size] = item
                        sift(keys, items, size + 1)
    return size


@kernel(operations=lambda X, b, *_: b.size * len(X))
def best_pairs(X, b, Y, pairs, values):
    """For each row of `b` two further entries +-1 that make b'Xb least; Y is bX.

    `pairs` gets p, q, b_p and b_q, `values` by how much b'Xb grows; p is -1 where fewer than two entries are 0.
    """
    N = len(X)
    for t in range(len(b)):
        best = 1e300
        pairs[t, 0] = -1
        for p in range(N - 1):
            if b[t, p] != 0:
                continue
            for q in range(p + 1, N):
                if b[t, q] != 0:
                    continue
                same = Y[t, p] + Y[t, q]
                other = Y[t, p] - Y[t, q]
                value = X[p, q] - abs(same)
                if value < best:
                    best = value
                    pairs[t, 0] = p
                    pairs[t, 1] = q
                    pairs[t, 2] = -1 if same > 0.0 else 1
                    pairs[t, 3] = pairs[t, 2]
                value = -X[p, q] - abs(other)
                if value < best:
                    best = value
                    pairs[t, 0] = p
                    pairs[t, 1] = q
                    pairs[t, 2] = -1 if other > 0.0 else 1
                    pairs[t, 3] = -pairs[t, 2]
        values[t] = 2.0 * best + 2.0
