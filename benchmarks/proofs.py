"""Which quadratic problems are proven optimal within a minute: the table of shares, stored.

    python benchmarks/proofs.py                                # every family, five instances each
    python benchmarks/proofs.py --families g05-60 torus2-pm    # some of them
    python benchmarks/proofs.py --limit 120 --most 60          # wall limit, and processor seconds that count
    python benchmarks/proofs.py --processor                    # the limit in seconds of the processor
    python benchmarks/proofs.py --gset G11 G13                 # toroidal graphs of the Gset (FLIPWISE_DATA)
    python benchmarks/proofs.py --table                        # print the stored run

Instances come from well-known generators with seeds of our own: Beasley's QUBO (entries in [-100, 100] at a density),
rudy's unweighted graphs with half of all edges, -1/+1 and [-10, 10] graphs with a tenth, toroidal grids with -1/+1 and
Gaussian couplings, and chains whose couplings fall with a power of the distance. Seconds are of the processor.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp
from recording import RESULTS, Recorder

import flipwise
from flipwise.kernels import compile_time

CLOCKS = ("processor", "wall")
DATA = Path(os.environ.get("FLIPWISE_DATA", "."))
Solve = Callable[..., Any]


def qubo(n: int, density: float) -> Callable[[np.random.Generator], tuple[Solve, Any]]:
    """Beasley's: maximise, so the entries are negated; their signs are symmetric anyway."""

    def make(rng: np.random.Generator) -> tuple[Solve, Any]:
        upper = np.triu(rng.integers(-100, 101, (n, n)) * (rng.random((n, n)) < density)).astype(float)
        return flipwise.solve_qubo, upper + np.triu(upper, 1).T

    return make


def graph(n: int, density: float, weights: Callable[..., Any]) -> Callable[[np.random.Generator], tuple[Solve, Any]]:
    def make(rng: np.random.Generator) -> tuple[Solve, Any]:
        upper = np.triu(weights(rng, (n, n)) * (rng.random((n, n)) < density), 1).astype(float)
        return flipwise.maxcut, sp.csr_array(upper + upper.T)

    return make


def torus(size: int, dimensions: int, gaussian: bool) -> Callable[[np.random.Generator], tuple[Solve, Any]]:
    def make(rng: np.random.Generator) -> tuple[Solve, Any]:
        n = size**dimensions
        places = np.arange(n).reshape((size,) * dimensions)
        heads = np.concatenate([np.roll(places, -1, axis=a).reshape(-1) for a in range(dimensions)])
        tails = np.tile(np.arange(n), dimensions)
        w = rng.standard_normal(heads.size) if gaussian else rng.choice([-1.0, 1.0], heads.size)
        upper = sp.coo_array((w, (tails, heads)), shape=(n, n))
        return flipwise.maxcut, sp.csr_array(upper + upper.T)

    return make


def chain(n: int, power: float) -> Callable[[np.random.Generator], tuple[Solve, Any]]:
    def make(rng: np.random.Generator) -> tuple[Solve, Any]:
        distance = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) + np.eye(n)
        upper = np.triu(np.rint(1e5 * rng.standard_normal((n, n)) / distance**power), 1)
        return flipwise.maxcut, sp.csr_array(upper + upper.T)

    return make


def ones(rng: np.random.Generator, shape: tuple[int, int]) -> Any:
    return np.ones(shape)


def signs(rng: np.random.Generator, shape: tuple[int, int]) -> Any:
    return rng.choice([-1, 1], shape)


def tens(rng: np.random.Generator, shape: tuple[int, int]) -> Any:
    return rng.integers(-10, 11, shape)


