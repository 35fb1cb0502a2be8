"""Training cost against the number of rows: the exponent of time over n, and the peak memory.

    python benchmarks/hashing_growth.py                              # n = 15k, 60k, 240k, 960k, 5 seeds
    python benchmarks/hashing_growth.py --sizes 5000 20000 80000
    python benchmarks/hashing_growth.py --quick

Rows of CIFAR-10 GIST in 64 principal components, repeated with Gaussian noise of a tenth of each feature's spread,
float32, 64 bits. The exponent is the slope of log(seconds) over log(n), by least squares. Every fit has a process of
its own, kernels compiled before the clock starts; small fits are repeated and their mean taken, since the first touch
of fresh memory costs as much as they do. Memory is what the process holds at most during the fit above what it held
before it (VmHWM, reset before the fit).
"""

from __future__ import annotations

import argparse
import ctypes
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from hashing_cells import Cells, add_options
from hashing_data import cifar10

from flipwise.hashing import FSDH, ITQ, SADH, SDH
from flipwise.hashing.quantisation import principal_axes

MODELS: dict[str, Any] = {
    "SDH, label sets": lambda seed: SDH(64, random_state=seed),
    "SDH, all items": lambda seed: SDH(64, distinct=False, random_state=seed),
    "SDH rbf, 300 anchors": lambda seed: SDH(64, hash_function="rbf", hash_options={"anchors": 300}, random_state=seed),
    "FSDH": lambda seed: FSDH(64, random_state=seed),
    "ITQ": lambda seed: ITQ(64, rounds=5, random_state=seed),
    "SADH-L": lambda seed: SADH(64, n_anchors=100, updates=5, random_state=seed),
}
REPEATED = 60_000
"""Up to so many rows a fit is repeated three times."""


def noisy_rows(n: int, seed: int) -> tuple[Any, Any]:
    """n rows of 64 numbers, and their classes."""
    X, y, _, _ = cifar10(seed, min(n, 59_000))
    mean, axes, _ = principal_axes(X, 64)
    base = ((X - mean) @ axes).astype(np.float32)
    noise = 0.1 * base.std(axis=0)
    which = np.arange(n) % len(base)
    rows = np.random.default_rng(seed).standard_normal((n, 64), dtype=np.float32)
    rows *= noise
    rows += base[which]
    return rows, y[which]


def held() -> tuple[int, int]:
    """(kilobytes held now, most held since the last reset)."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    lines = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    return int(lines["VmRSS"].split()[0]), int(lines["VmHWM"].split()[0])


def one(name: str, n: int, seed: int) -> dict[str, Any]:
    """Fit one model on n rows."""
    rows, labels = noisy_rows(n, seed)
    MODELS[name](seed).fit(rows[:3000], labels[:3000])
    ctypes.CDLL(None).malloc_trim(0)  # memory that was used before and is free again would hide what the fit takes
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # forget the peak of making the data
    before, _ = held()
    repeats = 3 if n <= REPEATED else 1
    started, cpu = time.perf_counter(), time.process_time()
    for _ in range(repeats):
        MODELS[name](seed).fit(rows, labels)
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu
    row = {"total_seconds": seconds / repeats, "cpu_seconds": cpu_seconds / repeats}
    return {**row, "megabytes": (held()[1] - before) / 1024}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[15_000, 60_000, 240_000, 960_000])
    parser.add_argument("--models", nargs="+", choices=tuple(MODELS), default=list(MODELS))
    parser.add_argument("--one", nargs=3, metavar=("MODEL", "N", "SEED"), help=argparse.SUPPRESS)
    add_options(parser)
    a = parser.parse_args()
    if a.one:
        print(json.dumps(one(a.one[0], int(a.one[1]), int(a.one[2]))))
        return
    if a.quick:
        a.sizes, a.seeds = [2000, 8000], [0]
    cells = Cells("hashing_growth", ("scikit-learn",), a)
    for seed in a.seeds:
        for name in a.models:
            for n in a.sizes:
                key = {"model": name, "n": n, "seed": seed}
                if "time" not in cells.wanted(key):
                    continue
                command = [sys.executable, __file__, "--one", name, str(n), str(seed)]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                cells.add("time", key, **json.loads(done.stdout.splitlines()[-1]))


if __name__ == "__main__":
    main()
