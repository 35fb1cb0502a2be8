"""Annealing of an `IsingForm`: schedules, and runs that a deadline can end between sweeps."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from flipwise.engine.limits import Clock
from flipwise.foundation.arrays import Floats, Ints, Signs
from flipwise.kernels import annealing as kernels
from flipwise.kernels.compile_time import working_time
from flipwise.model.forms import IsingForm, Numbers

COLD = {True: 0.05, False: 0.1}
"""Last temperature for dense and sparse problems, in units of `IsingForm.width`: colder only repeats the descent."""
CHUNK_SPINS = 2_000_000
"""Spins visited between two looks at the clock (20 to 50 ms)."""
CHUNK_ENTRIES = 200_000_000
"""Entries of full rows between two looks at the clock, if every spin were flipped; the hottest sweeps flip a third."""
FIT = 0.8
"""Share of the time left that the rest of a schedule may take; the descent needs the other part."""

_QUANTILES = kernels.exponential_quantiles()


def temperatures(form: IsingForm, heat: float, sweeps: int) -> Floats:
    """A geometric schedule from `heat` down to the cold end; none where that end rounds to 0."""
    cold = COLD[form.dense] * form.width
    return np.geomspace(max(heat * form.width, cold), cold, sweeps) if cold > 0 else np.zeros(0)


def anneal(form: IsingForm, s: Signs, f: Numbers, schedule: Floats, state: np.ndarray, clock: Clock) -> bool:
    """Sweep over `s` at each temperature, or at as many as there is time for, then descend; False where none was."""
    kernel = kernels.dense_anneal if form.dense else kernels.csr_anneal
    kernel.expect(schedule.size * form.n)
    swept = schedule.size == 0
    for part in paced(schedule, visits_of(form), clock):
        if part.size > 0:
            kernel(*form.couplings, part, _QUANTILES, s, f, state)
            swept = True
    if swept:
        quench(form, s, f)
    return swept


def anneal_part(
    form: IsingForm, s: Signs, f: Numbers, part: Ints, schedule: Floats, state: np.ndarray, clock: Clock
) -> bool:
    """As `anneal`, of the spins in `part` of a sparse problem; the descent at the end is of all."""
    kernels.csr_anneal_part.expect(schedule.size * part.size)
    for temperatures in paced(schedule, part.size, clock):
        if temperatures.size == 0:
            return False
        kernels.csr_anneal_part(*form.couplings, temperatures, _QUANTILES, part, s, f, state)
    quench(form, s, f)
    return True


def visits_of(form: IsingForm) -> int:
    """What a sweep costs, in visits of a spin; those of full rows cost more the longer these are."""
    return max(form.n, form.n * form.n * CHUNK_SPINS // CHUNK_ENTRIES if form.dense else 0)


def paced(schedule: Floats, visits: int, clock: Clock) -> Iterator[Floats]:
    """The schedule in chunks; what does not fit into the time left is thinned out, an empty chunk says it is over."""
    chunk = max(1, CHUNK_SPINS // visits)
    started = working_time()
    done = 0
    while schedule.size > 0:
        if clock.expired:
            yield schedule[:0]
            return
        yield schedule[:chunk]
        done += min(chunk, schedule.size)
        schedule = schedule[chunk:]
        taken = max(working_time() - started, 1e-9)  # a clock may not have moved
        fitting = clock.seconds_left * done / taken * FIT
        if schedule.size > max(0.0, fitting):  # time may have run out with the last chunk
            places = np.linspace(0, schedule.size - 1, max(1, int(fitting)))
            schedule = schedule[places.astype(np.int64)]


def quench(form: IsingForm, s: Signs, f: Numbers) -> None:
    """Descend to a point that no single flip improves."""
    kernel = kernels.dense_quench if form.dense else kernels.csr_quench
    kernel(*form.couplings, form.slack, s, f)


def random_state(rng: np.random.Generator) -> np.ndarray:
    """A nonzero state for the kernels' random numbers."""
    return np.array([rng.integers(1, 2**63)], dtype=np.uint64)
