"""The same work in both tiers of the kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from flipwise import Graph
from flipwise.kernels import jit


def assert_same_graph_in_both_tiers(monkeypatch: pytest.MonkeyPatch, make: Callable[[], Graph]) -> None:
    """A graph is the same whether every kernel is interpreted, vectorised where it can be, or compiled."""
    compiled_call = jit.Kernel.__call__
    monkeypatch.setattr(jit.Kernel, "__call__", lambda self, *arguments: self.interpreted(*arguments))
    slow = make()
    monkeypatch.setattr(jit.Kernel, "__call__", lambda self, *arguments: self.uncompiled(*arguments))
    vectorised = make()
    monkeypatch.setattr(jit.Kernel, "__call__", compiled_call)
    with jit.compiled_at_once():
        fast = make()
    for other in (vectorised, fast):
        assert np.array_equal(slow.indptr, other.indptr) and np.array_equal(slow.indices, other.indices)
        assert slow.notes == other.notes
        assert (slow.weights is None and other.weights is None) or np.array_equal(slow.weights, other.weights)


def compiled(kernel: jit.Kernel) -> Callable[..., Any]:
    """The kernel in the compiled tier, however little there is to do."""

    def call(*arguments: Any) -> Any:
        with jit.compiled_at_once():
            return kernel(*arguments)

    return call


def interpreted(kernel: jit.Kernel) -> Callable[..., Any]:
    """The kernel as plain Python."""
    return kernel.interpreted


BOTH = pytest.mark.parametrize("tier", [interpreted, compiled])
"""For tests that call their kernels through `tier`."""
