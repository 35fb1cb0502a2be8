"""A soak: mixed problems from four threads for half an hour; memory must stay flat and every answer must be its twin's.

    python benchmarks/soak.py                # 30 minutes, writes results/robustness-soak.json
    python benchmarks/soak.py --quick        # one minute, writes results/robustness-soak-quick.json

The answers of every job are found once by a single thread. Then four threads draw jobs at random; each answer must be
the same to the last bit. Resident memory is read every five seconds; its slope is the least-squares line through the
readings after the first fifth of the time, which compiles and warms up.
"""

from __future__ import annotations

import argparse
import hashlib
import resource
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from recording import Recorder

import flipwise

THREADS = 4
SEEDS = 4
MOST_SLOPE = 1.0
"""Megabytes a minute."""
Job = Callable[[], bytes]


def jobs(folder: Path) -> dict[str, Job]:
    """Every kind of call with a few seeds; each returns the digest of its answer."""
    rng = np.random.default_rng(0)
    dense = rng.standard_normal((300, 300))
    dense = dense + dense.T
    sparse = sp.random_array((4000, 4000), density=20 / 4000, rng=rng, format="csr")
    sparse = sparse + sparse.T
    edges = rng.integers(0, 3000, (30_000, 2))
    features = rng.standard_normal((400, 24))
    path = flipwise.write_graph((3000, edges), folder / "graph.flipgraph")

    def reading(seed: int) -> bytes:
        own = folder / f"{threading.get_ident()}-{seed}.txt"
        flipwise.write_graph(flipwise.read_graph(path), own)
        graph = flipwise.read_graph(own)
        return graph.indptr.tobytes() + graph.indices.tobytes()

    def hashing(seed: int) -> bytes:
        from flipwise.hashing import ITQ

        return ITQ(n_bits=16, random_state=seed).fit_transform(features).tobytes()

    def saved(seed: int) -> bytes:
        own = folder / f"{threading.get_ident()}-{seed}.result"
        flipwise.minimize(dense, seed=seed).save(own)
        return flipwise.Result.load(own).x.tobytes()

    kinds: dict[str, Callable[[int], bytes]] = {
        "descent, dense": lambda seed: flipwise.minimize(dense, seed=seed, restarts=3).x.tobytes(),
        "descent, sparse, counted": lambda seed: flipwise.minimize(
            sparse, seed=seed, constraint=flipwise.Cardinality(900)
        ).x.tobytes(),
        "densest subgraph": lambda seed: flipwise.densest_subgraph(path, 40, seed=seed, effort=0.05).x.tobytes(),
        "maximum cut": lambda seed: flipwise.maxcut(sparse, seed=seed, effort=0.07, bound="none").x.tobytes(),
        "QUBO with bound": lambda seed: flipwise.solve_qubo(dense[:80, :80], seed=seed, effort=0.07).x.tobytes(),
        "bisection": lambda seed: flipwise.bisect(path, seed=seed, effort=0.03).x.tobytes(),
        "signed gradient method": lambda seed: flipwise.minimize(dense, seed=seed, method="sgm").x.tobytes(),
        "hash codes": hashing,
        "graph files": reading,
        "result files": saved,
    }
    return {
        f"{name} {seed}": lambda solve=solve, seed=seed: hashlib.sha256(solve(seed)).digest()
        for name, solve in kinds.items()
        for seed in range(SEEDS)
    }


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def soaked(minutes: float, folder: Path) -> dict[str, object]:
    """Run for so long; returns the row to store."""
    todo = jobs(folder)
    expected = {name: job() for name, job in todo.items()}
    print(f"{len(todo)} answers known", flush=True)
    names = list(todo)
    done: Counter[str] = Counter()
    wrong: list[str] = []
    until = time.monotonic() + 60.0 * minutes

    def work(place: int) -> None:
        rng = np.random.default_rng([place, time.time_ns()])
        while time.monotonic() < until:
            name = names[int(rng.integers(len(names)))]
            try:
                if todo[name]() != expected[name]:
                    wrong.append(name)
            except Exception as error:
                wrong.append(f"{name}: {type(error).__name__}: {error}")
            done[name.rsplit(" ", 1)[0]] += 1

    workers = [threading.Thread(target=work, args=(place,)) for place in range(THREADS)]
    began = time.monotonic()
    for worker in workers:
        worker.start()
    readings: list[tuple[float, int]] = []
    while any(worker.is_alive() for worker in workers):
        readings.append((time.monotonic() - began, resident()))
        time.sleep(min(5.0, 6.0 * minutes))
    for worker in workers:
        worker.join()
    after = [(t / 60.0, size / 1e6) for t, size in readings if t >= 12.0 * minutes]
    slope = float(np.polyfit(*np.array(after).T, 1)[0])
    return {
        "minutes": minutes,
        "threads": THREADS,
        "jobs": dict(done),
        "wrong": wrong,
        "slope_mb_per_minute": round(slope, 3),
        "most_allowed": MOST_SLOPE,
        "resident_mb": [round(size / 1e6, 1) for _, size in readings[:: max(1, len(readings) // 60)]],
        "peak_mb": round(max(size for _, size in readings) / 1e6, 1),
    }


def main() -> int:
    """Soak, store, judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one minute")
    parser.add_argument("--minutes", type=float, default=30.0)
    arguments = parser.parse_args()
    minutes = 1.0 if arguments.quick else arguments.minutes
    recorder = Recorder("robustness-soak-quick" if arguments.quick else "robustness-soak")
    with tempfile.TemporaryDirectory() as folder:
        row = soaked(minutes, Path(folder))
    recorder.add(**row)
    print({name: value for name, value in row.items() if name != "resident_mb"})
    return 0 if not row["wrong"] and row["slope_mb_per_minute"] < MOST_SLOPE else 1  # type: ignore[operator]


if __name__ == "__main__":
    sys.exit(main())
