"""Low autocorrelation (LABS) by walks on its own table, for comparison with the general polynomial.

E(s) = sum_k C_k^2 with C_k = sum_i s_i s_{i+k}. A flip of i changes E by 4 (n - 1) + 8 Q_i - 4 s_i V_i with
V_i = sum_k C_k (s_{i-k} + s_{i+k}) and Q_i = sum_k s_{i-k} s_{i+k}. When j flips, V changes by the rows k of the table
A_ki = s_{i-k} + s_{i+k} in which A_kj is not 0, eight of them in one pass of 16-bit integers, and Q in n/2 places. The
walk is a tabu search (the cheapest flip that was not made lately), short, from many starts; every second start is one
end short of a skew-symmetric sequence, s_{m+i} = (-1)^i s_{m-i}, or is one (Golay 1977).
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

LENGTH = 4
"""Steps of a walk for each spin."""


@numba.njit(nogil=True)
def next_random(state):  # type: ignore[no-untyped-def]
    """One step of xorshift64."""
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    state ^= state << np.uint64(17)
    return state


@numba.njit(nogil=True)
def fill(s, n, C, V, Q, A):  # type: ignore[no-untyped-def]
    """All tables for the sequence `s`; returns its energy."""
    energy = 0
    A[:] = 0
    V[:] = 0
    Q[:] = 0
    for k in range(1, n):
        c = 0
        for i in range(n - k):
            c += s[i] * s[i + k]
        C[k] = c
        energy += c * c
        for i in range(n):
            a = 0
            if i + k < n:
                a += s[i + k]
            if i >= k:
                a += s[i - k]
            if i + k < n and i >= k:
                Q[i] += s[i + k] * s[i - k]
            A[k, i] = a
            V[i] += c * a
    return energy


@numba.njit(nogil=True)
def add_rows(V, A, k, c):  # type: ignore[no-untyped-def]
    """V plus eight rows of A, each times its factor."""
    k0, k1, k2, k3, k4, k5, k6, k7 = k[0], k[1], k[2], k[3], k[4], k[5], k[6], k[7]
    c0, c1, c2, c3, c4, c5, c6, c7 = c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]
    for i in range(V.size):
        V[i] += (
            c0 * A[k0, i] + c1 * A[k1, i] + c2 * A[k2, i] + c3 * A[k3, i]
            + c4 * A[k4, i] + c5 * A[k5, i] + c6 * A[k6, i] + c7 * A[k7, i]
        )  # fmt: skip


@numba.njit(nogil=True)
def flip(s, n, C, V, Q, A, rows, factors, j):  # type: ignore[no-untyped-def]
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
    while size % 8:
        rows[size] = 0  # a row of zeros
        factors[size] = 0
        size += 1
    for b in range(0, size, 8):
        add_rows(V, A, rows[b : b + 8], factors[b : b + 8])
    for k in range(1, n - j):
        V[j + k] -= two * C[k]
        A[k, j + k] -= two
    for k in range(1, j + 1):
        V[j - k] -= two * C[k]
        A[k, j - k] -= two
    Q[j] += two * s[j]  # the loop below takes it back: j has no partner around itself
    for i in range((j + 1) // 2, (n - 1 + j) // 2 + 1):
        Q[i] -= two * s[2 * i - j]
    s[j] = -s[j]


@numba.njit(nogil=True)
def begin(s, n, random):  # type: ignore[no-untyped-def]
    """A random sequence, or one from a skew-symmetric one; returns the random state."""
    for i in range(n):
        random = next_random(random)
        s[i] = 1 if (random >> np.uint64(40)) & np.uint64(1) else -1
    random = next_random(random)
    if (random >> np.uint64(41)) & np.uint64(1):
        length = n + 1 - n % 2
        off = 1 if n % 2 == 0 and (random >> np.uint64(20)) & np.uint64(1) else 0
        middle = length // 2
        for i in range(n):
            across = length - 1 - (i + off) - off
            if i + off > middle and across >= 0:
                s[i] = s[across] if (i + off - middle) % 2 == 0 else -s[across]
    return random


@numba.njit(nogil=True)
def walks(n, target, steps, seed):  # type: ignore[no-untyped-def]
    """Walks until `target` is met or `steps` steps are made; returns (best energy, steps, best sequence)."""
    room = (n + 31) // 32 * 32
    s, V, Q = np.zeros(room, np.int16), np.zeros(room, np.int16), np.zeros(room, np.int16)
    A, C = np.zeros((n, room), np.int16), np.zeros(n, np.int16)
    rows, factors = np.zeros(n + 16, np.int64), np.zeros(n + 16, np.int16)
    free_at, cost = np.zeros(room, np.int32), np.zeros(room, np.int32)
    least_s = np.zeros(n, np.int16)
    random = np.uint64(seed)
    for _ in range(20):
        random = next_random(random)
    tenure = max(1, n // 10)
    best = 1 << 30
    made = 0
    while made < steps:
        random = begin(s, n, random)
        energy = fill(s, n, C, V, Q, A)
        free_at[:] = 0
        for step in range(1, LENGTH * n + 1):
            random = next_random(random)
            least = 1 << 28
            for i in range(n):
                d = 4 * (n - 1) + 8 * Q[i] - 4 * s[i] * V[i]
                cost[i] = d if free_at[i] <= step else 1 << 28
                least = min(least, cost[i])
            j = np.int64(random >> np.uint64(33)) % n
            while cost[j] != least:
                j = j + 1 if j + 1 < n else 0
            free_at[j] = step + tenure + np.int64((random >> np.uint64(8)) & np.uint64(65535)) % tenure
            flip(s, n, C, V, Q, A, rows, factors, j)
            energy += least
            if energy < best:
                best = energy
                least_s[:] = s[:n]
                if best <= target:
                    return best, made + step, least_s
        made += LENGTH * n
    return best, made, least_s


def energy(s: Any) -> int:
    """The energy from its definition."""
    s = np.asarray(s, dtype=np.int64)
    return int(sum(int(s[k:] @ s[: s.size - k]) ** 2 for k in range(1, s.size)))
