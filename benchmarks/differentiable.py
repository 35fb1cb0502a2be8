"""Schemes for any differentiable function against their rivals, at equal processor time on one core.

    python benchmarks/differentiable.py --seconds 1 10 --seeds 5       # everything; about two hours
    python benchmarks/differentiable.py --functions network2 --seconds 2 --rivals flipwise "straight-through Adam"
    python benchmarks/differentiable.py --instance 1 --seconds 1 --seeds 2 --record differentiable_unseen
    python benchmarks/differentiable.py --seconds 1 --seeds 2 --record differentiable_schemes \\
        --rivals "momentum, normalised" "summed gradients" "cooled noise" descents "single moves" tabu momentum

Every run has its seconds of processor time to itself: the clock of the library is the process's in this program, so
that a busy machine takes nothing away from anybody. Needs torch, jax and scikit-learn.
"""

from __future__ import annotations

import argparse
import os
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[name] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
time.perf_counter = time.process_time

import numpy as np  # noqa: E402
from differentiable_functions import FUNCTIONS  # noqa: E402
from differentiable_rivals import FREE_ONLY, RIVALS, SCHEMES_ALONE  # noqa: E402
from recording import Recorder  # noqa: E402


def measure(
    functions: list[str], rivals: list[str], budgets: list[float], seeds: int, record: str, instance: int
) -> None:
    """Run every combination that is not yet stored, one after another."""
    recorder = Recorder(record, ("torch", "jax", "scikit-learn"))
    done = {(row["function"], row["rival"], row["seconds"], row["seed"]) for row in recorder.go_on()}
    for name in functions:
        function = FUNCTIONS[name](instance)
        function.both(function.constraint.random((function.n,), np.random.default_rng(0)))
        for seconds in budgets:
            for rival in rivals:
                if function.constraint.swaps and rival in FREE_ONLY:
                    continue
                for seed in range(seeds):
                    if (name, rival, seconds, seed) in done:
                        continue
                    began = time.process_time()
                    value = {**RIVALS, **SCHEMES_ALONE}[rival](function, seconds, np.random.default_rng(seed))
                    spent = time.process_time() - began
                    recorder.add(
                        function=name, title=function.name, rival=rival, seconds=seconds, seed=seed, value=value,
                        spent=round(spent, 3), load=round(os.getloadavg()[0], 1),
                    )  # fmt: skip
                    print(f"{name:12} {seconds:4g} s  {rival:22} seed {seed}  {value:.6g}  ({spent:.2f} s)", flush=True)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--functions", nargs="+", default=list(FUNCTIONS), choices=list(FUNCTIONS))
    parser.add_argument("--rivals", nargs="+", default=list(RIVALS), choices=[*RIVALS, *SCHEMES_ALONE])
    parser.add_argument("--seconds", nargs="+", type=float, default=[1.0, 10.0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--instance", type=int, default=0, help="0, or another that was kept aside")
    parser.add_argument("--record", default="differentiable", help="the name of the stored file")
    options = parser.parse_args()
    measure(options.functions, options.rivals, options.seconds, options.seeds, options.record, options.instance)


if __name__ == "__main__":
    main()
