"""Other samplers behind one function: best 0/1 point within a time limit, with the history of bests.

Every point a sampler returns is evaluated again by us. A sampler without a time limit of its own is called again and
again, with more reads each time, until the time is over.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from flipwise.experiments.cells import Skip
from flipwise.qubo.models import QuadraticModel

History = list[list[float]]
"""[seconds, best energy] at each improvement."""
Sampled = Callable[[int, int], Any]
"""(reads, seed) -> array of 0/1 points, one a row."""

PEERS = ("dwave-annealing", "dwave-tabu", "dwave-descent", "openjij-annealing")


def solve_with_peer(name: str, model: QuadraticModel, time_limit: float, seed: int) -> tuple[float, float, History]:
    """(best energy, seconds, history) of a peer on a model in 0/1 variables."""
    start = time.perf_counter()  # converting the model is part of the peer's work, as it is of ours
    sample = _SAMPLERS[name](model, time_limit)
    best = np.inf
    history: History = []
    reads = 1
    calls = 0
    while True:
        began = time.perf_counter()
        points = sample(reads, 1_000 * seed + calls)
        ended = time.perf_counter()
        calls += 1
        energy = min(model.energy(point) for point in points)
        if energy < best:
            best = energy
            history.append([ended - start, best])
        left = time_limit - (time.perf_counter() - start)
        each = (ended - began) / reads
        if left < each:
            break
        reads = max(1, min(2 * reads, int(left / each)))
    return best, time.perf_counter() - start, history


def _bqm(model: QuadraticModel, package: str) -> Any:
    try:
        import dimod
    except ImportError:
        raise Skip(f"{package} is not installed") from None
    couplings = (model.i, model.j, model.b)
    return dimod.BinaryQuadraticModel.from_numpy_vectors(model.linear, couplings, model.offset, dimod.BINARY)


def _ordered(samples: Any, n: int) -> Any:
    """The rows of a sample set with columns in the order 0, 1, ..., n - 1."""
    places = np.argsort(np.array([int(v) for v in samples.variables]))
    return samples.record.sample[:, places][:, :n]


def _dwave(sampler_name: str, **fixed: Any) -> Callable[[QuadraticModel, float], Sampled]:
    def make(model: QuadraticModel, time_limit: float) -> Sampled:
        bqm = _bqm(model, "dimod")
        try:
            from dwave import samplers
        except ImportError:
            raise Skip("dwave-samplers is not installed") from None
        sampler = getattr(samplers, sampler_name)()
        options = dict(fixed)
        if "timeout" in options:
            options["timeout"] = int(1000 * time_limit)

        def sample(reads: int, seed: int) -> Any:
            return _ordered(sampler.sample(bqm, num_reads=reads, seed=seed, **options), model.n)

        return sample

    return make


def _openjij(model: QuadraticModel, time_limit: float) -> Sampled:
    try:
        openjij = import_module("openjij")
    except ImportError:
        raise Skip("openjij is not installed") from None
    bqm = _bqm(model, "dimod")
    sampler = openjij.SASampler()

    def sample(reads: int, seed: int) -> Any:
        return _ordered(sampler.sample(bqm, num_reads=reads, num_sweeps=1000, seed=seed), model.n)

    return sample


_SAMPLERS: dict[str, Callable[[QuadraticModel, float], Sampled]] = {
    "dwave-annealing": _dwave("SimulatedAnnealingSampler", num_sweeps=1000),
    "dwave-tabu": _dwave("TabuSampler", timeout=0),
    "dwave-descent": _dwave("SteepestDescentSampler"),
    "openjij-annealing": _openjij,
}
