"""A million variables and ten million nonzeros: first answer within 20 gradient passes, memory below 3 matrices.

    python benchmarks/qubo_scale.py [--n 1000000] [--nonzeros 10000000] [--seconds 20] [--quick]

The matrix is written to a file once and read back as a user would have it (scipy's .npz). A gradient pass is a full
product 2Ax + c by the library's own kernel, the median of five. Peak memory is that of a process that only reads and
solves.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from recording import Recorder


def make(path: Path, n: int, nonzeros: int) -> None:
    """A random symmetric +-1 matrix."""
    rng = np.random.default_rng(1)
    i, j = (rng.integers(0, n, nonzeros // 2, dtype=np.int32) for _ in range(2))
    w = rng.choice([-1.0, 1.0], size=i.size)
    keep = i != j
    upper = sp.coo_array((w[keep], (i[keep], j[keep])), shape=(n, n)).tocsr()
    sp.save_npz(path, sp.csr_array(upper + upper.T), compressed=False)


def memory(field: str) -> float:
    """Memory of this process in MB: VmRSS now, VmHWM at its peak (Linux)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024.0


def run(path: str, seconds: float) -> None:
    """Read, descend, improve; print one line of JSON. Runs in a process of its own."""
    import flipwise
    from flipwise.model.quadratic import Quadratic

    flipwise.warm_up()
    base = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of compiling
    started = time.perf_counter()
    A = sp.load_npz(path)
    read = time.perf_counter() - started
    matrix_mb = (A.data.nbytes + A.indices.nbytes + A.indptr.nbytes) / 2**20
    started = time.perf_counter()
    objective = Quadratic(A)
    built = time.perf_counter() - started
    x = np.ones(objective.n)
    passes = []
    for _ in range(5):
        begun = time.perf_counter()
        objective.gradient(x)
        passes.append(time.perf_counter() - begun)
    started = time.perf_counter()
    first = flipwise.minimize(objective, seed=1)
    descent = time.perf_counter() - started
    peak_descent = memory("VmHWM")
    started = time.perf_counter()
    later = flipwise.minimize(objective, method="portfolio", seed=1, time_limit=seconds)
    spent = time.perf_counter() - started
    peak = memory("VmHWM")
    gradient = float(np.median(passes))
    found = {
        "n": objective.n,
        "nonzeros": int(A.nnz),
        "matrix_mb": round(matrix_mb, 1),
        "read_seconds": round(read, 3),
        "build_seconds": round(built, 3),
        "gradient_seconds": round(gradient, 4),
        "descent_seconds": round(descent, 3),
        "descent_in_gradients": round((built + descent) / gradient, 1),
        "descent_value": first.value,
        "memory_before_mb": round(base, 1),
        "peak_descent_mb": round(peak_descent, 1),
        "peak_descent_in_matrices": round((peak_descent - base) / matrix_mb, 2),
        "search_seconds": round(spent, 3),
        "search_value": later.value,
        "peak_mb": round(peak, 1),
        "peak_in_matrices": round((peak - base) / matrix_mb, 2),
    }
    print(json.dumps(found))


def main() -> None:
    """Run and store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--nonzeros", type=int, default=10_000_000)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        run(arguments.worker, arguments.seconds)
        return
    n, nonzeros = (100_000, 1_000_000) if arguments.quick else (arguments.n, arguments.nonzeros)
    seconds = 3.0 if arguments.quick else arguments.seconds
    recorder = Recorder("qubo_scale")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "matrix.npz"
        make(path, n, nonzeros)
        command = [sys.executable, __file__, "--worker", str(path), "--seconds", str(seconds)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    row = json.loads(done.stdout.strip().splitlines()[-1])
    recorder.add(**row)
    print(json.dumps(row, indent=1))


if __name__ == "__main__":
    main()
