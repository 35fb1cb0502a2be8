"""Annealing of an `IsingForm`: schedules, and runs that a deadline can end between sweeps."""

from __future__ import annotations

import numpy as np

from flipwise.arrays import Floats, Signs
from flipwise.kernels import annealing as kernels
from flipwise.search.clock import Clock
from flipwise.search.form import IsingForm, Numbers

HOT = 1.0
"""First temperature of a full anneal, in units of `IsingForm.width` (where a mean-field glass begins to order)."""
COLD = {True: 0.05, False: 0.1}
"""Last temperature for dense and sparse problems: colder only repeats the descent that follows."""
CHUNK_SPINS = 4_000_000
"""Spins visited between two looks at the clock (20 to 50 ms)."""

_QUANTILES = kernels.exponential_quantiles()


def temperatures(form: IsingForm, heat: float, sweeps: int) -> Floats:
    """A geometric schedule from `heat` down to the cold end."""
    cold = COLD[form.dense] * form.width
    return np.geomspace(max(heat * form.width, cold), cold, sweeps) if form.width > 0 else np.zeros(0)


def anneal(form: IsingForm, s: Signs, f: Numbers, schedule: Floats, state: np.ndarray, clock: Clock) -> bool:
    """Sweep over `s` at each temperature, then descend; False when time ran out first (`s` is then worthless)."""
    chunk = max(1, CHUNK_SPINS // max(1, form.n))
    for start in range(0, schedule.size, chunk):
        if clock.expired:
            return False
        part = schedule[start : start + chunk]
        if form.matrix is not None:
            kernels.dense_anneal(form.matrix, part, _QUANTILES, s, f, state)
        else:
            kernels.csr_anneal(form.indptr, form.indices, form.data, part, _QUANTILES, s, f, state)
    quench(form, s, f)
    return True


def quench(form: IsingForm, s: Signs, f: Numbers) -> None:
    """Descend to a point that no single flip improves."""
    if form.matrix is not None:
        kernels.dense_quench(form.matrix, form.slack, s, f)
    else:
        kernels.csr_quench(form.indptr, form.indices, form.data, form.slack, s, f)


def random_state(rng: np.random.Generator) -> np.ndarray:
    """A nonzero state for the kernels' random numbers."""
    return np.array([rng.integers(1, 2**63)], dtype=np.uint64)
