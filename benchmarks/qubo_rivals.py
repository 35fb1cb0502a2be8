"""One run of one rival, in a process (and if need be an environment) of its own; numpy and the rival only.

    python benchmarks/qubo_rivals.py SOLVER MODEL.npz OUT.npz --seconds 1 --seed 0

The model is loaded and put into the rival's own form before the clock starts; what happens inside its call counts.
Writes every distinct best point met with the seconds since the start; the caller scores them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np


def make_bqm(data: Any) -> Any:
    """The model as a BQM."""
    import dimod

    vartype = "SPIN" if str(data["variables"]) == "spin" else "BINARY"
    return dimod.BinaryQuadraticModel.from_numpy_vectors(
        data["linear"], (data["i"], data["j"], data["b"]), float(data["offset"]), vartype
    )


def ordered(sampleset: Any, n: int) -> np.ndarray:
    """The best sample of a sample set, by variable number."""
    record = sampleset.record
    best = int(np.argmin(record.energy))
    x = np.empty(n, dtype=np.int8)
    x[np.asarray(list(sampleset.variables), dtype=int)] = record.sample[best]
    return x


def dwave_sa(data: Any, seconds: float, seed: int, tell: Callable[[np.ndarray], None]) -> None:
    """Reads with the default 1,000 sweeps for the first half of the time, then reads as long as what is left."""
    from dwave.samplers import SimulatedAnnealingSampler

    bqm, sampler, start = make_bqm(data), SimulatedAnnealingSampler(), tell.begin()  # type: ignore[attr-defined]
    sweeps, spent, k = 1000, 0.0, 0
    while (left := seconds - (time.perf_counter() - start)) > 0:
        if k and left < seconds / 2:
            sweeps = max(1000, int(0.95 * left / (spent / sweeps)))
        begun = time.perf_counter()
        tell(ordered(sampler.sample(bqm, num_reads=1, num_sweeps=sweeps, seed=seed + k), bqm.num_variables))
        spent, k = time.perf_counter() - begun, k + 1


def dwave_sa_long(data: Any, seconds: float, seed: int, tell: Callable[[np.ndarray], None]) -> None:
    """Two short reads to learn the speed, then one read as long as the time."""
    from dwave.samplers import SimulatedAnnealingSampler

    one_long_read(SimulatedAnnealingSampler(), data, seconds, seed, tell)


def one_long_read(sampler: Any, data: Any, seconds: float, seed: int, tell: Callable[[np.ndarray], None]) -> None:
    """Reads of 50 and 250 sweeps, then one sized to the time that is left."""
    bqm, start = make_bqm(data), tell.begin()  # type: ignore[attr-defined]
    times = []
    for sweeps in (50, 250):
        begun = time.perf_counter()
        tell(ordered(sampler.sample(bqm, num_reads=1, num_sweeps=sweeps, seed=seed), bqm.num_variables))
        times.append(time.perf_counter() - begun)
    # never less than a fifth of the plain quotient: a difference of two short times is noisy
    per_sweep = max((times[1] - times[0]) / 200, 0.2 * times[1] / 250)
    left = seconds - (time.perf_counter() - start) - max(0.0, times[0] - 50 * per_sweep)
    sweeps = int(0.95 * left / per_sweep)
    if sweeps > 0:
        tell(ordered(sampler.sample(bqm, num_reads=1, num_sweeps=sweeps, seed=seed + 1), bqm.num_variables))


def dwave_tabu(data: Any, seconds: float, seed: int, tell: Callable[[np.ndarray], None]) -> None:
    """One read with the whole time (its `timeout` is in milliseconds)."""
    from dwave.samplers import TabuSampler

    bqm, sampler = make_bqm(data), TabuSampler()
    tell.begin()  # type: ignore[attr-defined]
    tell(ordered(sampler.sample(bqm, num_reads=1, timeout=int(1000 * seconds), seed=seed), bqm.num_variables))


def dwave_descent(data: Any, seconds: float, seed: int, tell: Callable[[np.ndarray], None]) -> None:
    """Steepest descents from random points until the time is over."""
    from dwave.samplers import SteepestDescentSampler

    bqm, sampler, start = make_bqm(data), SteepestDescentSampler(), tell.begin()  # type: ignore[attr-defined]
    k = 0
    while time.perf_counter() - start < seconds:
        tell(ordered(sampler.sample(bqm, num_reads=10, seed=seed + k, large_sparse_opt=True), bqm.num_variables))
        k += 1


def openjij_sa(data: Any, seconds: float, seed: int, tell: Callable[[np.ndarray], None]) -> None:
    """Two short reads to learn the speed, then one read as long as the time."""
    import openjij

    one_long_read(openjij.SASampler(), data, seconds, seed, tell)


def bifurcation(data: Any, seconds: float, seed: int, tell: Callable[[np.ndarray], None]) -> None:
    """Ballistic and discrete simulated bifurcation in turn, 32 agents, until the time is over."""
    import simulated_bifurcation as sb
    import torch

    torch.manual_seed(seed)
    n = data["linear"].size
    J = np.zeros((n, n), dtype=np.float32)
    J[data["i"], data["j"]] = data["b"]
    domain = "spin" if str(data["variables"]) == "spin" else "binary"
    matrix, vector = torch.from_numpy(J), torch.from_numpy(data["linear"].astype(np.float32))
    start = tell.begin()  # type: ignore[attr-defined]
    k = 0
    while (left := seconds - (time.perf_counter() - start)) > 0:
        mode = "ballistic" if k % 2 == 0 else "discrete"
        x, _ = sb.minimize(
            matrix, vector, domain=domain, agents=32, mode=mode, max_steps=2000, timeout=left, verbose=False
        )
        tell(x.numpy().astype(np.int8))
        k += 1


SOLVERS = {
    "dwave-sa": dwave_sa,
    "dwave-sa-long": dwave_sa_long,
    "dwave-tabu": dwave_tabu,
    "dwave-descent": dwave_descent,
    "openjij-sa": openjij_sa,
    "simulated-bifurcation": bifurcation,
}


class Teller:
    """Keeps the points a solver hands over, and when."""

    def __init__(self) -> None:
        self.points: list[np.ndarray] = []
        self.times: list[float] = []
        self.start = 0.0

    def begin(self) -> float:
        """The clock starts."""
        self.start = time.perf_counter()
        return self.start

    def __call__(self, x: np.ndarray) -> None:
        self.points.append(x)
        self.times.append(time.perf_counter() - self.start)


def main() -> None:
    """Run one solver."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("solver", choices=SOLVERS)
    parser.add_argument("model")
    parser.add_argument("out")
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    tell = Teller()
    with np.load(arguments.model) as data:
        SOLVERS[arguments.solver](dict(data), arguments.seconds, arguments.seed, tell)
    keep = tell.points[-2000:]
    np.savez_compressed(arguments.out, x=np.array(keep, dtype=np.int8), seconds=np.array(tell.times[-2000:]))


if __name__ == "__main__":
    main()
