"""Training cost against the number of rows: the exponent of time over n, and the peak memory.

    python benchmarks/hashing_growth.py                              # n = 15k, 60k, 240k, 960k
    python benchmarks/hashing_growth.py --sizes 5000 20000 80000
    python benchmarks/hashing_growth.py --quick

Rows of CIFAR-10 GIST in 64 principal components, repeated with Gaussian noise of a tenth of each feature's spread,
float32, 64 bits. The exponent is the slope of log(CPU seconds) over log(n), by least squares; memory is what a process
holds at most above its peak while the data were made, so small models show 0. Every size runs in its own process;
kernels are compiled before the clock starts.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np
from hashing_data import cifar10
from recording import Recorder

from flipwise.hashing import FSDH, ITQ, SADH, SDH
from flipwise.hashing.projections import principal_axes

MODELS: dict[str, Any] = {
    "SDH, label sets": lambda: SDH(64, random_state=0),
    "SDH, all items": lambda: SDH(64, distinct=False, random_state=0),
    "SDH rbf, 300 anchors": lambda: SDH(64, hash_function="rbf", hash_options={"anchors": 300}, random_state=0),
    "FSDH": lambda: FSDH(64, random_state=0),
    "ITQ": lambda: ITQ(64, rounds=5, random_state=0),
    "SADH-L": lambda: SADH(64, n_anchors=100, updates=5, random_state=0),
}


def one(name: str, n: int) -> dict[str, Any]:
    """Fit one model on n rows."""
    X, y, _, _ = cifar10(0, min(n, 59_000))
    mean, axes, _ = principal_axes(X, 64)
    base = ((X - mean) @ axes).astype(np.float32)
    rng = np.random.default_rng(0)
    which = np.arange(n) % len(base)
    noise = 0.1 * base.std(axis=0)
    rows = base[which] + noise * rng.standard_normal((n, 64), dtype=np.float32)
    labels = y[which]
    MODELS[name]().fit(rows[:3000], labels[:3000])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started, cpu = time.perf_counter(), time.process_time()
    MODELS[name]().fit(rows, labels)
    row = {"model": name, "n": n, "seconds": time.perf_counter() - started, "cpu_seconds": time.process_time() - cpu}
    return {**row, "megabytes": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[15_000, 60_000, 240_000, 960_000])
    parser.add_argument("--only", nargs="+", choices=tuple(MODELS), default=list(MODELS))
    parser.add_argument("--one", nargs=2, metavar=("MODEL", "N"), help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="2,000 and 8,000 rows; nothing is stored")
    a = parser.parse_args()
    if a.one:
        print(json.dumps(one(a.one[0], int(a.one[1]))))
        return
    if a.quick:
        a.sizes = [2000, 8000]
    recorder = None if a.quick else Recorder("hashing_growth", ("scikit-learn",))
    for name in a.only:
        rows = []
        for n in a.sizes:
            done = subprocess.run(
                [sys.executable, __file__, "--one", name, str(n)], capture_output=True, text=True, check=True
            )
            rows.append(json.loads(done.stdout.splitlines()[-1]))
            print(rows[-1], flush=True)
            if recorder is not None:
                recorder.add(**rows[-1])
        logs = np.log([[row["n"], row["cpu_seconds"]] for row in rows])
        exponent = float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])
        print(f"{name}: CPU time grows as n^{exponent:.2f}", flush=True)
        if recorder is not None:
            recorder.add(model=name, exponent=exponent)


if __name__ == "__main__":
    main()
