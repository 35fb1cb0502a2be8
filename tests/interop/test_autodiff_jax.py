"""Objectives in jax: value and gradient by autodiff."""

from __future__ import annotations

import numpy as np
import pytest

import flipwise
from flipwise.kernels.compile_time import compile_seconds

jax = pytest.importorskip("jax", reason="jax is tested in an environment of its own")


@pytest.mark.parametrize("jit", [True, False])
def test_a_jax_loss_is_minimised(jit: bool) -> None:
    """A separable loss reaches its optimum, compiled or not; 0/1 variables reach the function as such."""
    target = np.random.default_rng(0).standard_normal(12)
    f = flipwise.from_jax(lambda x: ((x - target) ** 2).sum(), 12, jit=jit)
    assert np.array_equal(flipwise.minimize(f, seed=0).x, np.where(target >= 0, 1, -1))
    g = flipwise.from_jax(lambda b: ((b - 0.9) ** 2).sum(), 5, variables="binary")
    assert flipwise.minimize(g, seed=0).x.tolist() == [1] * 5


def test_compilation_is_counted_apart() -> None:
    """What jax compiles is no part of a time limit, and is counted once for arrays of the same shapes."""
    data = np.random.default_rng(0).standard_normal((6, 4))
    f = flipwise.from_jax(lambda x, batch: jax.numpy.tanh(batch @ x).mean(), 4, batches=[data[:3], data[3:]])
    before = compile_seconds()
    f.value(np.ones(4))
    first = compile_seconds()
    assert first > before
    f.value(-np.ones(4))
    assert compile_seconds() == first
