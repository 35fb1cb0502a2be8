"""DPCD against plain local search and the paper's rivals on quadratics, at equal processor time on one core.

    taskset -c 0 python benchmarks/local_search.py                 # 4 families, 25 instances each, 3 seeds
    taskset -c 0 python benchmarks/local_search.py --instances 3   # a look

The plain local search is what anyone would write first: from random points, coordinates (or pairs, under a count) in
random order, every improving flip made at once, until none improves; again while time is left. It is compiled, and its
compilation is not counted. Each comparison gives it the processor seconds that DPCD took, the building of its problem
included. A rival of the paper runs once to its end; DPCD restarts for as long as it took (`seconds`), and the row says
what it took itself (`our_seconds`). The clock of the library is the process's here: a busy machine takes nothing away
from anybody.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[name] = "1"

import numba  # noqa: E402
import numpy as np  # noqa: E402
import scipy.sparse as sp  # noqa: E402
from recording import Recorder, count_processor_seconds  # noqa: E402

import flipwise  # noqa: E402

RIVALS = (
    *("sgm", "adm", "dcc", "lp", "spectral", "sdp", "l2box-admm", "mpec-epm", "mpec-adm", "penalty-decomposition"),
    *("l2box-nonseparable", "piecewise"),
)
LONGEST = 60.0
"""Seconds after which a rival is stopped."""
RESTARTS = 20

# --- plain local search ----------------------------------------------------------------------------------------------


@numba.njit(cache=True)
def dense_flips(A, x, g, order):
    """Flip whatever improves x'Ax until nothing does."""
    moved = True
    while moved:
        moved = False
        for i in order:
            if 2.0 * A[i, i] - x[i] * g[i] < -1e-9:
                factor = -4.0 * x[i]
                for j in range(x.size):
                    g[j] += factor * A[i, j]
                x[i] = -x[i]
                moved = True


@numba.njit(cache=True)
def dense_swaps(A, x, g, order):
    """Swap whatever pair improves x'Ax until none does."""
    moved = True
    while moved:
        moved = False
        for i in order:
            for j in order:
                if x[i] > 0.0 > x[j]:
                    gain = 2.0 * (g[i] - g[j]) - 4.0 * (A[i, i] + A[j, j]) + 8.0 * A[i, j]
                    if gain > 1e-9:
                        for k in range(x.size):
                            g[k] += 4.0 * (A[j, k] - A[i, k])
                        x[i], x[j] = -1.0, 1.0
                        moved = True


@numba.njit(cache=True)
def factor_flips(U, x, inner, order):
    """Flip whatever improves |U'x|^2 until nothing does."""
    moved = True
    while moved:
        moved = False
        for i in order:
            slope = 0.0
            own = 0.0
            for a in range(U.shape[1]):
                slope += U[i, a] * inner[a]
                own += U[i, a] * U[i, a]
            if own - x[i] * slope < -1e-12:
                for a in range(U.shape[1]):
                    inner[a] -= 2.0 * x[i] * U[i, a]
                x[i] = -x[i]
                moved = True


@numba.njit(cache=True)
def sparse_flips(indptr, indices, data, x, g, order):
    """Flip whatever improves x'Ax until nothing does; A has no diagonal."""
    moved = True
    while moved:
        moved = False
        for i in order:
            if x[i] * g[i] > 1e-9:
                factor = -4.0 * x[i]
                for p in range(indptr[i], indptr[i + 1]):
                    g[indices[p]] += factor * data[p]
                x[i] = -x[i]
                moved = True


def repeated(descend: Callable[[np.random.Generator], float], seconds: float, seed: int) -> float:
    """The best value of descents until the processor time is over."""
    rng = np.random.default_rng(seed)
    end = time.process_time() + seconds
    best = np.inf
    while time.process_time() < end or best == np.inf:
        best = min(best, descend(rng))
    return best


# --- families: (what minimize takes, one descent of the plain search) -------------------------------------------------


def spins(rng: np.random.Generator, n: int) -> np.ndarray:
    """A random point."""
    return np.where(rng.random(n) < 0.5, 1.0, -1.0)


def dense(rng: np.random.Generator) -> tuple[dict[str, Any], Callable[[np.random.Generator], float]]:
    """dense glass, n = 500"""
    B = rng.standard_normal((500, 500))
    A = (B + B.T) / 2.0

    def descend(own: np.random.Generator) -> float:
        x = spins(own, 500)
        dense_flips(A, x, 2.0 * (A @ x), own.permutation(500))
        return float(x @ A @ x)

    return {"objective": A}, descend


