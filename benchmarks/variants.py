"""Do memory and adaptive scales help? Plain DPCD against its momentum, Adam-like and Adagrad-like variants.

    python benchmarks/variants.py           # 5 families of problems, 20 instances each
    python benchmarks/variants.py --quick

Every variant starts from the same points; a value is given relative to the plain run on the same instance.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from recording import Recorder

import flipwise

VARIANTS = ("plain", "momentum", "adam", "adagrad")


def gaussian(rng: np.random.Generator, n: int) -> dict[str, Any]:
    A = rng.standard_normal((n, n))
    return {"objective": flipwise.Quadratic(A + A.T)}


def sparse(rng: np.random.Generator, n: int) -> dict[str, Any]:
    A = sp.random_array((n, n), density=8 / n, rng=rng, format="csr", data_sampler=rng.standard_normal)
    return {"objective": flipwise.Quadratic(A + A.T)}


def subgraph(rng: np.random.Generator, n: int) -> dict[str, Any]:
    W = sp.triu(sp.random_array((n, n), density=20 / n, rng=rng), 1)
    W.data[:] = 1.0
    f = flipwise.Quadratic(sp.csr_array(-(W + W.T)), variables="binary")
    return {"objective": f, "constraint": flipwise.Cardinality(n // 10)}


def quartic(rng: np.random.Generator, n: int) -> dict[str, Any]:
    B, c = rng.standard_normal((n, 8)), rng.standard_normal(n)

    def function(x: np.ndarray) -> tuple[float, np.ndarray]:
        y = B.T @ x
        return float((y**4).sum() / n + c @ x), B @ (4 * y**3) / n + c

    return {"objective": flipwise.Smooth(function, n)}


def logistic(rng: np.random.Generator, n: int) -> dict[str, Any]:
    X = rng.standard_normal((2 * n, n))
    y = np.where(X[:, : n // 5].sum(axis=1) + rng.standard_normal(2 * n) > 0, 1.0, -1.0)

    def function(b: np.ndarray) -> tuple[float, np.ndarray]:
        margin = y * (X @ b)
        return float(np.logaddexp(0, -margin).sum()), -X.T @ (y / (1 + np.exp(margin)))

    f = flipwise.Smooth(function, n, variables="binary")
    return {"objective": f, "constraint": flipwise.Cardinality(n // 5)}


FAMILIES: dict[str, tuple[Callable[[np.random.Generator, int], dict[str, Any]], int]] = {
    "dense Gaussian": (gaussian, 500),
    "sparse Gaussian": (sparse, 5000),
    "dense subgraph": (subgraph, 2000),
    "quartic": (quartic, 300),
    "logistic, exact count": (logistic, 150),
}


def main() -> None:
    """Run, store every value, print the mean difference to plain and the share of instances that got better."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="4 instances a family")
    instances = 4 if parser.parse_args().quick else 20
    recorder = Recorder("variants")
    print(f"{'family':<24}{'variant':<12}{'mean change':>12}{'better':>8}{'worse':>7}{'iterations':>12}")
    for family, (make, n) in FAMILIES.items():
        runs: dict[str, list[flipwise.Result]] = {variant: [] for variant in VARIANTS}
        for instance in range(instances):
            problem = make(np.random.default_rng(instance), n)
            for variant in VARIANTS:
                runs[variant].append(flipwise.minimize(**problem, seed=instance, variant=variant))
        for variant in VARIANTS:
            pairs = [(r.value, p.value) for r, p in zip(runs[variant], runs["plain"], strict=True)]
            changes = [(value - plain) / abs(plain) for value, plain in pairs]
            better = sum(change < -1e-9 for change in changes) / instances
            worse = sum(change > 1e-9 for change in changes) / instances
            iterations = math.fsum(r.iterations for r in runs[variant]) / instances
            recorder.add(
                family=family, n=n, variant=variant, instances=instances, mean_change=float(np.mean(changes)),
                standard_error=float(np.std(changes) / math.sqrt(instances)), better=better, worse=worse,
                iterations=iterations, seconds=math.fsum(r.seconds for r in runs[variant]) / instances,
            )  # fmt: skip
            print(
                f"{family:<24}{variant:<12}{100 * np.mean(changes):>11.3f}%{100 * better:>7.0f}%{100 * worse:>6.0f}%"
                f"{iterations:>12.1f}"
            )


if __name__ == "__main__":
    main()
