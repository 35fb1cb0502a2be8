"""What a whole DPCD descent costs, in full gradients of the same run, and how the cost grows with the size.

    python benchmarks/descent.py            # 10^7 nonzeros, two shapes, and four sizes a factor 4 apart
    python benchmarks/descent.py --quick

The rival is one full gradient on all threads: the least that a method which recomputes the gradient pays an iteration.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from recording import Recorder

import flipwise


def random_quadratic(n: int, nonzeros: int, seed: int) -> flipwise.Quadratic:
    """A sparse symmetric Gaussian matrix with about `nonzeros` stored entries."""
    rng = np.random.default_rng(seed)
    half = nonzeros // 2
    rows, columns = rng.integers(0, n, half, dtype=np.int32), rng.integers(0, n, half, dtype=np.int32)
    A = sp.coo_array((rng.standard_normal(half), (rows, columns)), shape=(n, n)).tocsr()
    return flipwise.Quadratic(A + A.T)


def peak_kib() -> int:
    """The largest resident size since it was last reset."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmHWM")))


def measure(n: int, nonzeros: int, repeats: int, *, counted: bool = False) -> dict[str, float | int | str]:
    """Median times of a gradient and of a descent, interleaved, and the memory the descent adds."""
    f = random_quadratic(n, nonzeros, seed=0)
    x = np.where(np.random.default_rng(1).random(n) < 0.5, 1.0, -1.0)
    f.gradient(x)
    constraint = flipwise.Cardinality(n // 10) if counted else flipwise.Free()
    flipwise.minimize(f, seed=0, constraint=constraint)  # compile, warm up
    A = f.terms[0].A
    matrix_bytes = A.data.nbytes + A.indices.nbytes + A.indptr.nbytes
    gradients, descents = [], []
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = peak_kib()
    for seed in range(repeats):
        for _ in range(3):
            start = time.perf_counter()
            f.gradient(x)
            gradients.append(time.perf_counter() - start)
        start = time.perf_counter()
        result = flipwise.minimize(f, seed=seed, constraint=constraint)
        descents.append(time.perf_counter() - start)
    after = peak_kib()
    gradient, descent = statistics.median(gradients), statistics.median(descents)
    return {
        "constraint": "n / 10 ones" if counted else "free",
        "n": n,
        "nonzeros": int(A.nnz),
        "gradient_seconds": gradient,
        "descent_seconds": descent,
        "gradients_per_descent": descent / gradient,
        "iterations": result.iterations,
        "extra_memory_over_matrix": max(0, after - before) * 1024 / matrix_bytes,
    }


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a hundredth of the size")
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    scale = 100 if arguments.quick else 1
    recorder = Recorder("descent")
    for n, counted in itertools.product((100_000 // scale, 1_000_000 // scale), (False, True)):
        row = measure(n, 10_000_000 // scale, 3 if counted else arguments.repeats, counted=counted)
        recorder.add(part="cost", **row)
        print(
            f"{row['constraint']:<12} n {n:>9,}  nonzeros {row['nonzeros']:>11,}: a descent costs "
            f"{row['gradients_per_descent']:.2f} full gradients, adds {row['extra_memory_over_matrix']:.2f} matrices"
        )
    sizes = [n // scale for n in (15_625, 62_500, 250_000, 1_000_000)]
    times = []
    for n in sizes:
        row = measure(n, 10 * n, arguments.repeats)
        recorder.add(part="growth", **row)
        times.append(row["descent_seconds"])
        print(f"n {n:>9,}: {1000 * times[-1]:9.2f} ms")
    exponent = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
    recorder.add(part="exponent", exponent=exponent)
    print(f"time grows as n^{exponent:.3f}")


if __name__ == "__main__":
    main()
