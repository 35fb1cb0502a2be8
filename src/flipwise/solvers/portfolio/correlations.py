"""Polynomials that are the sum of squared autocorrelations of a sequence (LABS), found out and walked on tables.

Short walks from many starts are what finds its minima. Every second start is a skew-symmetric sequence,
s_{m+i} = (-1)^i s_{m-i}, or one end short of it (Golay 1977), in whose odd distances nothing is left to correlate.
"""

from __future__ import annotations

import numpy as np

from flipwise.engine.limits import Clock
from flipwise.foundation.arrays import Ints, Signs
from flipwise.kernels.polynomial_correlations import walk_correlations
from flipwise.model.polynomial import Polynomial

SHORTEST, LONGEST = 6, 181
"""Lengths of sequences: below there is nothing to search for, above 16 bits do not hold the tables."""
LENGTH = 4
"""Steps of a walk for each spin."""
TENTH = 10
"""A spin rests for a tenth of n steps, and up to as many more."""
ENTRIES = 60_000_000
"""Table entries that one call of the kernel goes over, about 10 ms."""


def is_autocorrelation(objective: Polynomial) -> bool:
    """Whether the polynomial is a positive multiple of the sum of squared autocorrelations, but for a constant."""
    n, c = objective.n, objective.coefficients
    if objective.binary or not SHORTEST <= n <= LONGEST or objective.degree != 4 or not c.size or c.min() <= 0.0:
        return False
    if not n**3 / 24 - n * n <= c.size <= n**3 / 6:  # there are about n^3 / 12: most polynomials are told apart here
        return False
    model = autocorrelation(n)
    if not (np.array_equal(model.offsets, objective.offsets) and np.array_equal(model.members, objective.members)):
        return False
    unit = c[0] / model.coefficients[0]
    return bool((c == unit * model.coefficients).all())


def autocorrelation(n: int) -> Polynomial:
    """The sum over k of the square of s_1 s_{1+k} + s_2 s_{2+k} + ..., without its constant."""
    rows = []
    for k in range(1, n):
        a, b = np.triu_indices(n - k, 1)
        rows.append(np.stack([a, a + k, b, b + k], axis=1))
    terms = np.concatenate(rows)
    return Polynomial.from_arrays(terms, np.full(len(terms), 2.0), n)


def walk_from_many(n: int, quantum: float, rng: np.random.Generator, state: Ints, clock: Clock) -> Signs:
    """The best sequence that walks from random starts meet, `quantum` table entries in all, or until time runs out."""
    room = (n + 31) // 32 * 32
    s, V, Q = (np.zeros(room, np.int16) for _ in range(3))
    tables = s, np.zeros(n, np.int16), V, Q, np.zeros((n, room), np.int16)
    rows, factors = np.zeros(n + 16, np.int64), np.zeros(n + 16, np.int16)
    free_at, cost = np.zeros(room, np.int32), np.zeros(room, np.int32)
    steps, tenure = LENGTH * n, max(1, n // TENTH)
    walks = max(1, int(ENTRIES / (steps * n * n)))
    found, best = np.ones(n, dtype=np.int8), np.ones(n, dtype=np.int8)
    lowest = n**3
    while True:
        energy = walk_correlations(
            starts(n, walks, rng), steps, tenure, *tables, rows, factors, free_at, cost, found, state
        )
        if energy < lowest:
            lowest = int(energy)
            best[:] = found
        quantum -= walks * steps * n * n
        if quantum <= 0 or clock.expired:
            return best


def starts(n: int, count: int, rng: np.random.Generator) -> Signs:
    """Random sequences, every second of them skew-symmetric, for even n but for an end."""
    drawn = (2 * rng.integers(0, 2, size=(count, n + 1), dtype=np.int8) - 1).astype(np.int8)
    odd = n + 1 - n % 2
    middle = odd // 2
    i = np.arange(1, middle + 1)
    signs = np.where(i % 2 == 0, 1, -1).astype(np.int8)
    drawn[::2, middle + i] = signs * drawn[::2, middle - i]
    off = 1 - n % 2
    drawn[::4, :n] = drawn[::4, off : off + n].copy()
    return np.ascontiguousarray(drawn[:, :n])
