"""Walks on the sum of squared autocorrelations of a sequence (LABS), on tables of its own.

    E(s) = sum_k C_k^2,    C_k = sum_i s_i s_{i+k},    s_i = -1 or +1

As a polynomial it has about n^3 / 12 terms, n^2 / 3 of which a flip touches, four entries each. On tables a flip of j
is a few passes over rows of 16-bit integers. A flip of i changes E by 4 (n - 1) + 8 Q_i - 4 s_i V_i with
V_i = sum_k C_k A_ki, A_ki = s_{i-k} + s_{i+k} and Q_i = sum_k s_{i-k} s_{i+k} (entries outside the sequence are 0).
When j flips, V changes by the rows k of A in which A_kj is not 0, eight at a time, and Q in n / 2 places.

All tables but `free_at` and `cost` (int32) are int16 and have room for `s.size` >= n entries, the rest of which is 0.
V stays within n (n - 1), which int16 holds for n <= 181.
"""

from __future__ import annotations

import numpy as np

from flipwise.kernels.jit import helper, kernel
from flipwise.kernels.random_numbers import next_random


@helper
def _fill_tables(n, s, C, V, Q, A):
    """All tables for the sequence `s`; returns E."""
    energy = np.int64(0)
    for i in range(s.size):
        V[i] = 0
        Q[i] = 0
    for k in range(1, n):
        c = np.int64(0)
        for i in range(n - k):
            c += np.int64(s[i]) * np.int64(s[i + k])
        C[k] = c
        energy += c * c
        for i in range(n):
            a = np.int64(0)
            if i + k < n:
                a += np.int64(s[i + k])
                if i >= k:
                    Q[i] += s[i + k] * s[i - k]
            if i >= k:
                a += np.int64(s[i - k])
            A[k, i] = a
            V[i] += c * a
    return energy


@helper
def _add_rows(V, A, k, c):
    """V plus eight rows of A, each times its factor."""
    k0, k1, k2, k3, k4, k5, k6, k7 = k[0], k[1], k[2], k[3], k[4], k[5], k[6], k[7]
    c0, c1, c2, c3, c4, c5, c6, c7 = c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]
    for i in range(V.size):
        V[i] += (
            c0 * A[k0, i] + c1 * A[k1, i] + c2 * A[k2, i] + c3 * A[k3, i]
            + c4 * A[k4, i] + c5 * A[k5, i] + c6 * A[k6, i] + c7 * A[k7, i]
        )  # fmt: skip


@helper
def _flip_in_tables(n, j, s, C, V, Q, A, rows, factors):
    """Flip s_j and bring all tables along."""
    two = np.int16(2 * s[j])
    size = 0
    for k in range(1, n):
        step = np.int16(-two * A[k, j])
        C[k] += step
        rows[size] = k
        factors[size] = step
        if step != 0:
            size += 1
    while size % 8 != 0:
        rows[size] = 0  # a row of zeros
        factors[size] = 0
        size += 1
    for b in range(0, size, 8):
        _add_rows(V, A, rows[b : b + 8], factors[b : b + 8])
    for k in range(1, n - j):
        V[j + k] -= two * C[k]
        A[k, j + k] -= two
    for k in range(1, j + 1):
        V[j - k] -= two * C[k]
        A[k, j - k] -= two
    Q[j] += two * s[j]  # the loop takes it back: j has no partner around itself
    for i in range((j + 1) // 2, (n - 1 + j) // 2 + 1):
        Q[i] -= two * s[2 * i - j]
    s[j] = -s[j]


@kernel(operations=lambda starts, steps, *rest: float(starts.shape[0]) * steps * starts.shape[1] ** 2)
def walk_correlations(starts, steps, tenure, s, C, V, Q, A, rows, factors, free_at, cost, best_s, state):
    """`steps` steps of tabu search from every row of `starts` (int8); `best_s` (int8) receives the best point of all.

    A step flips the spin that costs least among those that rest no longer. Returns the least E, that of the starts left
    out.
    """
    n = starts.shape[1]
    random = state[0]
    best = np.int64(n) * n * n
    for w in range(starts.shape[0]):
        for i in range(n):
            s[i] = starts[w, i]
            free_at[i] = 0
        energy = _fill_tables(n, s, C, V, Q, A)
        for step in range(1, steps + 1):
            random = next_random(random)
            least = np.int64(1 << 28)
            for i in range(n):
                d = 4 * (n - 1) + 8 * np.int64(Q[i]) - 4 * np.int64(s[i]) * np.int64(V[i])
                if free_at[i] > step:
                    d = np.int64(1 << 28)
                cost[i] = d
                least = min(least, d)
            j = np.int64(random >> np.uint64(33)) % n
            while cost[j] != least:  # of equal ones the first from a random place on
                j = j + 1 if j + 1 < n else 0
            free_at[j] = step + tenure + np.int64((random >> np.uint64(8)) & np.uint64(65535)) % tenure
            _flip_in_tables(n, j, s, C, V, Q, A, rows, factors)
            energy += least
            if energy < best:
                best = energy
                for i in range(n):
                    best_s[i] = s[i]
    state[0] = random
    return best
