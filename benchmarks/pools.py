"""Several answers: all optima of small problems, the cost of a pool, ten distinct cuts against ten reads of annealing.

    python benchmarks/pools.py [--instances 300] [--seconds 2] [--reads 10]

Optima: random QUBOs (free and with a count), Max-Cuts and cubic polynomials of up to 12 variables against brute force.
Cost: processor seconds of the same search with and without a pool of ten. Reads: the mean of ten distinct cuts of one
Flipwise run against the best of ten reads of dwave-samplers' simulated annealing at its defaults, and at as many sweeps
as fill the same processor time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp
from dwave.samplers import SimulatedAnnealingSampler
from recording import Recorder

import flipwise


def brute_force(value: Callable[[np.ndarray], float], points: list[np.ndarray]) -> set[bytes]:
    """All points with the least value."""
    values = [value(x) for x in points]
    return {x.astype(np.int8).tobytes() for x, v in zip(points, values, strict=True) if v == min(values)}


def pool_set(result: flipwise.Result) -> set[bytes]:
    """The points of a pool; of mirrored ones both."""
    assert result.pool is not None
    points = result.pool.points
    other = (1 - points if result.variables == "binary" else -points) if result.pool.mirrored else points
    return {x.tobytes() for x in np.concatenate([points, other])}


def optima(seed: int) -> list[bool]:
    """Whether the optima of one instance of each kind are exactly those of brute force."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 13))
    bits = [np.array(x) for x in product((0, 1), repeat=n)]
    Q = rng.integers(-2, 3, (n, n)).astype(float)
    k = int(rng.integers(1, n))
    right = [pool_set(flipwise.solve_qubo(Q, pool="optima", seed=0)) == brute_force(lambda x: x @ Q @ x, bits)]
    counted = flipwise.solve_qubo(Q, count=k, pool="optima", seed=0)
    right.append(pool_set(counted) == brute_force(lambda x: x @ Q @ x, [x for x in bits if x.sum() == k]))
    W = np.triu(rng.integers(0, 2, (n, n)), 1).astype(float)
    W[0, 1] = 1.0
    cut = flipwise.maxcut(sp.csr_array(W), pool="optima", seed=0)
    spins = [2 * x - 1 for x in bits]
    right.append(pool_set(cut) == brute_force(lambda x: x @ W @ x, spins))
    terms = {tuple(sorted(rng.choice(n, 3, replace=False).tolist())): float(rng.integers(-2, 3)) for _ in range(n)}
    polynomial = flipwise.Polynomial(terms, n)
    cubic = flipwise.minimize(polynomial, pool="optima", seed=0)
    right.append(pool_set(cubic) == brute_force(lambda x: polynomial.value(x.astype(float)), spins))
    return right


def graphs() -> dict[str, sp.csr_array]:
    """Graphs for cuts: sparse with weights of both signs, sparse without weights, dense."""
    rng = np.random.default_rng(7)
    kinds: dict[str, Any] = {
        "sparse, weights +-1, n = 2,000": (2000, 0.005, lambda size: rng.choice([-1.0, 1.0], size)),
        "sparse, no weights, n = 3,000": (3000, 0.003, np.ones),
        "dense, weights +-1, n = 500": (500, 1.0, lambda size: rng.choice([-1.0, 1.0], size)),
        "weights 1 to 10, n = 1,000": (1000, 0.02, lambda size: rng.integers(1, 11, size).astype(float)),
    }
    found = {}
    for name, (n, density, weights) in kinds.items():
        i, j = np.triu_indices(n, 1)
        inside = rng.random(i.size) < density
        found[name] = sp.csr_array(sp.coo_array((weights(int(inside.sum())), (i[inside], j[inside])), shape=(n, n)))
    return found


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """A result and its processor seconds."""
    began = time.process_time()
    result = call()
    return result, time.process_time() - began


def cost(name: str, graph: sp.csr_array) -> dict[str, Any]:
    """The same search with and without a pool, in turns; the median of five."""
    seconds: dict[bool, list[float]] = {False: [], True: []}
    values = {}
    for turn in range(5):
        for pooled in (False, True):
            more: dict[str, Any] = {"pool": 10, "distance": 3} if pooled else {}
            options = {"bound": "none", "effort": 0.5, "seed": turn, "threads": 1, **more}
            result, spent = timed(partial(flipwise.maxcut, graph, **options))
            seconds[pooled].append(spent)
            values[pooled] = result.value
    without, with_pool = float(np.median(seconds[False])), float(np.median(seconds[True]))
    return {
        "part": "cost", "graph": name, "without": without, "with": with_pool, "ratio": with_pool / without,
        "same_value": bool(values[False] == values[True]),
    }  # fmt: skip


def reads(name: str, graph: sp.csr_array, seconds: float, count: int) -> dict[str, Any]:
    """Ten distinct cuts against the best of ten reads."""
    rows, columns, weights = sp.find(graph)
    couplings = {(int(i), int(j)): float(w) for i, j, w in zip(rows, columns, weights, strict=True)}
    total = float(weights.sum())
    row: dict[str, Any] = {"part": "reads", "graph": name}
    result, spent = timed(
        lambda: flipwise.maxcut(graph, pool=count, distance=3, time_limit=seconds, bound="none", seed=0, threads=1)
    )
    pool = result.pool
    apart = pool.distances[~np.eye(len(pool), dtype=bool)]
    row |= {"pool": pool.values.tolist(), "mean": float(pool.values.mean()), "nearest": int(apart.min())}
    row["seconds"] = spent
    sampler = SimulatedAnnealingSampler()
    sweeps = 1000
    for label in ("defaults", "same time"):
        found, sa_seconds = timed(
            lambda sweeps=sweeps: sampler.sample_ising({}, couplings, num_reads=count, num_sweeps=sweeps, seed=1)
        )
        cuts = (total - found.record.energy) / 2.0
        row[f"annealing, {label}"] = {
            "best": float(cuts.max()), "mean": float(cuts.mean()), "seconds": sa_seconds, "sweeps": sweeps,
        }  # fmt: skip
        sweeps = max(1000, int(sweeps * spent / sa_seconds))
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--instances", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--reads", type=int, default=10)
    given = parser.parse_args()
    recorder = Recorder("pools", ("dwave-samplers",))
    right = np.array([optima(seed) for seed in range(given.instances)])
    kinds = ("QUBO", "QUBO with a count", "Max-Cut", "cubic")
    recorder.add(
        part="optima", instances=given.instances, right=dict(zip(kinds, right.sum(axis=0).tolist(), strict=True))
    )
    print(recorder.record["rows"][-1])
    for name, graph in graphs().items():
        flipwise.maxcut(graph, bound="none", effort=0.05, seed=0, pool=2)  # kernels
        for row in (cost(name, graph), reads(name, graph, given.seconds, given.reads)):
            recorder.add(**row)
            print(row)


if __name__ == "__main__":
    main()
