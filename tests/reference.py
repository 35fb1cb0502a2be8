"""Naive NumPy twins and brute force: the oracles the tests compare with. Slow, obvious, independent of the library."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np


def all_spins(n: int, ones: int | None = None) -> np.ndarray:
    """Every +-1 vector of length n (with a given number of ones), one a row."""
    points = np.array(list(itertools.product((-1.0, 1.0), repeat=n))).reshape(-1, n)
    return points if ones is None else points[(points > 0).sum(axis=1) == ones]


def brute_force(value: Callable[[np.ndarray], float], n: int, ones: int | None = None) -> float:
    """The minimum over all feasible points."""
    return min(value(x) for x in all_spins(n, ones))


def quadratic(A: np.ndarray, c: np.ndarray, d: float, x: np.ndarray) -> float:
    """x'Ax + c'x + d, entry by entry."""
    total = d
    for i in range(x.size):
        total += c[i] * x[i]
        for j in range(x.size):
            total += A[i, j] * x[i] * x[j]
    return float(total)


def is_flip_optimal(value: Callable[[np.ndarray], float], x: np.ndarray, tolerance: float = 1e-9) -> bool:
    """Whether no single flip lowers the value."""
    best = value(x)
    for i in range(x.size):
        y = x.copy()
        y[i] = -y[i]
        if value(y) < best - tolerance * max(1.0, abs(best)):
            return False
    return True


def is_swap_optimal(
    value: Callable[[np.ndarray], float], x: np.ndarray, labels: np.ndarray | None = None, tolerance: float = 1e-9
) -> bool:
    """Whether no exchange of a +1 with a -1 of the same group lowers the value."""
    best = value(x)
    groups = np.zeros(x.size, dtype=int) if labels is None else labels
    for i in np.flatnonzero(x > 0):
        for j in np.flatnonzero(x < 0):
            if groups[i] == groups[j]:
                y = x.copy()
                y[i], y[j] = -1.0, 1.0
                if value(y) < best - tolerance * max(1.0, abs(best)):
                    return False
    return True


def literal_dpcd(
    gradient: Callable[[np.ndarray], np.ndarray], x: np.ndarray, alpha: float, L: float | None, ones: bool, steps: int
) -> list[np.ndarray]:
    """Algorithm 1 without neighbourhood search, in plain loops: the list of iterates."""
    x = x.copy()
    points = [x.copy()]
    for _ in range(steps):
        g = gradient(x)
        positive, negative = [v for v in g if v > 0], [-v for v in g if v < 0]
        L1 = L if L is not None else (sum(positive) / len(positive) if positive else 0.0)
        L2 = L if L is not None else (sum(negative) / len(negative) if negative else 0.0)
        plus = [i for i in range(x.size) if g[i] > alpha * L1 and x[i] == 1]
        minus = [i for i in range(x.size) if g[i] < -alpha * L2 and x[i] == -1]
        if ones:
            plus.sort(key=lambda i: -abs(g[i]))
            minus.sort(key=lambda i: -abs(g[i]))
            m = min(len(plus), len(minus))
            plus, minus = plus[:m], minus[:m]
        for i in plus + minus:
            x[i] = -x[i]
        points.append(x.copy())
        if np.array_equal(points[-1], points[-2]):
            break
    return points


def random_symmetric(rng: np.random.Generator, n: int, *, density: float = 1.0, integer: bool = False) -> np.ndarray:
    """A random symmetric matrix with a diagonal."""
    A = rng.integers(-9, 10, (n, n)).astype(float) if integer else rng.standard_normal((n, n))
    A = np.triu(A * (rng.random((n, n)) < density))
    return A + np.triu(A, 1).T
