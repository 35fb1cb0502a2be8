"""Who proves what: our proofs beside HiGHS and CP-SAT on the linearised problem, one core each.

    python benchmarks/exact_rivals.py [--seconds 60] [--families g05-60 torus2-pm-10]

Instances are those of `proofs.py`, one a family. The rivals get a binary variable for each product that the objective
has, with the rows that its sign needs, and of a cut one node's side; their bound and point are their own, not checked
here. Limits are wall time. CP-SAT takes part where `ortools` is installed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.optimize
import scipy.sparse as sp
from proofs import FAMILIES
from recording import Recorder

import flipwise

CHOSEN = ("qubo50-10", "qubo50-100", "qubo100-10", "g05-60", "pm1s-80", "w01-100", "torus2-pm-10", "torus2-pm-20",
          "torus3-pm-5", "chain-100-3.0")  # fmt: skip
Found = tuple[float | None, float | None]
"""The value and the bound, of the minimum."""


class Products:
    """min c'x + sum q_t x_i x_j over bits."""

    def __init__(self, solve: Any, problem: Any) -> None:
        self.is_cut = solve is flipwise.maxcut
        if self.is_cut:  # a cut weighs the sum of w_ij (x_i + x_j - 2 x_i x_j)
            upper = sp.triu(sp.coo_array(problem), 1).tocoo()
            self.i, self.j = upper.coords
            self.q = 2.0 * upper.data
            self.c = -np.asarray(sp.csr_array(problem).sum(axis=1)).reshape(-1)
        else:
            Q = np.asarray(problem.todense() if sp.issparse(problem) else problem, dtype=float)
            both = np.triu(Q + Q.T, 1)
            self.i, self.j = np.nonzero(both)
            self.q, self.c = both[self.i, self.j], np.diag(Q).copy()
        self.n = self.c.size


def by_highs(problem: Products, seconds: float) -> Found:
    """HiGHS, as scipy has it."""
    n, m = problem.n, problem.q.size
    rows, columns, entries, limits = [], [], [], []
    for t, (i, j, q) in enumerate(zip(problem.i, problem.j, problem.q, strict=True)):
        if q > 0:
            made = [((i, 1.0), (j, 1.0), (n + t, -1.0), 1.0)]
        else:
            made = [((n + t, 1.0), (i, -1.0), (n + t, 0.0), 0.0), ((n + t, 1.0), (j, -1.0), (n + t, 0.0), 0.0)]
        for *parts, limit in made:
            for column, entry in parts:
                if entry:
                    rows.append(len(limits))
                    columns.append(column)
                    entries.append(entry)
            limits.append(limit)
    A = sp.csr_array((entries, (rows, columns)), shape=(len(limits), n + m))
    upper = np.ones(n + m)
    upper[0] = 0.0 if problem.is_cut else 1.0
    answer: Any = scipy.optimize.milp(
        np.concatenate([problem.c, problem.q]),
        integrality=(np.arange(n + m) < n).astype(int),
        bounds=scipy.optimize.Bounds(0.0, upper),
        constraints=scipy.optimize.LinearConstraint(A, ub=np.array(limits)),
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    return answer.fun, answer.mip_dual_bound


def by_cp_sat(problem: Products, seconds: float) -> Found:
    """CP-SAT of OR-Tools, one worker."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    x = [model.new_bool_var(f"x{i}") for i in range(problem.n)]
    terms = [int(c) * v for c, v in zip(problem.c, x, strict=True)]
    for i, j, q in zip(problem.i, problem.j, problem.q, strict=True):
        product = model.new_bool_var("")
        if q > 0:
            model.add_bool_or([~x[i], ~x[j], product])
        else:
            model.add_implication(product, x[i])
            model.add_implication(product, x[j])
        terms.append(int(q) * product)
    if problem.is_cut:
        model.add(x[0] == 0)
    model.minimize(sum(terms))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = 1
    status = solver.solve(model)
    known = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    return (solver.objective_value if known else None), solver.best_objective_bound


RIVALS: dict[str, Callable[[Products, float], Found]] = {"HiGHS": by_highs}
if find_spec("ortools"):
    RIVALS["CP-SAT"] = by_cp_sat


def main() -> None:
    """Prove, or not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--families", nargs="+", default=list(CHOSEN), choices=list(FAMILIES))
    given = parser.parse_args()
    recorder = Recorder("exact_rivals", ("highspy", "ortools"))
    for index, family in enumerate(FAMILIES):
        if family not in given.families:
            continue
        solve, problem = FAMILIES[family](np.random.default_rng([2026, index, 0]))
        solve(problem, seed=0, time_limit=2.0)  # machine code is loaded
        began = time.perf_counter()
        found = solve(problem, seed=0, time_limit=given.seconds, threads=1)
        sign = -1.0 if solve is flipwise.maxcut else 1.0
        rows = [("Flipwise", sign * found.value, sign * found.bound, time.perf_counter() - began)]
        products = Products(solve, problem)
        for name, rival in RIVALS.items():
            began = time.perf_counter()
            rows.append((name, *rival(products, given.seconds), time.perf_counter() - began))
        for name, value, bound, seconds in rows:
            gap = None if value is None or bound is None else abs(value - bound) / max(abs(value), 1e-9)
            recorder.add(
                family=family, n=products.n, solver=name, value=value, bound=bound, gap=gap,
                proven=gap is not None and gap < 1e-9, seconds=round(seconds, 2), limit=given.seconds,
            )  # fmt: skip
            print(f"{family:16} {name:10} {value} {bound} gap {gap} {seconds:.1f} s", flush=True)


if __name__ == "__main__":
    main()
