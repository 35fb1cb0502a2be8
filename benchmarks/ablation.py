"""What each departure of the default DPCD from the paper is worth: the default without one of them at a time.

    taskset -c 0 python benchmarks/ablation.py            # 10 instances of each family
    taskset -c 0 python benchmarks/ablation.py --quick

One descent from the same random start. A value is given relative to the default's on the same instance, and so is the
processor time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
import scipy.sparse as sp
from recording import Recorder

import flipwise
from flipwise.model.constraints import Cardinality, allowed_moves, disjoint_moves
from flipwise.solvers.dpcd import algorithm, steps


class WithoutDiagonalGauge(steps.ImprovingUpdate):
    """The gradient as it is decides who is principal."""

    def gauge(self, x: Any, g: Any) -> Any:
        return g


class WithoutExactChanges(steps.ImprovingUpdate):
    """Every selected coordinate flips, as in the paper; the end by single moves stays."""

    def make(self, x: Any, g: Any, moves: Any, *, follow: bool) -> tuple[int, float]:
        if follow:
            return super().make(x, g, moves, follow=follow)
        moves = allowed_moves(self.constraint, x, disjoint_moves(moves))
        if not moves.size:
            return 0, 0.0
        before = self.objective.value(x)
        x.reshape(-1)[moves.reshape(-1)] *= -1.0
        g[...] = self.objective.gradient(x)
        return moves.size, self.objective.value(x) - before


class WithoutLowering(steps.ImprovingUpdate):
    """Alpha stays as it is; the end by single moves stays too."""

    def lower(self, alpha: tuple[float, float], flips: int) -> tuple[float, float]:
        return alpha


@contextmanager
def updating(kind: type[steps.ImprovingUpdate]) -> Iterator[None]:
    """DPCD with another way to carry out its updates."""
    with mock.patch.object(
        algorithm, "make_update", lambda objective, constraint, literal: kind(objective, constraint)
    ):
        yield


@contextmanager
def without_count_gauge() -> Iterator[None]:
    """DPCD that takes the gradient as it is under a count."""
    with mock.patch.object(Cardinality, "gauge", lambda self, d: d):
        yield


@contextmanager
def unchanged() -> Iterator[None]:
    """DPCD as it is."""
    yield


DEFAULT = flipwise.DPCD()
WITHOUT: dict[str, tuple[Callable[[], Any], flipwise.DPCD]] = {
    "the default": (unchanged, DEFAULT),
    "1 without the count's gauge": (without_count_gauge, DEFAULT),
    "2 without the diagonal's gauge": (lambda: updating(WithoutDiagonalGauge), DEFAULT),
    "3 without exact changes": (lambda: updating(WithoutExactChanges), flipwise.DPCD()),
    "4 without lowering alpha": (lambda: updating(WithoutLowering), DEFAULT),
    "5 with the paper's neighbourhood search": (unchanged, flipwise.DPCD(neighbourhood=5)),
    "5 without any neighbourhood search": (unchanged, flipwise.DPCD(neighbourhood=0)),
    "to the letter": (unchanged, flipwise.DPCD(literal=True)),
}

# --- families --------------------------------------------------------------------------------------------------------


def dense(rng: np.random.Generator) -> dict[str, Any]:
    """dense glass, n = 500"""
    B = rng.standard_normal((500, 500))
    return {"objective": flipwise.Quadratic((B + B.T) / 2.0)}


def sparse(rng: np.random.Generator) -> dict[str, Any]:
    """sparse glass, n = 20,000"""
    A = sp.random_array((20_000, 20_000), density=3 / 20_000, rng=rng, format="csr", data_sampler=rng.standard_normal)
    return {"objective": flipwise.Quadratic(A + A.T)}


def subgraph(rng: np.random.Generator) -> dict[str, Any]:
    """200 of 2,000 nodes"""
    W = sp.triu(sp.random_array((2000, 2000), density=0.01, rng=rng), 1)
    W.data[:] = 1.0
    f = flipwise.Quadratic(sp.csr_array(-(W + W.T)), variables="binary")
    return {"objective": f, "constraint": flipwise.Cardinality(200)}


def features(rng: np.random.Generator) -> dict[str, Any]:
    """least squares, n = 300"""
    X = rng.standard_normal((200, 300))
    y = X @ np.where(rng.random(300) < 0.5, 1.0, -1.0) + rng.standard_normal(200)
    return {"objective": flipwise.Quadratic(X.T @ X, -2.0 * X.T @ y, float(y @ y))}


FAMILIES = (dense, sparse, subgraph, features)


def main() -> None:
    """Run, store every family and departure, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="2 instances a family")
    instances = 2 if parser.parse_args().quick else 10
    recorder = Recorder("ablation")
    for family in FAMILIES:
        problems = [family(np.random.default_rng([7, instance])) for instance in range(instances)]
        reached: dict[str, tuple[np.ndarray, float]] = {}
        for name, (around, solver) in WITHOUT.items():
            values, seconds = [], 0.0
            for instance, problem in enumerate([problems[0], *problems]):
                with around():
                    start = time.process_time()
                    found = flipwise.minimize(**problem, method=solver, seed=instance, threads=1, max_iterations=1000)
                if instance:  # the first run compiles
                    values.append(found.value)
                    seconds += time.process_time() - start
            reached[name] = np.array(values), seconds
            best, usual = reached["the default"]
            row = {
                "change": float(np.mean((reached[name][0] - best) / np.abs(best))),
                "time": seconds / usual,
                "seconds": seconds / instances,
            }
            recorder.add(family=str(family.__doc__), departure=name, instances=instances, **row)
            print(f"{family.__doc__!s:<28}{name:<42}{100 * row['change']:>9.2f} %{row['time']:>8.2f} x", flush=True)


if __name__ == "__main__":
    main()
