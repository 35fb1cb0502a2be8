"""Recombination of points: component by component on sparse problems, along a path on dense ones."""

from __future__ import annotations

import numpy as np

from flipwise.arrays import Signs
from flipwise.kernels import tabu as kernels
from flipwise.objectives.ising import IsingForm, Numbers


def take_better_components(form: IsingForm, s: Signs, f: Numbers, other: Signs) -> float:
    """Give `s` (with fields `f`, both in place) every component of its difference to `other` that does not cost.

    Returns the change of energy, never positive. Components that change nothing are taken too: they carry the
    search across plateaus.
    """
    other = aligned(form, s, other)
    stack = np.empty(form.n, dtype=np.int64)
    seen = np.zeros(form.n, dtype=np.bool_)
    change, _ = kernels.csr_take_components(
        form.indptr, form.indices, form.data, form.slack, form.slack == 0.0, s, f, other, stack, seen
    )
    return float(change)


def aligned(form: IsingForm, s: Signs, other: Signs) -> Signs:
    """`other`, or its mirror image where that has the same energy and is nearer to `s`."""
    return -other if form.symmetric and np.count_nonzero(s != other) > form.n // 2 else other


def distance(form: IsingForm, a: Signs, b: Signs) -> int:
    """The number of differing spins, up to a flip of all where that changes nothing."""
    apart = int(np.count_nonzero(a != b))
    return min(apart, form.n - apart) if form.symmetric else apart
