"""How often each method finds the optimum of small problems, and how far it is off on average.

    python benchmarks/optima.py             # 300 instances of 8 to 16 variables, six families
    python benchmarks/optima.py --quick     # 30 instances
    python benchmarks/render.py optima      # the tables in the docs, from the stored rows

Every method runs once with its defaults and one seed an instance. Then every method whose answer depends on its start
or its seed runs from 20 starts, on the first ten instances of each family. The optimum comes from method="exact". The
gap is (value - optimum) / |optimum|.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from recording import Recorder

import flipwise

Instance = tuple[flipwise.Quadratic, Any]


def sparse_matrix(rng: np.random.Generator, n: int) -> sp.csr_array:
    """Gaussian entries on a random graph of average degree about 4."""
    A = np.triu(rng.standard_normal((n, n)) * (rng.random((n, n)) < 4.0 / n), 1)
    return sp.csr_array(A + A.T)


def dense_matrix(rng: np.random.Generator, n: int) -> np.ndarray:
    """A symmetric Gaussian matrix."""
    A = rng.standard_normal((n, n))
    return A + A.T


def low_rank(rng: np.random.Generator, n: int) -> flipwise.LowRank:
    """Rank 4 with weights of both signs."""
    return flipwise.LowRank(rng.standard_normal((n, 4)), rng.standard_normal(4))


def random_graph(rng: np.random.Generator, n: int) -> sp.csr_array:
    """-W of a random graph of edge probability 0.35."""
    W = np.triu(rng.random((n, n)) < 0.35, 1)
    return sp.csr_array(-(W | W.T).astype(float))


def _free(make: Callable[..., Any]) -> Callable[[np.random.Generator, int], Instance]:
    return lambda rng, n: (flipwise.Quadratic(make(rng, n), rng.standard_normal(n)), flipwise.Free())


def _counted(make: Callable[..., Any]) -> Callable[[np.random.Generator, int], Instance]:
    def instance(rng: np.random.Generator, n: int) -> Instance:
        r = int(rng.integers(2, n // 2 + 1))
        return flipwise.Quadratic(make(rng, n), rng.standard_normal(n)), flipwise.Cardinality(r)

    return instance


def _densest(rng: np.random.Generator, n: int) -> Instance:
    k = int(rng.integers(4, n // 2 + 1))
    return flipwise.Quadratic(random_graph(rng, n), variables="binary"), flipwise.Cardinality(k)


FAMILIES: dict[str, Callable[[np.random.Generator, int], Instance]] = {
    "sparse, free": _free(sparse_matrix),
    "dense, free": _free(dense_matrix),
    "low-rank, free": _free(low_rank),
    "sparse, count": _counted(sparse_matrix),
    "dense, count": _counted(dense_matrix),
    "densest k, count": _densest,
}


DETERMINISTIC = ("exact", "spectral", "ravi", "tpm", "frank-wolfe", "peeling")
"""Methods that end at the same point from every start."""
STARTS, WITH_STARTS = 20, 10
"""How many starts, on how many instances of each family."""


def all_others() -> list[str]:
    """The methods that DPCD is compared with; its variants, and the portfolio, are measured elsewhere."""
    own = ("solvers.dpcd", "solvers.portfolio")
    return [method.name for method in flipwise.methods() if not method.solver.startswith(own)]


def main() -> None:
    """Run all methods on all families."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="5 instances a family in place of 50")
    parser.add_argument("--resume", action="store_true", help="keep the rows of an interrupted run of the same command")
    parser.add_argument("--methods", help="comma-separated names; all by default")
    arguments = parser.parse_args()
    each = 5 if arguments.quick else 50
    names = arguments.methods.split(",") if arguments.methods else ["dpcd", *all_others()]
    runs = [(name, 1) for name in names] + [(name, STARTS) for name in names if name not in DETERMINISTIC]
    recorder = Recorder("optima-quick" if arguments.quick else "optima")
    if arguments.resume and recorder.path.exists():
        recorder.record["rows"] = json.loads(recorder.path.read_text(encoding="utf-8"))["rows"]
    done = {(row["family"], row["method"], row["starts"]) for row in recorder.record["rows"]}
    for family, make in FAMILIES.items():
        instances = []
        for seed in range(each):
            rng = np.random.default_rng([seed, len(family)])
            objective, constraint = make(rng, int(rng.integers(8 if "densest" not in family else 10, 17)))
            best = flipwise.minimize(objective, constraint=constraint, method="exact")
            assert best.status is flipwise.Status.OPTIMAL
            instances.append((seed, objective, constraint, best.value))
        for name, starts in runs:
            if (family, name, starts) in done:
                continue
            gaps = []
            start = time.perf_counter()
            try:
                for seed, objective, constraint, best_value in instances if starts == 1 else instances[:WITH_STARTS]:
                    result = flipwise.minimize(
                        objective, constraint=constraint, method=name, seed=seed, restarts=starts
                    )
                    gap = (result.value - best_value) / max(abs(best_value), 1e-9)
                    gaps.append(round(max(0.0, gap), 9))
            except flipwise.IncompatibleObjective:
                continue
            seconds = time.perf_counter() - start
            recorder.add(family=family, method=name, starts=starts, gaps=gaps, seconds=round(seconds, 3))
            share = np.mean(np.array(gaps) < 1e-9)
            print(
                f"{family:18} {name:22} x{starts:<3} optima {share:6.1%}  mean gap {np.mean(gaps):8.3%}  "
                f"{seconds:7.2f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
