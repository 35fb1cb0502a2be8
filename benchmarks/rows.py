"""Linear rows: knapsacks and assignments by search alone, against optima of HiGHS (or of all permutations).

    python benchmarks/rows.py --seconds 5        # 30 + 30 instances, 5 processor seconds each; results/rows.json
    python benchmarks/rows.py --only 5 --seconds 0.5

knapsack    20 with a linear objective (100 to 1,000 items; uncorrelated, weakly and strongly correlated: Pisinger,
            Computers & Operations Research 32, 2005), 10 quadratic ones (40 items, a quarter of the pairs)
assignment  10 of 25 x 25 with a budget, 14 generalised ones (5 agents with capacities, 20 to 40 jobs), 6 quadratic ones
            of 8 x 8

HiGHS proves the optima, outside the time that is compared; where it does not within its limit, its bound is what is
compared with. The search proves nothing here and is not helped by HiGHS (`bound="none"`).
"""

from __future__ import annotations

import argparse
import itertools
import sys
from typing import Any, NamedTuple

import numpy as np
import scipy.optimize
import scipy.sparse as sp
from recording import Recorder, count_processor_seconds

import flipwise

HIGHS_SECONDS = 20.0


class Instance(NamedTuple):
    """min x'Qx over bits with rows."""

    family: str
    name: str
    Q: Any
    rows: tuple[Any, Any, Any]


