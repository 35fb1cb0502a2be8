"""An exact count natively against a penalty: the densest 50 of 2,000 nodes, in dwave-samplers over a range of weights.

    python benchmarks/penalties.py [--reads 5] [--only 1 10] [--quick]

The penalised model is -(edges inside) + P (number chosen - k)^2 as a BQM. Listed for each P and sampler: samples with
exactly k nodes, the best density among them, the density after a greedy repair of the best sample, seconds, couplings
and peak memory; then the same problem with the count kept by construction.
"""

from __future__ import annotations

import argparse
import resource
import time
from typing import Any

import dimod
import networkx as nx
import numpy as np
import scipy.sparse as sp
from dwave.samplers import SimulatedAnnealingSampler, SteepestDescentSampler, TabuSampler
from recording import Recorder

import flipwise

WEIGHTS = (0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)


def density(A: sp.csr_array, chosen: np.ndarray) -> float:
    """Edges inside over k(k-1)/2."""
    k = int(chosen.sum())
    return float(chosen @ (A @ chosen)) / (k * (k - 1)) if k > 1 else 0.0


def repaired(A: sp.csr_array, chosen: np.ndarray, k: int) -> np.ndarray:
    """Greedily drop or add nodes until exactly k are chosen."""
    x = chosen.astype(np.float64).copy()
    while (extra := int(x.sum()) - k) != 0:
        inside = A @ x
        if extra > 0:
            x[np.argmin(np.where(x > 0, inside, np.inf))] = 0.0
        else:
            x[np.argmax(np.where(x > 0, -np.inf, inside))] = 1.0
    return x


def penalised(A: sp.csr_array, k: int, P: float) -> dimod.BinaryQuadraticModel:
    """-(edges) + P (sum x - k)^2, built from arrays."""
    n = A.shape[0]
    i, j = np.triu_indices(n, 1)
    b = 2.0 * P - A.toarray()[i, j]
    return dimod.BinaryQuadraticModel.from_numpy_vectors(np.full(n, P * (1 - 2 * k)), (i, j, b), P * k * k, "BINARY")


def samplers(reads: int, seconds: float) -> dict[str, Any]:
    """The rivals with their settings."""
    return {
        "simulated annealing": lambda bqm: SimulatedAnnealingSampler().sample(bqm, num_reads=reads, seed=1),
        "tabu": lambda bqm: TabuSampler().sample(bqm, num_reads=1, timeout=int(1000 * seconds), seed=1),
        "steepest descent": lambda bqm: SteepestDescentSampler().sample(bqm, num_reads=10 * reads, seed=1),
    }


def memory() -> float:
    """Peak memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def main() -> None:
    """Run and store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reads", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10.0, help="time of the tabu sampler, and of flipwise")
    parser.add_argument("--only", type=float, nargs="+", help="penalty weights")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    n, k = (500, 25) if arguments.quick else (2000, 50)
    seconds = 1.0 if arguments.quick else arguments.seconds
    weights = arguments.only or ((1.0, 20.0) if arguments.quick else WEIGHTS)
    A = sp.csr_array(nx.to_scipy_sparse_array(nx.powerlaw_cluster_graph(n, 12, 0.3, seed=7), dtype=np.float64))
    recorder = Recorder("penalties", ("dimod", "dwave-samplers", "networkx"))
    flipwise.warm_up()
    before = memory()
    for limit in (0.1, 1.0, seconds):
        started = time.perf_counter()
        result = flipwise.solve_qubo(A * -0.5, count=k, seed=1, time_limit=limit, bound="none")
        spent = time.perf_counter() - started
        recorder.add(
            solver="flipwise, exact count",
            penalty=None,
            limit=limit,
            feasible="1/1" if int(result.x.sum()) == k else "0/1",
            density=density(A, result.x),
            seconds=round(spent, 3),
            couplings=A.nnz // 2,
            extra_mb=round(memory() - before, 1),
        )
        print("flipwise", limit, density(A, result.x), int(result.x.sum()), f"{spent:.2f} s", flush=True)
    for P in weights:
        bqm = penalised(A, k, P)
        for name, sample in samplers(arguments.reads, seconds).items():
            started = time.perf_counter()
            found = sample(bqm)
            spent = time.perf_counter() - started
            order = np.argsort(np.asarray(list(found.variables), dtype=int))
            points = found.record.sample[:, order].astype(np.float64)
            best = points[int(np.argmin(found.record.energy))]
            feasible = [x for x in points if int(x.sum()) == k]
            row = {
                "solver": name,
                "penalty": P,
                "ones_in_best": int(best.sum()),
                "feasible": f"{len(feasible)}/{len(points)}",
                "density": max((density(A, x) for x in feasible), default=None),
                "density_after_repair": density(A, repaired(A, best, k)),
                "seconds": round(spent, 3),
                "couplings": bqm.num_interactions,
                "extra_mb": round(memory() - before, 1),
            }
            recorder.add(**row)
            print(row, flush=True)


if __name__ == "__main__":
    main()
