"""Ten minutes that a change can spend: is anything slower than before it?

    python benchmarks/quick.py --against main
    python benchmarks/quick.py --against v0.2.0 --only "minimize sparse"

The rival is the library itself at another revision, taken out of git into a folder of its own. Processes of the two
alternate, each pinned to one core with one thread, and CPU seconds are compared; a process calls its operation twice
to warm up and counts the best call after that. An operation is slower when it took more than 10 % longer in three
rounds in a row; then the exit code is 1. Answers are compared too: a change of them is shown, but is not an error here.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ALLOWED = 1.10
"""The most that an operation may take, relative to the rival."""
ROUNDS = 3
"""Rounds in a row that must all be too slow."""
ALTERNATIONS = 3
"""Processes of each side in a round; the best of them counts."""
SECONDS = 1.0
"""CPU time that a process repeats its operation for, once it is warm."""

# --- the operations --------------------------------------------------------------------------------------------------


def _glass(n: int) -> Any:
    import numpy as np

    A = np.random.default_rng(n).standard_normal((n, n))
    return A + A.T


def _sparse(n: int, degree: int) -> Any:
    import numpy as np
    import scipy.sparse as sp

    rng = np.random.default_rng(n)
    i, j = rng.integers(0, n, (2, n * degree // 2))
    apart = i != j
    A = sp.coo_array((rng.choice([-1.0, 1.0], i.size)[apart], (i[apart], j[apart])), shape=(n, n)).tocsr()
    return sp.csr_array(A + A.T)


def minimize_dense() -> Callable[[], Any]:
    """500 variables, 10 restarts"""
    import flipwise

    A = _glass(500)
    return lambda: flipwise.minimize(A, seed=0, restarts=10).value


def minimize_sparse() -> Callable[[], Any]:
    """20,000 variables, 6 entries a row"""
    import flipwise

    A = _sparse(20_000, 6)
    return lambda: flipwise.minimize(A, seed=0).value


def minimize_count() -> Callable[[], Any]:
    """60 ones of 300, 3 restarts"""
    import flipwise

    A = _glass(300)
    return lambda: flipwise.minimize(A, constraint=flipwise.Cardinality(60), seed=0, restarts=3).value


def minimize_callable() -> Callable[[], Any]:
    """a loss of 200 variables in NumPy"""
    import numpy as np

    import flipwise

    rng = np.random.default_rng(0)
    features = rng.standard_normal((300, 200))
    labels = np.sign(features[:, :5].sum(axis=1))

    def logistic(x: Any) -> Any:
        margin = labels * (features @ x)
        return float(np.logaddexp(0, -margin).mean()), features.T @ (-labels / (1 + np.exp(margin)) / len(labels))

    return lambda: flipwise.minimize(flipwise.Smooth(logistic, shape=200), seed=0).value


def minimize_small() -> Callable[[], Any]:
    """100 problems of 20 variables"""
    import flipwise

    small = [_glass(20) + k for k in range(100)]
    return lambda: sum(flipwise.minimize(A, seed=0).value for A in small)


def portfolio() -> Callable[[], Any]:
    """3,000 variables, sparse, 5 rounds"""
    import flipwise

    A = _sparse(3000, 6)
    return lambda: flipwise.minimize(A, method="portfolio", max_iterations=5, seed=0).value


def sdp_bound() -> Callable[[], Any]:
    """a proven bound for 200 variables"""
    import flipwise

    A = _glass(200)
    return lambda: flipwise.minimize(A, bound="sdp", seed=0).bound


def maxcut() -> Callable[[], Any]:
    """2,000 nodes of degree 10"""
    import flipwise

    W = abs(_sparse(2000, 10))
    return lambda: flipwise.maxcut(W, effort=0.1, bound="none", seed=0).value


def bisect() -> Callable[[], Any]:
    """a mesh of 2,500 nodes"""
    import numpy as np
    import scipy.sparse as sp

    import flipwise

    grid = np.arange(2500).reshape(50, 50)
    ends = [(grid[:, :-1], grid[:, 1:]), (grid[:-1], grid[1:]), (grid[:-1, :-1], grid[1:, 1:])]
    i, j = (np.concatenate([pair[side].ravel() for pair in ends]) for side in (0, 1))
    A = sp.coo_array((np.ones(i.size), (i, j)), shape=(2500, 2500)).tocsr()
    mesh = sp.csr_array(A + A.T)
    return lambda: flipwise.bisect(mesh, effort=0.1, seed=0).value


def qubo() -> Callable[[], Any]:
    """500 variables, dense, integers"""
    import numpy as np

    import flipwise

    Q = np.triu(np.random.default_rng(0).integers(-50, 51, (500, 500))).astype(float)
    return lambda: flipwise.solve_qubo(Q, effort=0.1, bound="simple", seed=0).value


def densest() -> Callable[[], Any]:
    """100 nodes of 4,000, with a bound"""
    import numpy as np
    import scipy.sparse as sp

    import flipwise

    rng = np.random.default_rng(0)
    i, j = rng.integers(0, 4000, (2, 40_000))
    inner = rng.integers(0, 120, (2, 3000))
    i, j = np.concatenate([i, inner[0]]), np.concatenate([j, inner[1]])
    A = sp.coo_array((np.ones(i.size), (i, j)), shape=(4000, 4000)).tocsr()
    W = sp.csr_array(((A + A.T) > 0).astype(float))
    W.setdiag(0)
    W.eliminate_zeros()

    return lambda: flipwise.densest_subgraph(W, 100, effort=0.3, seed=0).density


def read_edges() -> Callable[[], Any]:
    """a text file of 300,000 edges"""
    import numpy as np

    import flipwise

    path = Path(tempfile.mkdtemp(dir=os.environ["QUICK_FOLDER"]), "edges.txt")
    np.savetxt(path, np.random.default_rng(0).integers(0, 100_000, (300_000, 2)), fmt="%d")
    return lambda: flipwise.read_graph(path).n_edges


def hash_fit() -> Callable[[], Any]:
    """SDH, 5,000 x 64, 64 bits"""
    import numpy as np

    from flipwise.hashing import SDH

    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((5000, 64)) * np.linspace(2, 0.3, 64), rng.integers(0, 10, 5000)
    return lambda: int(SDH(64, random_state=0).fit(X, y).codes_.packed.sum())


def hash_search() -> Callable[[], Any]:
    """1,000 queries in 20,000 codes of 128 bits"""
    import numpy as np

    from flipwise.hashing import Codes, hamming_search

    codes = Codes.from_bits(np.random.default_rng(0).integers(0, 2, (20_000, 128)))
    return lambda: int(hamming_search(codes[:1000], codes, 10, backend="compiled").ids.sum())


OPERATIONS: dict[str, Callable[[], Callable[[], Any]]] = {
    made.__name__.replace("_", " "): made
    for made in (
        minimize_dense, minimize_sparse, minimize_count, minimize_callable, minimize_small, portfolio, sdp_bound,
        maxcut, bisect, qubo, densest, read_edges, hash_fit, hash_search,
    )
}  # fmt: skip

# --- one process -----------------------------------------------------------------------------------------------------


def work(name: str) -> dict[str, Any]:
    """The best CPU seconds of an operation in this process, and its answer."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    warnings.simplefilter("ignore")
    operation = OPERATIONS[name]()
    answer = [operation() for _ in range(2)][-1]
    times: list[float] = []
    while not times or (sum(times) < SECONDS and len(times) < 20):
        began = time.process_time()
        operation()
        times.append(time.process_time() - began)
    return {"seconds": min(times), "answer": repr(answer)}