def counted(rng: np.random.Generator) -> tuple[dict[str, Any], Callable[[np.random.Generator], float]]:
    """dense, 60 of 300 ones"""
    B = rng.standard_normal((300, 300))
    A = (B + B.T) / 2.0

    def descend(own: np.random.Generator) -> float:
        x = np.full(300, -1.0)
        x[own.permutation(300)[:60]] = 1.0
        dense_swaps(A, x, 2.0 * (A @ x), own.permutation(300))
        return float(x @ A @ x)

    return {"objective": A, "count": 60}, descend


def low_rank(rng: np.random.Generator) -> tuple[dict[str, Any], Callable[[np.random.Generator], float]]:
    """low rank 10, n = 500"""
    U = rng.standard_normal((500, 10))

    def descend(own: np.random.Generator) -> float:
        x = spins(own, 500)
        factor_flips(U, x, U.T @ x, own.permutation(500))
        return float(((U.T @ x) ** 2).sum())

    return {"objective": flipwise.LowRank(U)}, descend


def sparse(rng: np.random.Generator) -> tuple[dict[str, Any], Callable[[np.random.Generator], float]]:
    """sparse glass, n = 20,000, degree 6"""
    n = 20_000
    i, j = rng.integers(0, n, (2, 3 * n))
    apart = i != j
    half = sp.coo_array((rng.standard_normal(3 * n)[apart] / 2.0, (i[apart], j[apart])), shape=(n, n))
    A = sp.csr_array(half + half.T)

    def descend(own: np.random.Generator) -> float:
        x = spins(own, n)
        sparse_flips(A.indptr, A.indices, A.data, x, 2.0 * (A @ x), own.permutation(n))
        return float(x @ (A @ x))

    return {"objective": A}, descend


FAMILIES = (dense, counted, low_rank, sparse)


def timed(problem: dict[str, Any], **options: Any) -> tuple[float, float]:
    """The value that `minimize` reaches and its processor seconds."""
    start = time.process_time()
    value = flipwise.minimize(**problem, threads=1, **options).value
    return value, time.process_time() - start


def main() -> None:
    """Run, store every comparison, print the share in which DPCD is at least level."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=25)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rivals", type=int, default=3, help="instances of each family that the paper's rivals run on")
    parser.add_argument("--families", nargs="*", default=[family.__name__ for family in FAMILIES])
    arguments = parser.parse_args()
    count_processor_seconds()
    recorder = Recorder("local_search")
    for family in FAMILIES:
        if family.__name__ not in arguments.families:
            continue
        title = str(family.__doc__)
        level: dict[str, list[bool]] = {}
        for instance in range(arguments.instances):
            problem, descend = family(np.random.default_rng([instance, 7]))
            for options in ({"restarts": 1}, {"restarts": RESTARTS}):
                if instance == 0:  # compile whatever one of the seeds needs
                    for seed in range(arguments.seeds):
                        timed(problem, method="dpcd", seed=seed, **options)
                    descend(np.random.default_rng(0))
                ours, plain, seconds = [], [], []
                for seed in range(arguments.seeds):
                    value, taken = timed(problem, method="dpcd", seed=seed, **options)
                    ours.append(value)
                    seconds.append(taken)
                    plain.append(repeated(descend, taken, seed))
                row = {"ours": float(np.mean(ours)), "rival": float(np.mean(plain)), "seconds": float(np.mean(seconds))}
                recorder.add(family=title, instance=instance, against="plain local search", **options, **row)
                level.setdefault(f"plain local search, {options['restarts']} descents", []).append(
                    row["ours"] <= row["rival"] + 1e-9 * abs(row["rival"])
                )
                if instance < 2:
                    print(f"  {title}: {options} {row}", flush=True)
            for rival in RIVALS if instance < arguments.rivals else ():
                try:
                    timed(problem, method=rival, seed=0, max_iterations=2)
                    reached, taken = timed(problem, method=rival, seed=0, time_limit=LONGEST)
                except flipwise.FlipwiseError as error:
                    print(f"  {title}: {rival} does not apply: {error}")
                    continue
                value, own_seconds = timed(problem, method="dpcd", seed=0, restarts=10**6, time_limit=taken)
                recorder.add(
                    family=title,
                    instance=instance,
                    against=rival,
                    ours=value,
                    rival=reached,
                    seconds=taken,
                    our_seconds=own_seconds,
                    restarts=None,
                )
                level.setdefault(rival, []).append(value <= reached + 1e-9 * abs(reached))
                if instance < 1:
                    print(f"  {title}: {rival} {reached:.4f} in {taken:.2f} s, dpcd {value:.4f}", flush=True)
        for against, won in level.items():
            print(f"{title:<36}{against:<36}{sum(won):>4} of {len(won)}", flush=True)


if __name__ == "__main__":
    main()