FAMILIES: dict[str, Callable[[np.random.Generator], tuple[Solve, Any]]] = {
    **{f"qubo50-{round(100 * d)}": qubo(50, d) for d in (0.1, 0.5, 1.0)},
    "qubo100-10": qubo(100, 0.1),
    "qubo100-100": qubo(100, 1.0),
    "g05-60": graph(60, 0.5, ones),
    "g05-80": graph(80, 0.5, ones),
    "pm1s-80": graph(80, 0.1, signs),
    "pm1s-100": graph(100, 0.1, signs),
    "w01-100": graph(100, 0.1, tens),
    **{f"torus2-pm-{s}": torus(s, 2, False) for s in (10, 15, 20)},
    **{f"torus2-gauss-{s}": torus(s, 2, True) for s in (10, 15, 20)},
    "torus3-pm-5": torus(5, 3, False),
    "torus3-gauss-5": torus(5, 3, True),
    **{f"chain-{n}-{power}": chain(n, power) for n in (100, 200, 300) for power in (2.5, 3.0)},
}


def gset(name: str) -> sp.csr_array:
    numbers = lzma.decompress((DATA / "qubo" / "gset" / f"{name}.txt.xz").read_bytes()).split()
    n, m = int(numbers[0]), int(numbers[1])
    rows = np.array(numbers[2:], dtype=float).reshape(m, 3)
    upper = sp.coo_array((rows[:, 2], (rows[:, 0].astype(int) - 1, rows[:, 1].astype(int) - 1)), shape=(n, n))
    return sp.csr_array(upper + upper.T)


def measure(record: Recorder, family: str, number: int, solve: Solve, problem: Any, limit: float) -> None:
    began = time.process_time()
    found = solve(problem, seed=0, time_limit=limit)
    record.add(
        family=family, number=number, n=found.x.size, value=found.value, bound=found.bound, gap=found.gap,
        status=found.status.name, processor_seconds=round(time.process_time() - began, 2),
        wall_limit=limit, nodes=found.info.get("nodes", 0),
        left=found.info.get("presolve", {}).get("left"), clock=CLOCKS[compile_time.time is time],
    )  # fmt: skip


def table(rows: list[dict[str, Any]], most: float) -> str:
    """One line a family: what is proven within so many seconds of the processor."""
    lines = ["| family | proven | processor seconds | largest gap |", "| --- | --- | --- | --- |"]
    for family in dict.fromkeys(row["family"] for row in rows):
        own = [row for row in rows if row["family"] == family]
        proven = [row for row in own if row["gap"] == 0.0 and row["processor_seconds"] <= most]
        seconds = [row["processor_seconds"] for row in own]
        gap = max(row["gap"] for row in own)
        lines.append(
            f"| {family} | {len(proven)} of {len(own)} | {min(seconds):.1f} to {max(seconds):.1f} | {100 * gap:.3g} % |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", nargs="*", default=list(FAMILIES), choices=list(FAMILIES))
    parser.add_argument("--gset", nargs="*", default=[])
    parser.add_argument("--count", type=int, default=5)
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--most", type=float, default=60.0)
    parser.add_argument("--processor", action="store_true", help="count the limit in seconds of the processor")
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    if given.table:
        print(table(json.loads((RESULTS / "proofs.json").read_text(encoding="utf-8"))["rows"], given.most))
        return
    if given.processor:  # all work is on one thread
        compile_time.time = SimpleNamespace(perf_counter=time.process_time)  # type: ignore[assignment]
    for make in (FAMILIES["qubo50-50"], FAMILIES["torus2-pm-10"]):  # machine code is loaded, or made, before
        solve, problem = make(np.random.default_rng(0))
        solve(problem, seed=0, time_limit=2.0)
        solve(problem, seed=0, bound="none", effort=0.1)
    record = Recorder("proofs", ("highspy",))
    families = given.gset or given.families
    record.go_on(lambda row: row["family"] not in families)
    if given.gset:
        for name in given.gset:
            measure(record, name, 0, flipwise.maxcut, gset(name), given.limit)
        return
    for index, family in enumerate(FAMILIES):
        if family in given.families:
            for number in range(given.count):
                solve, problem = FAMILIES[family](np.random.default_rng([2026, index, number]))
                measure(record, family, number, solve, problem, given.limit)


if __name__ == "__main__":
    main()
