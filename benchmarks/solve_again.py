"""Solving again after 1 % of the weights have changed: a tenth of the first time, from the last points.

A sparse Ising model with a million couplings and a dense one with 2,000 variables, weights whole numbers from -10 to 10
and +-1. Each is solved cold, 1 % of the weights change (they are drawn anew, or all of them change their sign), and the
changed model is solved cold with the same time, warm with a tenth of it, and cold with a tenth of it.

    python benchmarks/solve_again.py [--seconds 20] [--seeds 3] [--models sparse dense]
"""

from __future__ import annotations

import argparse
import time
from itertools import product
from typing import Any

import numpy as np
from recording import Recorder

import flipwise


def weights(rng: np.random.Generator, size: int, change: str) -> np.ndarray:
    """Weights of the kind that goes with a change."""
    return rng.choice([-1.0, 1.0], size) if change == "sign" else rng.integers(-10, 11, size).astype(float)


def sparse_model(rng: np.random.Generator, change: str) -> flipwise.QuadraticModel:
    """A random graph with a million couplings."""
    n, m = 200_000, 1_000_000
    i, j = rng.integers(0, n, 2 * m), rng.integers(0, n, 2 * m)
    keys = np.unique((np.minimum(i, j) * n + np.maximum(i, j))[i != j])
    keys = np.sort(rng.choice(keys, m, replace=False))
    return flipwise.QuadraticModel(np.zeros(n), keys // n, keys % n, weights(rng, m, change), 0.0, "spin")


def dense_model(rng: np.random.Generator, change: str) -> flipwise.QuadraticModel:
    """All couplings between 2,000 spins."""
    i, j = np.triu_indices(2000, 1)
    return flipwise.QuadraticModel(np.zeros(2000), i, j, weights(rng, i.size, change), 0.0, "spin")


def timed(call: Any) -> tuple[flipwise.Result, float]:
    """A result and the processor seconds of the call as a whole, which prepares before its clock starts."""
    began = time.process_time()
    result = call()
    return result, time.process_time() - began


def measure(name: str, change: str, seed: int, seconds: float) -> dict[str, Any]:
    """One instance: cold, then changed and solved cold and warm."""
    rng = np.random.default_rng(seed)
    live = flipwise.Incremental((sparse_model if name == "sparse" else dense_model)(rng, change))
    first, first_seconds = timed(lambda: live.solve(time_limit=seconds, seed=seed, threads=1))
    changed = rng.choice(live.model.b.size, live.model.b.size // 100, replace=False)
    drawn = -live.model.b[changed] if change == "sign" else weights(rng, changed.size, change)
    live.update(live.model.i[changed], live.model.j[changed], drawn)
    stale = live.model.energy(first.x)
    warm, warm_seconds = timed(lambda: live.solve(seed=seed + 1, threads=1))
    cold, cold_seconds = timed(
        lambda: flipwise.Incremental(live.model).solve(time_limit=seconds, seed=seed + 1, threads=1)
    )
    short, _ = timed(lambda: flipwise.Incremental(live.model).solve(time_limit=seconds / 10, seed=seed + 1, threads=1))
    return {
        "model": name, "change": change, "seed": seed, "couplings": int(live.model.b.size), "first": first.value,
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
    flipwise.Incremental(dense_model(np.random.default_rng(0), "sign")).solve(time_limit=0.5, seed=0)  # kernels
    recorder = Recorder("solve_again")
    for name in given.models:
        for change, seed in product(("anew", "sign"), range(given.seeds)):
            row = measure(name, change, seed, given.seconds)
            recorder.add(**row)
            print({key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()})


if __name__ == "__main__":
    main()
