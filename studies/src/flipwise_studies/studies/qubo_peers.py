"""Other samplers behind one function: the best 0/1 point within a time limit, with the history of bests.

Every point a sampler returns is evaluated again by us. A sampler without a time limit of its own is called again and
again, with more reads each time, until the time is over.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from flipwise.qubo.models import QuadraticModel
from flipwise_studies.experiments.cells import Skip


class _Sampler(NamedTuple):
    """Where a sampler is, and with which options it is called."""

    module: str
    name: str
    options: dict[str, Any]


_SAMPLERS = {
    "dwave-annealing": _Sampler("dwave.samplers", "SimulatedAnnealingSampler", {"num_sweeps": 1000}),
    "dwave-tabu": _Sampler("dwave.samplers", "TabuSampler", {}),
    "dwave-descent": _Sampler("dwave.samplers", "SteepestDescentSampler", {}),
    "openjij-annealing": _Sampler("openjij", "SASampler", {"num_sweeps": 1000}),
}
PEERS = tuple(_SAMPLERS)


class Sampled(NamedTuple):
    """The best energy a peer found, its seconds, and [seconds, best energy] at each improvement."""

    energy: float
    seconds: float
    history: list[list[float]]


def solve_with_peer(name: str, model: QuadraticModel, time_limit: float, seed: int) -> Sampled:
    """Let a peer work on a model in 0/1 variables until the time is over."""
    start = time.perf_counter()  # converting the model is part of the peer's work, as it is of ours
    sample = _make_sampler(name, model, time_limit)
    best = np.inf
    history: list[list[float]] = []
    reads = 1
    calls = 0
    while True:
        call_start = time.perf_counter()
        points = sample(reads, 1_000 * seed + calls)
        call_end = time.perf_counter()
        calls += 1
        energy = min(model.energy(point) for point in points)
        if energy < best:
            best = energy
            history.append([call_end - start, best])
        left = time_limit - (time.perf_counter() - start)
        seconds_a_read = (call_end - call_start) / reads
        if left < seconds_a_read:
            break
        reads = max(1, min(2 * reads, int(left / seconds_a_read)))
    return Sampled(best, time.perf_counter() - start, history)


def _make_sampler(name: str, model: QuadraticModel, time_limit: float) -> Callable[[int, int], Any]:
    """(reads, seed) -> array of 0/1 points, one a row, its columns in the order of the variables."""
    module, kind, options = _SAMPLERS[name]
    sampler = getattr(_import_or_skip(module), kind)()
    if kind == "TabuSampler":
        options = {"timeout": int(1000 * time_limit)}
    dimod = _import_or_skip("dimod")
    couplings = (model.i, model.j, model.b)
    bqm = dimod.BinaryQuadraticModel.from_numpy_vectors(model.linear, couplings, model.offset, dimod.BINARY)

    def sample(reads: int, seed: int) -> Any:
        samples = sampler.sample(bqm, num_reads=reads, seed=seed, **options)
        places = np.argsort(np.array([int(v) for v in samples.variables]))
        return samples.record.sample[:, places][:, : model.n]

    return sample


def _import_or_skip(module: str) -> Any:
    """The module; a cell whose sampler is not installed is skipped."""
    try:
        return import_module(module)
    except ImportError:
        raise Skip(f"{module.replace('.', '-')} is not installed") from None