@dataclass(frozen=True)
class Tree:
    """One version of the library, with a kernel cache of its own."""

    name: str
    source: Path
    folder: Path

    def measure(self, operation: str) -> dict[str, Any]:
        """One process; where the operation fails, `error` says how."""
        one = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
        environment = {
            **os.environ, **one, "PYTHONPATH": str(self.source), "NUMBA_CACHE_DIR": str(self.folder / "kernels"),
            "QUICK_FOLDER": str(self.folder),
        }  # fmt: skip
        command = [sys.executable, __file__, "--worker", operation]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            return {"error": (done.stderr.strip().splitlines() or ["no output"])[-1][:100]}
        measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return measured


# --- the comparison --------------------------------------------------------------------------------------------------


def compare(operation: str, rival: Tree, here: Tree) -> dict[str, Any]:
    """Rounds until one is quick enough; `slower` when all were too slow."""
    row: dict[str, Any] = {"slower": True}
    for _ in range(ROUNDS):
        runs = [(rival.measure(operation), here.measure(operation)) for _ in range(ALTERNATIONS)]
        for side, tree in enumerate((rival, here)):
            errors = [pair[side]["error"] for pair in runs if "error" in pair[side]]
            if errors:
                return {"slower": tree is here, "note": f"fails in {tree.name}: {errors[0]}"}
        before, now = (min(pair[side]["seconds"] for pair in runs) for side in (0, 1))
        row.update(before=before, now=now, ratio=now / before)
        if runs[0][0]["answer"] != runs[0][1]["answer"]:
            row["note"] = f"answer {runs[0][0]['answer']} -> {runs[0][1]['answer']}"
        if now <= ALLOWED * before:
            return {**row, "slower": False}
    return row


def unpacked(revision: str, folder: Path) -> Path:
    """The library's source at a revision."""
    packed = subprocess.run(["git", "archive", revision, "src"], cwd=ROOT, capture_output=True, check=False)
    if packed.returncode:
        raise SystemExit(f"--against: git does not know {revision!r}: {packed.stderr.decode().strip()}")
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "src"


def main() -> int:
    """Print the table; 1 when something is slower."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", metavar="REVISION", default="main", help="the rival (default: main)")
    parser.add_argument("--only", metavar="WORDS", default="", help="operations whose name holds these words")
    parser.add_argument("--worker", metavar="OPERATION", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        print(json.dumps(work(given.worker)))
        return 0
    wanted = [name for name in OPERATIONS if given.only in name]
    if not wanted:
        raise SystemExit(f"--only: there is no such operation; there are {', '.join(OPERATIONS)}")
    slower = []
    with tempfile.TemporaryDirectory() as folder:
        trees = []
        for name, side in ((given.against, "rival"), ("here", "here")):
            own = Path(folder, side)
            own.mkdir()
            trees.append(Tree(name, unpacked(name, own) if side == "rival" else ROOT / "src", own))
        print(f"{'operation':<18} {'what':<40} {given.against:>10} {'here':>8} {'ratio':>6}")
        for name in wanted:
            row = compare(name, *trees)
            figures = f"{row['before']:8.3f} s {row['now']:6.3f} s {row['ratio']:6.2f}" if "ratio" in row else " " * 26
            verdict = "SLOWER  " if row["slower"] else ""
            print(f"{name:<18} {OPERATIONS[name].__doc__:<40} {figures}  {verdict}{row.get('note', '')}", flush=True)
            slower += [name] * row["slower"]
    print(f"slower by more than 10 %: {', '.join(slower)}" if slower else "nothing is slower by more than 10 %")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
