"""Dense blocks: a planted fraud block in a bipartite graph of 10^7 edges, and small matrices against all blocks.

    python benchmarks/densest_blocks.py            # both
    python benchmarks/densest_blocks.py --small    # 300 small bipartite and 300 small directed graphs only

The large graph has accounts that rate products: their degrees fall off as in nature (each end is drawn from a power
law), so that heavy accounts and popular products make dense parts of their own. Into it 300 accounts and 200 products
are planted that share 60 % of their pairs, each with as much camouflage (Hooi et al. 2016) as ordinary accounts have.
The clock runs from the matrix in memory to the answer with its proof, kernels loaded before.
"""

from __future__ import annotations

import argparse
import math
import time
from itertools import combinations

import numpy as np
import scipy.sparse as sp
from recording import Recorder

import flipwise

EDGES, ACCOUNTS, PRODUCTS = 10_000_000, 2_000_000, 500_000
ROWS, COLUMNS, FILLED = 300, 200, 0.6


def fraud_graph(edges: int, seed: int = 0) -> tuple[sp.csr_array, np.ndarray, np.ndarray]:
    """The matrix of accounts and products, and the accounts and the products of the planted block."""
    rng = np.random.default_rng(seed)
    accounts, products = max(2000, ACCOUNTS * edges // EDGES), max(500, PRODUCTS * edges // EDGES)

    def ends(n: int, count: int) -> np.ndarray:
        return np.minimum((n * rng.random(count) ** 2.0).astype(np.int64), n - 1)

    rows, columns = rng.choice(accounts, ROWS, replace=False), rng.choice(products, COLUMNS, replace=False)
    inside = rng.random((ROWS, COLUMNS)) < FILLED
    s, t = np.nonzero(inside)
    camouflage = rng.choice(rows, 20 * ROWS)
    sources = np.concatenate([ends(accounts, edges), rows[s], camouflage])
    targets = np.concatenate([ends(products, edges), columns[t], ends(products, camouflage.size)])
    keys = np.unique(sources * products + targets)
    matrix = sp.csr_array((np.ones(keys.size), (keys // products, keys % products)), shape=(accounts, products))
    return matrix, np.sort(rows), np.sort(columns)


def found(result: flipwise.DenseBlock, rows: np.ndarray, columns: np.ndarray) -> dict[str, float]:
    """How many of the planted rows and columns are in the block, and how many others."""
    mine = np.isin(result.rows, rows).sum(), np.isin(result.columns, columns).sum()
    return {
        "planted_rows_found": int(mine[0]),
        "planted_columns_found": int(mine[1]),
        "other_rows": int(len(result.rows) - mine[0]),
        "other_columns": int(len(result.columns) - mine[1]),
    }


def large(recorder: Recorder, edges: int) -> None:
    """The planted block: of any size, and of its own sizes."""
    small = fraud_graph(100_000, seed=1)[0]
    flipwise.densest_block(small)
    flipwise.densest_block(small, 30, 20, effort=0.1, seed=0)
    matrix, rows, columns = fraud_graph(edges)
    planted = matrix[rows][:, columns].sum()
    for form, sizes in (("any size", ()), ("given sizes", (ROWS, COLUMNS))):
        begun, spent = time.perf_counter(), time.process_time()
        result = flipwise.densest_block(matrix, *sizes, seed=0)
        seconds, spent = time.perf_counter() - begun, time.process_time() - spent
        row = {
            "graph": "fraud", "form": form, "rows": matrix.shape[0], "columns": matrix.shape[1], "edges": matrix.nnz,
            "seconds": seconds, "processor_seconds": spent,
            "planted_density": planted / math.sqrt(ROWS * COLUMNS), "density": result.density,
            "bound": result.bound, "gap": result.gap, "proven_by": result.bound_method, "shape": list(result.shape),
            **found(result, rows, columns),
        }  # fmt: skip
        recorder.add(**row)
        print(
            f"{form}: {matrix.nnz:,} edges, {seconds:.1f} s ({spent:.1f} s of the processor), "
            f"block {result.shape}, density {result.density:.3f} "
            f"(planted {row['planted_density']:.3f}), bound {result.bound:.3f}, gap {result.gap:.2g}; "
            f"{row['planted_rows_found']} of {ROWS} rows and {row['planted_columns_found']} of {COLUMNS} columns",
            flush=True,
        )


def best_of_all(B: np.ndarray) -> tuple[float, dict[tuple[int, int], float]]:
    """The largest density of all blocks, and the heaviest block of each shape."""
    heaviest: dict[tuple[int, int], float] = {}
    for a in range(1, B.shape[0] + 1):
        for S in combinations(range(B.shape[0]), a):
            sums = np.cumsum(np.sort(B[list(S)].sum(axis=0))[::-1])
            for b, weight in enumerate(sums, 1):
                heaviest[a, b] = max(heaviest.get((a, b), -math.inf), float(weight))
    return max(weight / math.sqrt(a * b) for (a, b), weight in heaviest.items()), heaviest


def small(recorder: Recorder, count: int) -> None:
    """Small matrices and directed graphs: the optimum and the bound of any size and of one shape against all blocks."""
    for kind in ("bipartite", "directed"):
        rng = np.random.default_rng(5)
        tally = dict.fromkeys(("any_found", "any_valid", "any_proven", "given_found", "given_valid", "given_proven"), 0)
        for case in range(count):
            shape = (int(n := rng.integers(2, 9)), int(n) if kind == "directed" else int(rng.integers(1, 9)))
            B = (rng.random(shape) < rng.choice([0.2, 0.5, 0.8])).astype(float)
            if case % 3 == 1:
                B *= rng.integers(1, 5, shape)
            elif case % 3 == 2:
                B *= rng.random(shape)
            if kind == "directed":
                np.fill_diagonal(B, 0.0)
            solve = flipwise.densest_directed_subgraph if kind == "directed" else flipwise.densest_block
            sizes = int(rng.integers(1, shape[0] + 1)), int(rng.integers(1, shape[1] + 1))
            best, heaviest = best_of_all(B)
            for form, result, wanted in (
                ("any", solve(B), best),
                ("given", solve(B, *sizes, seed=0), heaviest[sizes] / math.sqrt(sizes[0] * sizes[1])),
            ):
                tally[f"{form}_found"] += abs(result.density - wanted) <= 1e-9 * max(1.0, wanted)
                tally[f"{form}_valid"] += result.bound >= wanted * (1.0 - 1e-15)
                tally[f"{form}_proven"] += result.gap <= 1e-6 or result.density == 0.0
        recorder.add(graph=f"small {kind}", cases=count, **{name: int(number) for name, number in tally.items()})
        print(f"{kind}: {count} graphs, {tally}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="small graphs only")
    parser.add_argument("--edges", type=int, default=EDGES, help="of the large graph")
    arguments = parser.parse_args()
    recorder = Recorder("densest_blocks-small" if arguments.small else "densest_blocks")
    small(recorder, 300)
    if not arguments.small:
        large(recorder, arguments.edges)


if __name__ == "__main__":
    main()
