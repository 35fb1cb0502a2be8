"""A BQM with a million interactions: our conversion beside dimod's own `to_numpy_vectors`.

python benchmarks/dimod_conversion.py [--interactions 1000000] [--repeats 7]
"""

from __future__ import annotations

import argparse
import time

import dimod
import numpy as np
from recording import Recorder

from flipwise.qubo.formats.bqm import model_from_bqm


def main() -> None:
    """Run and store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--interactions", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    rng = np.random.default_rng(1)
    n = max(4, arguments.interactions // 50)
    i = rng.integers(0, n, arguments.interactions)
    j = (i + rng.integers(1, n, arguments.interactions)) % n
    bqm = dimod.BinaryQuadraticModel.from_numpy_vectors(np.ones(n), (i, j, rng.normal(size=i.size)), 0.0, "SPIN")
    theirs, ours, full = [], [], []
    for _ in range(arguments.repeats):  # in turn, so that a busy moment hits both
        begun = time.perf_counter()
        bqm.to_numpy_vectors()
        theirs.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        model = model_from_bqm(bqm)
        ours.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        model.objective()
        full.append(time.perf_counter() - begun)
    recorder = Recorder("dimod_conversion", ("dimod",))
    recorder.add(
        variables=bqm.num_variables,
        interactions=bqm.num_interactions,
        to_numpy_vectors=theirs,
        model_from_bqm=ours,
        objective=full,
        ratio_of_medians=float(np.median(ours) / np.median(theirs)),
        ratio_of_minima=float(np.min(ours) / np.min(theirs)),
    )
    print(f"{np.median(ours) / np.median(theirs):.2f} times the time of to_numpy_vectors (medians)")


if __name__ == "__main__":
    main()
