"""Instances with structure that single flips do not see: independent sets (QOBLIB), weights of many scales (MQLib).

    python benchmarks/structured.py [--seconds 60] [--only hamming10-4 g000330] [--family independent scales] [--quick]

One core, one seed; a run ends at the best-known value. The sizes of sets and the cuts are counted by the driver. Beside
them, what was submitted for a program on four GPUs with two hours (it comes with the data). `cpu_seconds` is what the
run took of its core, which others may have used at the same time; `found_after` is by the clock.
"""

from __future__ import annotations

import argparse
import json
import lzma
import time
from pathlib import Path
from typing import Any

import numpy as np
from qubo_instances import data_folder
from recording import Recorder

import flipwise


def folder(family: str) -> Path:
    """Where the instances of a family are."""
    return data_folder() / "qubo" / {"independent": "qoblib_mis", "scales": "mqlib_hard"}[family]


def known(family: str) -> dict[str, Any]:
    """The best-known values of a family."""
    return json.loads((folder(family) / "best_known.json").read_text())  # type: ignore[no-any-return]


def independent(name: str, best: float) -> tuple[flipwise.QuadraticModel, Any]:
    """minimise -sum x_i + 2 sum x_i x_j over the edges, and the size of a set (0 where it has a conflict)."""
    with lzma.open(folder("independent") / f"{name}.gph.xz", "rt") as lines:
        rows = [line.split() for line in lines]
    n = next(int(row[2]) for row in rows if row and row[0] == "p")
    edges = np.array([sorted(map(int, row[1:3])) for row in rows if row and row[0] == "e"]) - 1
    edges = np.unique(edges[edges[:, 0] != edges[:, 1]], axis=0)
    i, j = edges.T

    def size(x: np.ndarray) -> float:
        return float(np.count_nonzero(x)) if not (x[i] & x[j]).any() else 0.0

    return flipwise.QuadraticModel(-np.ones(n), i, j, np.full(i.size, 2.0), 0.0, "binary"), size


def scales(name: str, best: float) -> tuple[flipwise.QuadraticModel, Any]:
    """minimise minus the cut, and the cut."""
    with lzma.open(folder("scales") / f"{name}.txt.xz", "rt") as lines:
        n = int(lines.readline().split()[0])
        table = np.loadtxt(lines)
    i, j, w = table[:, 0].astype(np.int64) - 1, table[:, 1].astype(np.int64) - 1, table[:, 2]
    keep = w != 0
    i, j, w = i[keep], j[keep], w[keep]

    def cut(x: np.ndarray) -> float:
        return float(w[x[i] != x[j]].sum())

    return flipwise.QuadraticModel.from_terms(n, i, j, w / 2.0, -float(w.sum()) / 2.0, "spin"), cut


READERS = {"independent": independent, "scales": scales}


def main() -> None:
    """Run and store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="for independent sets; a twelfth for scales")
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--family", nargs="+", choices=list(READERS), default=list(READERS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    recorder = Recorder("structured")
    warm = flipwise.QuadraticModel(-np.ones(3), np.array([0, 1]), np.array([1, 2]), np.full(2, 2.0), 0.0, "binary")
    flipwise.minimize(warm.objective(), method="portfolio", seed=0)
    for family in arguments.family:
        limit = (5.0 if arguments.quick else arguments.seconds) / (12.0 if family == "scales" else 1.0)
        reached = 0
        table = {name: given for name, given in known(family).items() if not arguments.only or name in arguments.only}
        for name, given in table.items():
            best = float(given["best_known"] if isinstance(given, dict) else given)
            model, score = READERS[family](name, best)
            objective = model.objective()
            started, spent = time.perf_counter(), time.process_time()
            result = flipwise.minimize(
                objective, method="portfolio", time_limit=limit, seed=arguments.seed, threads=1, bound="none",
                target=-best if family == "independent" else None,
            )  # fmt: skip
            seconds, spent = time.perf_counter() - started, time.process_time() - spent
            value = score(result.x)
            reached += value >= best
            found = next((r.seconds for r in result.trace.records if r.best <= result.value), seconds)
            recorder.add(
                family=family,
                instance=name,
                n=model.n,
                couplings=int(model.b.size),
                best_known=best,
                proven=given["proven"] if isinstance(given, dict) else None,
                four_gpus=float(given["abs2_four_gpus"]) if isinstance(given, dict) else None,
                value=value,
                seconds=round(seconds, 3),
                cpu_seconds=round(spent, 3),
                found_after=round(found, 3),
                limit=limit,
            )
            print(f"{name:30s} best {best:10.0f} found {value:10.0f} after {found:.2f} s", flush=True)
        print(f"{family}: {reached} of {len(table)} at the best-known value or above it")


if __name__ == "__main__":
    main()
