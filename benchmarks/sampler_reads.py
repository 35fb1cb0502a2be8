"""The sampler against D-Wave's annealer at an equal number of reads: processor time, energies, distinct reads.

    python benchmarks/sampler_reads.py [--only G1 bqp1000.1] [--reads 10 100]

Both with nothing but `num_reads` and a seed, in one process on one core. Needs dwave-samplers.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from qubo_instances import instance
from recording import Recorder

import flipwise

INSTANCES = ("bqp250.1", "bqp1000.1", "G1", "G11", "G14", "G22", "torus10000")
LARGE = 2000
"""From so many variables on the fewer reads only."""


def measured(sampler: Any, bqm: Any, reads: int, seed: int) -> dict[str, float]:
    """Processor seconds, the mean and the least energy, and how many reads differ."""
    before = time.process_time()
    found = sampler.sample(bqm, num_reads=reads, seed=seed)
    seconds = time.process_time() - before
    energies = np.repeat(found.record.energy, found.record.num_occurrences)
    assert energies.size == reads
    return {
        "seconds": round(seconds, 4),
        "mean": float(energies.mean()),
        "best": float(energies.min()),
        "distinct": len(np.unique(found.record.sample, axis=0)),
    }


def main() -> None:
    """Run and store."""
    from dwave.samplers import SimulatedAnnealingSampler

    from flipwise.interop.dimod import FlipwiseSampler
    from flipwise.qubo.formats.bqm import bqm_from_model

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", default=INSTANCES)
    parser.add_argument("--reads", type=int, nargs="+", default=[10, 100])
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    flipwise.warm_up()
    recorder = Recorder("sampler_reads", ("dimod", "dwave-samplers"))
    for name in arguments.only:
        model = instance(name).model
        bqm = bqm_from_model(model)
        measured(FlipwiseSampler(), bqm, 1, 0)
        for reads in arguments.reads:
            if model.n >= LARGE and reads > min(arguments.reads):
                continue
            ours = measured(FlipwiseSampler(), bqm, reads, arguments.seed)
            annealer = measured(SimulatedAnnealingSampler(), bqm, reads, arguments.seed)
            recorder.add(instance=name, n=model.n, reads=reads, ours=ours, annealer=annealer)
            print(name, reads, "flipwise", ours, "annealer", annealer, flush=True)


if __name__ == "__main__":
    main()