def knapsacks() -> list[Instance]:
    """The 30 knapsacks."""
    made = []
    for k in range(20):
        rng = np.random.default_rng(100 + k)
        n, kind = (100, 200, 500, 1000)[k % 4], ("uncorrelated", "weakly", "strongly")[k % 3]
        weights = rng.integers(1, 1001, n)
        values = {
            "uncorrelated": rng.integers(1, 1001, n),
            "weakly": np.maximum(1, weights + rng.integers(-100, 101, n)),
            "strongly": weights + 100,
        }[kind]
        Q = sp.diags_array(-values.astype(float)).tocsr()
        made.append(Instance("knapsack", f"{kind} correlated {n}", Q, (weights, None, int(weights.sum() // 3))))
    for k in range(10):
        rng = np.random.default_rng(200 + k)
        n = 40
        Q = -np.triu(rng.integers(1, 101, (n, n)) * (rng.random((n, n)) < 0.25)).astype(float)
        weights = rng.integers(1, 51, n)
        made.append(Instance("knapsack", f"quadratic {n}", Q, (weights, None, int(weights.sum() // 3))))
    return made


def assignments() -> list[Instance]:
    """The 30 assignments."""
    made = []
    for k in range(10):
        rng = np.random.default_rng(300 + k)
        n = 25
        cost, price = rng.integers(10, 100, (n, n)), rng.integers(1, 50, n * n)
        budget = int(0.6 * price.mean() * n)
        A = np.concatenate([each_once(n), price[None]])
        ends = np.ones(2 * n)
        made.append(Instance("assignment", f"with a budget {n}x{n}", np.diag(cost.ravel().astype(float)),
                             (A, np.append(ends, -np.inf), np.append(ends, budget))))  # fmt: skip
    for k in range(14):
        rng = np.random.default_rng(400 + k)
        agents, jobs = 5, (20, 30, 40)[k % 3]
        cost, needs = rng.integers(10, 51, (agents, jobs)), rng.integers(5, 26, (agents, jobs))
        once = np.kron(np.ones(agents), np.eye(jobs))
        loads = np.zeros((agents, agents * jobs))
        for a in range(agents):
            loads[a, a * jobs : (a + 1) * jobs] = needs[a]
        capacity = np.floor(0.8 * needs.sum(axis=1) / agents)
        made.append(Instance("assignment", f"generalised {agents}x{jobs}", np.diag(cost.ravel().astype(float)),
                             (np.concatenate([once, loads]), np.append(np.ones(jobs), np.full(agents, -np.inf)),
                              np.append(np.ones(jobs), capacity))))  # fmt: skip
    for k in range(6):
        rng = np.random.default_rng(500 + k)
        n = 8
        flow, distance = (np.triu(rng.integers(0, 10, (n, n)), 1) for _ in range(2))
        Q = np.kron(flow + flow.T, distance + distance.T).astype(float)
        made.append(Instance("assignment", f"quadratic {n}x{n}", Q, (each_once(n), 1, 1)))
    return made


def each_once(n: int) -> Any:
    """One in each row and column of a matrix."""
    return np.concatenate([np.kron(np.eye(n), np.ones(n)), np.kron(np.ones(n), np.eye(n))])


def best_known(instance: Instance) -> tuple[float, str]:
    """The least value or a bound on it, and which of both it is."""
    n = instance.Q.shape[0]
    if instance.name.startswith("quadratic 8x8"):
        side = 8
        tours = np.array(list(itertools.permutations(range(side))))
        four = instance.Q.reshape(side, side, side, side)
        values = sum(four[i, tours[:, i], j, tours[:, j]] for i in range(side) for j in range(side))
        return float(np.min(values)), "all permutations"
    A, lower, upper = instance.rows
    Q = sp.triu(sp.csr_array(instance.Q) + sp.csr_array(instance.Q).T, 1).tocoo()
    cost = np.append(instance.Q.diagonal(), Q.data)
    A = sp.csr_array(np.atleast_2d(A).astype(float))
    A.resize(A.shape[0], cost.size)
    constraints = [scipy.optimize.LinearConstraint(A, -np.inf if lower is None else lower, upper)]
    if Q.nnz:  # all products have negative coefficients: z <= x_i, z <= x_j
        edges = np.arange(Q.nnz)
        for ends in Q.coords:
            tied = sp.csr_array((np.ones(Q.nnz), (edges, n + edges)), shape=(Q.nnz, cost.size))
            tied = tied - sp.csr_array((np.ones(Q.nnz), (edges, ends)), shape=(Q.nnz, cost.size))
            constraints.append(scipy.optimize.LinearConstraint(tied, -np.inf, 0.0))
    answer = scipy.optimize.milp(
        cost,
        integrality=(np.arange(cost.size) < n).astype(int),
        bounds=scipy.optimize.Bounds(0, 1),
        constraints=constraints,
        options={"time_limit": HIGHS_SECONDS, "mip_rel_gap": 0.0},
    )
    return (float(round(answer.fun)), "HiGHS") if answer.status == 0 else (float(answer.mip_dual_bound), "HiGHS bound")


def main() -> int:
    """Solve all instances and store how far the answers are from the optima."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--only", type=int, default=30, help="so many of each family")
    arguments = parser.parse_args()
    recorder = Recorder("rows")
    flipwise.solve_qubo(np.zeros((3, 3)), rows=(np.ones(3), None, 2), bound="none", seed=0, max_iterations=2)
    count_processor_seconds()
    missed = 0
    for instance in [*knapsacks()[: arguments.only], *assignments()[: arguments.only]]:
        best, how = best_known(instance)
        A, lower, upper = instance.rows
        found = flipwise.solve_qubo(instance.Q, rows=instance.rows, seed=0, time_limit=arguments.seconds, bound="none")
        sums = np.atleast_2d(A) @ found.x
        feasible = bool((sums <= upper).all() and (lower is None or (sums >= lower).all()))
        gap = (found.value - best) / abs(best)
        missed += gap > 0.01 or not feasible
        row = {"family": instance.family, "instance": instance.name, "best": best, "by": how, "value": found.value,
               "gap": round(gap, 6), "feasible": feasible, "kept_by": found.info["rows"],
               "seconds": round(found.seconds, 2)}  # fmt: skip
        recorder.add(**row)
        print(row, flush=True)
    print(f"{missed} not feasible or more than 1 % from the best")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
