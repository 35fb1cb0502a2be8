"""Solving again after 1 % of the weights have changed: a tenth of the first time, from the last points.

A sparse Ising model with a million couplings and a dense one with 2,000 variables, weights +-1. Each is solved cold,
1 % of the weights change, and the changed model is solved cold with the same time and warm with a tenth of it.

    python benchmarks/solve_again.py [--seconds 20] [--seeds 3] [--models sparse dense]
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from recording import Recorder

import flipwise


def sparse_model(rng: np.random.Generator) -> flipwise.QuadraticModel:
    """A random graph with a million couplings of +-1."""
    n, m = 200_000, 1_000_000
    i, j = rng.integers(0, n, 2 * m), rng.integers(0, n, 2 * m)
    keys = np.unique((np.minimum(i, j) * n + np.maximum(i, j))[i != j])
    keys = np.sort(rng.choice(keys, m, replace=False))
    return flipwise.QuadraticModel(np.zeros(n), keys // n, keys % n, rng.choice([-1.0, 1.0], m), 0.0, "spin")


def dense_model(rng: np.random.Generator) -> flipwise.QuadraticModel:
    """All couplings between 2,000 spins, +-1."""
    i, j = np.triu_indices(2000, 1)
    return flipwise.QuadraticModel(np.zeros(2000), i, j, rng.choice([-1.0, 1.0], i.size), 0.0, "spin")


def timed(call: Any) -> tuple[flipwise.Result, float]:
    """A result and the processor seconds of the call as a whole, which prepares before its clock starts."""
    began = time.process_time()
    result = call()
    return result, time.process_time() - began


def measure(name: str, seed: int, seconds: float) -> dict[str, Any]:
    """One instance: cold, then changed and solved cold and warm."""
    rng = np.random.default_rng(seed)
    live = flipwise.Incremental((sparse_model if name == "sparse" else dense_model)(rng))
    first, first_seconds = timed(lambda: live.solve(time_limit=seconds, seed=seed, threads=1))
    changed = rng.choice(live.model.b.size, live.model.b.size // 100, replace=False)
    live.update(live.model.i[changed], live.model.j[changed], -live.model.b[changed])
    stale = live.model.energy(first.x)
    warm, warm_seconds = timed(lambda: live.solve(seed=seed + 1, threads=1))
    cold, cold_seconds = timed(
        lambda: flipwise.Incremental(live.model).solve(time_limit=seconds, seed=seed + 1, threads=1)
    )
    short, _ = timed(lambda: flipwise.Incremental(live.model).solve(time_limit=seconds / 10, seed=seed + 1, threads=1))
    return {
        "model": name, "seed": seed, "couplings": int(live.model.b.size), "first": first.value,
        "first_seconds": first_seconds, "old_point": stale, "warm": warm.value, "warm_seconds": warm_seconds,
        "cold": cold.value, "cold_seconds": cold_seconds, "cold_in_a_tenth": short.value,
        "behind_percent": 100.0 * (warm.value - cold.value) / abs(cold.value),
        "share_of_time": warm_seconds / cold_seconds,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--models", nargs="+", default=["sparse", "dense"])
    given = parser.parse_args()
    flipwise.Incremental(dense_model(np.random.default_rng(0))).solve(time_limit=0.5, seed=0)  # kernels
    recorder = Recorder("solve_again")
    for name in given.models:
        for seed in range(given.seeds):
            row = measure(name, seed, given.seconds)
            recorder.add(**row)
            print({key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()})


if __name__ == "__main__":
    main()
