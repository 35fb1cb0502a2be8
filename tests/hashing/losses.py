"""Checks that every loss of codes must pass: the gradient against differences, flips against recomputation."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

import flipwise


def spins(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """A random point."""
    return np.where(rng.random(shape) < 0.5, -1.0, 1.0)


def check_gradient(f: Any, rng: np.random.Generator) -> None:
    """The gradient is the derivative of the value at any point of the box."""
    x = rng.uniform(-1, 1, f.shape)
    direction = rng.standard_normal(f.shape)
    h = 1e-5
    slope = (f.value(x + h * direction) - f.value(x - h * direction)) / (2 * h)
    assert np.isclose(slope, (f.gradient(x) * direction).sum(), rtol=1e-5, atol=1e-5)


def check_flips(f: Any, rng: np.random.Generator) -> None:
    """Changes, updated gradients and the flip gauge equal recomputation from scratch."""
    x = spins(rng, f.shape)
    g = f.gradient(x)
    before = f.value(x)
    gauge = -2.0 * x * f.flip_gradient(x, g)
    for i in range(x.size):
        y = x.copy()
        y.reshape(-1)[i] *= -1
        assert np.isclose(f.value(y) - before, gauge.reshape(-1)[i], atol=1e-8)
    batch = rng.permutation(x.size)[: int(rng.integers(1, x.size + 1))]
    y = x.copy()
    y.reshape(-1)[batch] *= -1
    assert np.isclose(f.flip_change(x, g, batch), f.value(y) - before, atol=1e-8)
    assert np.isclose(f.flip(x, g, batch), f.value(y) - before, atol=1e-8)
    assert np.array_equal(x, y) and np.allclose(g, f.gradient(y), atol=1e-8)
    after = f.value(x)
    flips, change = f.flip_improving(x, g, np.arange(x.size), follow=True)
    assert change <= 0 and np.isclose(f.value(x) - after, change, atol=1e-8)
    assert np.allclose(g, f.gradient(x), atol=1e-8) and (flips == 0) == (change == 0)


def check_lipschitz(f: Any, rng: np.random.Generator) -> None:
    """The stated constant bounds the change of the gradient."""
    L = f.lipschitz().value
    for _ in range(10):
        x, y = rng.uniform(-1, 1, f.shape), rng.uniform(-1, 1, f.shape)
        assert np.linalg.norm(f.gradient(x) - f.gradient(y)) <= L * np.linalg.norm(x - y) + 1e-9


def check_minimised(f: Any) -> None:
    """`minimize` takes the loss like any objective and solves a small one to optimality by restarts."""
    if np.prod(f.shape) > 12:
        return
    best = min(f.value(np.array(p).reshape(f.shape)) for p in product([-1.0, 1.0], repeat=int(np.prod(f.shape))))
    assert np.isclose(flipwise.minimize(f, seed=0, restarts=20).value, best, atol=1e-8)
