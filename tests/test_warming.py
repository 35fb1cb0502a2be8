"""Warming up: every kernel of a job has machine code afterwards, for every type that the job meets."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import flipwise
from flipwise.warming import JOBS

pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="there is nothing to compile")

PROBLEMS = """
import numpy as np, scipy.sparse as sp, flipwise, json, sys, tempfile, pathlib
from flipwise.kernels.jit import compiled_at_once
from flipwise.warming import all_kernels

rng = np.random.default_rng(1)

def sparse(n, degree, kind):
    i, j = rng.integers(0, n, (2, n * degree // 2))
    i, j = i[i != j], j[i != j]
    draw = {"ones": np.ones, "signs": lambda k: rng.choice([-1.0, 1.0], k), "reals": rng.standard_normal,
            "large": lambda k: rng.integers(-99_999, 99_999, k).astype(float)}[kind]
    A = sp.coo_array((draw(i.size), (i, j)), shape=(n, n)).tocsr()
    return sp.csr_array(A + A.T)

def dense(n, most):
    Q = rng.standard_normal((n, n)) if most is None else rng.integers(-most, most + 1, (n, n)).astype(float)
    return Q + Q.T

def specialisations():
    return {name: kernel.specialisations for name, kernel in all_kernels().items()}

flipwise.warm_up(sys.argv[1])
before = specialisations()
with compiled_at_once():
    CODE
after = specialisations()
print(json.dumps({name: [before[name], after[name]] for name in after if after[name] != before[name]}))
"""
CODE = {
    "minimize": """
    for A in (dense(100, None), dense(100, 50), sparse(3000, 60, "reals"), sparse(500, 6, "signs")):
        flipwise.minimize(A, seed=0)
        flipwise.minimize(A, seed=0, count=20)
""",
    "qubo": """
    for Q in (dense(100, 50), dense(100, 50_000), dense(100, None), sparse(3000, 6, "signs"), sparse(400, 6, "reals")):
        flipwise.solve_qubo(Q, seed=0, max_iterations=4)
        flipwise.solve_qubo(Q, seed=0, max_iterations=2, count=30)
    flipwise.solve_ising(np.ones(3000), sparse(3000, 6, "large"), seed=0, max_iterations=3)
""",
    "maxcut": """
    for kind in ("ones", "signs", "reals", "large"):
        flipwise.maxcut(sparse(3000, 6, kind), seed=0, max_iterations=4)
    flipwise.maxcut(sparse(100, 60, "signs"), seed=0, max_iterations=4)
""",
    "bisect": """
    for kind in ("ones", "reals", "large"):
        flipwise.bisect(abs(sparse(2000, 6, kind)), seed=0, effort=0.05)
""",
    "subgraph": """
    for kind in ("ones", "reals", "signs"):
        flipwise.densest_subgraph(sparse(1000, 20, kind), 30, seed=0, effort=0.1)
""",
    "hash": """
    from flipwise.hashing import ITQ, SDH, Index, hamming_search, mean_average_precision

    for kind in (np.float64, np.float32):
        X, y = rng.standard_normal((1000, 40)).astype(kind), rng.integers(0, 10, 1000)
        ITQ(32, random_state=0).fit(X)
        codes = SDH(32, random_state=0).fit(X, y).codes_
    hamming_search(codes[:20], codes, 5, backend="compiled")
    index = Index(ITQ(32, random_state=0).fit(X), lists=4)
    index.add(X)
    index.search(X[:9], 5)
    mean_average_precision(codes[:20], codes, y[:20], y)
""",
    "files": """
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "edges.txt")
        for text in ("{} {}\\n", "{} {} 0.5\\n", "a{} b{}\\n"):
            path.write_text("".join(text.format(i, 7 * i % 100) for i in range(300)))
            flipwise.read_graph(path)
""",
}


def _run(job: str) -> str:
    code = PROBLEMS.replace("    CODE\n", CODE[job])
    done = subprocess.run([sys.executable, "-c", code, job], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.timeout(900)  # with an empty cache all of it is compiled, on a machine that others may use
@pytest.mark.parametrize("job", JOBS)
def test_a_job_compiles_nothing_after_its_warm_up(job: str) -> None:
    """After `warm_up(job)` larger problems of that job, of every type of weights, need no other specialisation."""
    if job == "hash":
        pytest.importorskip("sklearn")
    assert json.loads(_run(job).splitlines()[-1]) == {}


@pytest.mark.timeout(900)
def test_warm_up_leaves_machine_code_for_every_kernel() -> None:
    """Without a job, every kernel of the library is compiled, and the callback is told how far it is."""
    pytest.importorskip("sklearn")
    from flipwise.warming import all_kernels

    told: list[tuple[int, int]] = []
    flipwise.warm_up(callback=lambda done, parts: told.append((done, parts)))
    assert [name for name, kernel in all_kernels().items() if kernel.specialisations == 0] == []
    assert [done for done, _ in told] == list(range(told[-1][1] + 1))


def test_an_unknown_job_is_refused_with_the_known_ones() -> None:
    """The message lists the jobs."""
    with pytest.raises(flipwise.InvalidInput, match="minimize, qubo, maxcut"):
        flipwise.warm_up("everything")
