"""Upper bounds of Max-Cut on Gset: never below a best-known value, and close to the semidefinite relaxation's optimum.

    python benchmarks/maxcut_bounds.py [--largest 2000] [--only G1] [--quick]

The relaxation's own optimum lies between the value of its feasible primal matrix (unit vectors, from a long run) and
the proven bound; `above_sdp_percent` is the distance to the primal value, so it overstates the distance to the
optimum.
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np
from qubo_instances import gset_names, instance
from recording import Recorder

import flipwise
from flipwise.bounds.sdp import sdp_bound, solve_sdp, spectral_bound


def main() -> None:
    """Run and store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=60.0, help="limit of the sweeps of one bound")
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    names = arguments.only or (["G1", "G11", "G14"] if arguments.quick else gset_names())
    flipwise.warm_up()
    recorder = Recorder("maxcut_bounds")
    for name in names:
        problem = instance(name)
        if problem.model.n > arguments.largest:
            continue
        objective = problem.model.objective()
        started = time.perf_counter()
        sdp = -sdp_bound(objective, time_limit=arguments.seconds)
        seconds = time.perf_counter() - started
        started = time.perf_counter()
        spectral = -spectral_bound(objective)
        spectral_seconds = time.perf_counter() - started
        long_run = solve_sdp(
            objective,
            constraint=None,
            rank=None,
            max_sweeps=5000,
            tolerance=1e-10,
            rng=np.random.default_rng(1),
            deadline=time.perf_counter() + arguments.seconds,
        )
        primal = -long_run.value
        best = problem.best or math.nan
        recorder.add(
            instance=name,
            n=problem.model.n,
            best_known=problem.best,
            sdp_bound=sdp,
            sdp_primal=primal,
            above_sdp_percent=100.0 * (sdp - primal) / abs(primal),
            above_best_percent=100.0 * (sdp - best) / abs(best),
            below_best_known=bool(sdp < best),
            seconds=round(seconds, 3),
            spectral_bound=spectral,
            spectral_seconds=round(spectral_seconds, 3),
        )
        print(
            name, "best", best, "sdp bound", round(sdp, 3), "primal", round(primal, 3), f"{seconds:.1f} s", flush=True
        )
    rows = recorder.record["rows"]
    print(f"{sum(r['below_best_known'] for r in rows)} of {len(rows)} bounds below a best-known value (must be 0);")
    print(f"furthest above the relaxation: {max(r['above_sdp_percent'] for r in rows):.3f} %")


if __name__ == "__main__":
    main()
