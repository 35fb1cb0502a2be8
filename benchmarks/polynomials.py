"""Polynomials of spins: glasses of degree 3 and 4 against quadratisation, and low autocorrelation (LABS).

    python benchmarks/polynomials.py glasses [--seconds 2] [--seeds 3]
    python benchmarks/polynomials.py labs [--cap 60] [--seeds 3] [--sizes 40 60]

Glasses: random products, four for each variable, weights -1/+1 or normal. Every solver has the same seconds of
processor time on one core. The rivals get the quadratic model that `dimod.make_quadratic` makes of the polynomial, as
`dimod.HigherOrderComposite` does in each call, here once and before the clock starts; with the composite's default
strength of penalties, 1, and with 3. They sample it again and again, each read longer than the one before, and every
read is scored on the polynomial itself. Needs `pip install dwave-samplers`.

LABS: processor seconds until a sequence of the known least energy (n = 100: 834 or less) is met, as the `Polynomial` of
degree 4, as anybody would write it; the library finds out what it is and walks on tables.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import flipwise

sys.path.insert(0, str(Path(__file__).parent))
from recording import Recorder

SIZES = (100, 300, 1000)
OPTIMA = {20: 26, 30: 59, 40: 108, 50: 153, 60: 218, 66: 257}
"""Least energies of LABS, by exhaustive search (Packebusch & Mertens, J. Phys. A 49, 2016)."""
TARGETS = {**OPTIMA, 100: 834}
"""What a run of LABS must meet."""


def glass(n: int, degree: int, weights: str, seed: int) -> flipwise.Polynomial:
    """4n random products of different spins."""
    rng = np.random.default_rng([n, degree, seed])
    rows = np.array([rng.permutation(n)[:degree] for _ in range(4 * n)])
    c = rng.choice([-1.0, 1.0], 4 * n) if weights == "pm1" else rng.standard_normal(4 * n)
    return flipwise.Polynomial.from_arrays(rows, c, n)


# --- solvers: a polynomial, seconds of processor time, a seed; returns the best value --------------------------------


def by_portfolio(f: flipwise.Polynomial, seconds: float, seed: int) -> float:
    """The portfolio on the polynomial as it is."""
    begun = time.process_time()
    return flipwise.minimize(
        f,
        method="portfolio",
        seed=seed,
        threads=1,
        time_limit=100.0 * seconds,
        callback=lambda _: time.process_time() - begun > seconds,
    ).value


def by_restarts(f: flipwise.Polynomial, seconds: float, seed: int) -> float:
    """One descent of DPCD after another."""
    begun = time.process_time()
    best = np.inf
    while time.process_time() - begun < seconds:
        best = min(best, flipwise.minimize(f, method="dpcd", seed=seed, threads=1).value)
        seed += 1_000_000
    return best


def quadratised(sampler_name: str, strength: float) -> Callable[[flipwise.Polynomial, float, int], float]:
    """A sampler of dwave-samplers on the quadratic model, with penalties of this strength."""

    def solve(f: flipwise.Polynomial, seconds: float, seed: int) -> float:
        import dimod
        import dwave.samplers

        poly = dimod.BinaryPolynomial(f.to_dict(), "SPIN")
        bqm = dimod.make_quadratic(poly, strength, dimod.SPIN)
        sampler = getattr(dwave.samplers, sampler_name)()
        order = list(bqm.variables)
        columns = [order.index(i) for i in range(f.n)]
        best, size, k = np.inf, 0, 0
        begun = time.process_time()
        while (left := seconds - (time.process_time() - begun)) > 0:
            before = time.process_time()
            if sampler_name == "TabuSampler":
                found = sampler.sample(
                    bqm, num_reads=1, timeout=max(5, int(1000 * min(left, 0.1 * 2**size))), seed=seed + k
                )
            else:
                found = sampler.sample(bqm, num_reads=1, num_sweeps=500 * 2**size, seed=seed + k)
            record = found.record.sample[:, [list(found.variables).index(order[c]) for c in columns]]
            best = min(best, *(f.value(point.astype(np.float64)) for point in record))
            k += 1
            if time.process_time() - before < left / 4.0:
                size += 1
        return float(best)

    return solve


SOLVERS: dict[str, Callable[[flipwise.Polynomial, float, int], float]] = {
    "flipwise portfolio": by_portfolio,
    "flipwise dpcd, restarts": by_restarts,
    "quadratised, SA": quadratised("SimulatedAnnealingSampler", 1.0),
    "quadratised, SA, strength 3": quadratised("SimulatedAnnealingSampler", 3.0),
    "quadratised, tabu": quadratised("TabuSampler", 1.0),
    "quadratised, tabu, strength 3": quadratised("TabuSampler", 3.0),
}


def run_glasses(seconds: float, seeds: int) -> None:
    """Every solver on every glass; a first run on a small one compiles what there is to compile."""
    record = Recorder("polynomials_glasses", ("dimod", "dwave-samplers"))
    for solve in SOLVERS.values():
        solve(glass(60, 3, "normal", 0), 0.3, 0)
    for n in SIZES:
        for degree in (3, 4):
            for weights in ("pm1", "normal"):
                for seed in range(seeds):
                    f = glass(n, degree, weights, seed)
                    for name, solve in SOLVERS.items():
                        begun = time.process_time()
                        value = solve(f, seconds, seed)
                        spent = time.process_time() - begun
                        row: dict[str, Any] = {"n": n, "degree": degree, "weights": weights, "seed": seed}
                        record.add(**row, solver=name, value=value, cpu_seconds=round(spent, 3), budget=seconds)
                        print(*row.values(), name, round(value, 3), round(spent, 2), flush=True)


def labs(n: int) -> flipwise.Polynomial:
    """sum_k C_k^2 as a polynomial: 2 for each pair of products at one distance, 1 for each product itself."""
    rows = []
    for k in range(1, n):
        a, b = np.triu_indices(n - k, 1)
        rows.append(np.stack([a, a + k, b, b + k], axis=1))
    together = np.concatenate(rows)
    return flipwise.Polynomial.from_arrays(together, np.full(len(together), 2.0), n, constant=n * (n - 1) / 2.0)


def labs_by_portfolio(n: int, target: int, cap: float, seed: int) -> float:
    """The general polynomial."""
    begun = time.process_time()
    return flipwise.minimize(
        labs(n),
        method="portfolio",
        seed=seed,
        threads=1,
        time_limit=100.0 * cap,
        target=target,
        callback=lambda _: time.process_time() - begun > cap,
    ).value


def run_labs(cap: float, seeds: int, sizes: list[int]) -> None:
    """Every length until the target or the cap, beside the stored other lengths; a first run compiles."""
    record = Recorder("polynomials_labs")
    record.go_on(lambda row: row["n"] not in sizes)
    labs_by_portfolio(12, 10, 2.0, 0)
    for n in sizes:
        for seed in range(seeds):
            begun = time.process_time()
            value = labs_by_portfolio(n, TARGETS[n], cap, seed)
            spent = time.process_time() - begun
            record.add(
                n=n,
                target=TARGETS[n],
                seed=seed,
                solver="Polynomial",
                value=value,
                cpu_seconds=round(spent, 3),
                cap=cap,
            )
            print(n, TARGETS[n], seed, value, round(spent, 2), flush=True)


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["glasses", "labs"])
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--cap", type=float, default=60.0)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sizes", type=int, nargs="*")
    given = parser.parse_args()
    if given.what == "glasses":
        run_glasses(given.seconds, given.seeds)
    else:
        run_labs(given.cap, given.seeds, given.sizes or list(TARGETS))


if __name__ == "__main__":
    main()
