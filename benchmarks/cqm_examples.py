"""Constrained models like D-Wave's documented examples: `sample_cqm` against penalties and simulated annealing.

    python benchmarks/cqm_examples.py              # needs dwave-samplers; results/cqm-examples.json

The models are those of D-Wave's documentation and example repositories, on data drawn here: graph colouring with a
discrete group for each node and `x + y <= 1` for each edge, a knapsack, a portfolio of whole shares with a budget from
both sides, an assignment, features of which exactly k are selected, bins.
The rival is `dimod.cqm_to_bqm` with dwave-samplers' SimulatedAnnealingSampler (1,000 sweeps a read) until the same time
is over, for the default multiplier and for ten times less and more; the best feasible sample of the three runs counts,
so the rival has three times as long. One thread.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from typing import Any

import dimod
import numpy as np
from dwave.samplers import SimulatedAnnealingSampler
from recording import Recorder

from flipwise.interop.dimod import FlipwiseSampler

SWEEPS = 1000


def colouring(rng: np.random.Generator) -> Any:
    """40 nodes, 4 colours that cost 1 to 4: as cheap as possible."""
    cqm = dimod.ConstrainedQuadraticModel()
    for node in range(40):
        cqm.add_discrete([f"{node}.{colour}" for colour in range(4)], label=f"node {node}")
    edges = [(u, v) for u in range(40) for v in range(u) if rng.random() < 0.1]
    for u, v in edges:
        for colour in range(4):
            cqm.add_constraint(dimod.Binary(f"{u}.{colour}") + dimod.Binary(f"{v}.{colour}") <= 1)
    cqm.set_objective(sum((c + 1) * dimod.Binary(f"{node}.{c}") for node in range(40) for c in range(4)))
    return cqm


def knapsack(rng: np.random.Generator) -> Any:
    """50 items, weights up to 50."""
    weights, values = rng.integers(5, 51, 50), rng.integers(5, 101, 50)
    cqm = dimod.ConstrainedQuadraticModel()
    items = [dimod.Binary(f"item {k}") for k in range(50)]
    cqm.set_objective(-dimod.quicksum(int(v) * x for v, x in zip(values, items, strict=True)))
    cqm.add_constraint(
        dimod.quicksum(int(w) * x for w, x in zip(weights, items, strict=True)) <= int(weights.sum() // 3),
        label="capacity",
    )
    return cqm


def portfolio(rng: np.random.Generator) -> Any:
    """Whole shares of 8 stocks, risk against return, between 95 % and all of a budget."""
    prices = rng.integers(5, 60, 8)
    factors = rng.standard_normal((8, 3)) / 10.0
    risk = factors @ factors.T + np.diag(rng.uniform(0.001, 0.01, 8))
    budget = 300
    cqm = dimod.ConstrainedQuadraticModel()
    shares = [dimod.Integer(f"stock {k}", upper_bound=int(budget // prices[k])) for k in range(8)]
    returns = rng.uniform(0.0, 0.1, 8) * prices
    cost = dimod.quicksum(
        float(risk[i, j] * prices[i] * prices[j] / budget) * shares[i] * shares[j] for i in range(8) for j in range(8)
    )
    cqm.set_objective(cost - dimod.quicksum(float(returns[k]) * shares[k] for k in range(8)))
    spent = dimod.quicksum(int(prices[k]) * shares[k] for k in range(8))
    cqm.add_constraint(spent <= budget, label="upper budget")
    cqm.add_constraint(spent >= int(0.95 * budget), label="lower budget")
    return cqm


def assignment(rng: np.random.Generator) -> Any:
    """10 facilities to 10 places (quadratic)."""
    n = 10
    flow, distance = (np.triu(rng.integers(0, 10, (n, n)), 1) for _ in range(2))
    flow, distance = flow + flow.T, distance + distance.T
    x = [[dimod.Binary(f"{i} at {a}") for a in range(n)] for i in range(n)]
    cqm = dimod.ConstrainedQuadraticModel()
    cqm.set_objective(
        dimod.quicksum(
            int(flow[i, j] * distance[a, b]) * x[i][a] * x[j][b]
            for i in range(n) for j in range(n) for a in range(n) for b in range(n)
            if flow[i, j] * distance[a, b]
        )
    )  # fmt: skip
    for i in range(n):
        cqm.add_discrete([f"{i} at {a}" for a in range(n)], label=f"facility {i}")
        cqm.add_constraint(dimod.quicksum(x[k][i] for k in range(n)) == 1, label=f"place {i}")
    return cqm


def features(rng: np.random.Generator) -> Any:
    """15 of 60 features: correlated with the target, not with one another."""
    data = rng.standard_normal((200, 20)) @ rng.standard_normal((20, 60)) + rng.standard_normal((200, 60))
    target = data[:, :10].sum(axis=1) + rng.standard_normal(200)
    among = np.abs(np.corrcoef(data.T))
    with_target = np.abs([np.corrcoef(column, target)[0, 1] for column in data.T])
    x = [dimod.Binary(f"feature {k}") for k in range(60)]
    cqm = dimod.ConstrainedQuadraticModel()
    cqm.set_objective(
        dimod.quicksum(float(among[i, j]) * x[i] * x[j] for i in range(60) for j in range(i))
        - 3.0 * dimod.quicksum(float(with_target[k]) * x[k] for k in range(60))
    )
    cqm.add_constraint(dimod.quicksum(x) == 15, label="exactly 15")
    return cqm


def bins(rng: np.random.Generator) -> Any:
    """15 items into as few of 6 bins as possible."""
    weights = rng.integers(10, 50, 15)
    size = int(1.15 * weights.sum() / 4)
    used = [dimod.Binary(f"bin {b}") for b in range(6)]
    cqm = dimod.ConstrainedQuadraticModel()
    cqm.set_objective(dimod.quicksum(used))
    for item in range(15):
        cqm.add_discrete([f"{item} in {b}" for b in range(6)], label=f"item {item}")
    for b in range(6):
        load = dimod.quicksum(int(weights[item]) * dimod.Binary(f"{item} in {b}") for item in range(15))
        cqm.add_constraint(load - size * used[b] <= 0, label=f"bin {b}")
    return cqm


MODELS: tuple[Callable[[np.random.Generator], Any], ...] = (
    colouring, knapsack, portfolio, assignment, features, bins,
)  # fmt: skip


def by_penalties(cqm: Any, multiplier: float | None, seconds: float, seed: int) -> tuple[float, int, int]:
    """The best feasible value of annealing with penalties, how many reads were feasible, and how many there were."""
    best, feasible, reads = math.inf, 0, 0
    bqm, invert = dimod.cqm_to_bqm(cqm, lagrange_multiplier=multiplier)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        found = SimulatedAnnealingSampler().sample(bqm, num_reads=1, num_sweeps=SWEEPS, seed=seed + reads)
        sample = invert(found.first.sample)
        reads += 1
        if cqm.check_feasible(sample):
            feasible += 1
            best = min(best, float(cqm.objective.energy(sample)))
    return best, feasible, reads


def main() -> int:
    """Run both on all models and store what they found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    recorder = Recorder("cqm-examples")
    FlipwiseSampler().sample_cqm(knapsack(np.random.default_rng(0)), seed=0, time_limit=0.2)  # loads the kernels
    worse = 0
    for make in MODELS:
        for seed in range(arguments.seeds):
            cqm = make(np.random.default_rng([seed, 22]))
            found = FlipwiseSampler().sample_cqm(cqm, seed=seed, time_limit=arguments.seconds, threads=1)
            own = float(found.first.energy)
            feasible = all(cqm.check_feasible(sample) for sample in found.samples())
            usual = _usual(cqm)
            rivals = {
                f"{factor:g}": by_penalties(cqm, factor * usual, arguments.seconds, 1000 * seed)
                for factor in (0.1, 1.0, 10.0)
            }
            best = min(rival[0] for rival in rivals.values())
            as_good = feasible and own <= best + 1e-9 * max(1.0, abs(own))
            worse += not as_good
            row = {"model": make.__name__, "seed": seed, "flipwise": own, "feasible": feasible,
                   "penalties": None if math.isinf(best) else best, "as_good": as_good,
                   "rival": {name: {"value": None if math.isinf(value) else value, "feasible": kept, "reads": reads}
                             for name, (value, kept, reads) in rivals.items()}}  # fmt: skip
            recorder.add(**row, seconds=arguments.seconds)
            print({key: value for key, value in row.items() if key != "rival"}, flush=True)
    print(f"{worse} worse than penalties or not feasible")
    return 1 if worse else 0


def _usual(cqm: Any) -> float:
    """dimod's own default: ten times the largest bias of the objective."""
    biases = [*cqm.objective.linear.values(), *(bias for _, _, bias in cqm.objective.iter_quadratic())]
    return 10.0 * max(1e-9, *(abs(float(bias)) for bias in biases))


if __name__ == "__main__":
    sys.exit(main())
