"""Beyond annealing: tabu search, and the recombination of two points.

Dense problems are polished by tabu search and recombined along a path (the methods and their sources are in
`kernels.tabu`), sparse ones component by component.
"""

from __future__ import annotations

import numpy as np

from flipwise.engine.limits import Clock
from flipwise.foundation.arrays import Signs
from flipwise.kernels import tabu as kernels
from flipwise.kernels.components import csr_take_components
from flipwise.model.forms import IsingForm, Numbers

CHUNK_ENTRIES = 100_000_000
"""Matrix entries read between two looks at the clock (about 20 ms)."""


def tabu_search(form: IsingForm, s: Signs, steps: int, state: np.ndarray, clock: Clock) -> Signs:
    """The best point that `steps` steps of tabu search from `s` meet before time runs out."""
    assert form.matrix is not None
    costs, huge = _flip_costs(form, s)
    tenure = min(form.n // 4, form.n // 100 + 10)
    point = s.copy()
    found = s.copy()
    best = s
    energy = lowest = 0.0
    chunk = max(1, CHUNK_ENTRIES // form.n)
    kernels.dense_tabu.expect(steps * form.n)
    for start in range(0, steps, chunk):
        if clock.expired:
            break
        free_at = np.zeros(form.n, dtype=np.int64)
        size = min(chunk, steps - start)
        reached, change = kernels.dense_tabu(form.matrix, size, tenure, 10, huge, point, costs, free_at, found, state)
        if energy + reached < lowest:
            lowest = energy + reached
            best = found.copy()
        energy += change
    return best


def relinked(form: IsingForm, start: Signs, goal: Signs) -> Signs:
    """The best point in the middle of a greedy walk from `start` to `goal`."""
    assert form.matrix is not None
    differing = np.flatnonzero(start != goal)
    if differing.size < 4:
        return start.copy()
    costs, huge = _flip_costs(form, start)
    found = start.copy()
    kernels.dense_relink(form.matrix, huge, start.copy(), costs, differing, found)
    return found


def _flip_costs(form: IsingForm, s: Signs) -> tuple[Numbers, np.generic]:
    """The cost of every flip, and a number of the same type larger than any."""
    costs = (-2 * s * form.fields(s)).astype(form.h.dtype)
    largest = np.finfo(costs.dtype).max if costs.dtype.kind == "f" else np.iinfo(costs.dtype).max
    return costs, costs.dtype.type(largest / 4)


def take_better_components(form: IsingForm, s: Signs, f: Numbers, other: Signs) -> float:
    """Give `s` (with fields `f`, both in place) every component of its difference to `other` that does not cost.

    Returns the change of energy, never positive. Components that change nothing are taken too: they carry the
    search across plateaus.
    """
    other = form.aligned(s, other)
    stack = np.empty(form.n, dtype=np.int64)
    seen = np.zeros(form.n, dtype=np.bool_)
    change, _ = csr_take_components(*form.couplings, form.slack, form.slack == 0.0, s, f, other, stack, seen)
    return float(change)
