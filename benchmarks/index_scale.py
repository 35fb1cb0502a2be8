"""An index of ten million generated rows: learned from a sample, encoded, put into lists, searched.

    python benchmarks/index_scale.py                        # 10^7 rows of 128 features, one thread
    python benchmarks/index_scale.py --rows 1000000 --lists 1000
    python benchmarks/index_scale.py --quick

Rows are drawn block after block, never held together: a point of a random linear map of 16 numbers, in one of 2,000
clusters, and noise. Seconds are the wall's, without those in which rows are drawn. Truth is an exact search by cosine
for 100 queries among all rows. Memory is the peak of the process.
"""

from __future__ import annotations

import argparse
import resource
import time
from typing import Any

import numpy as np
from recording import Recorder

from flipwise.hashing import AdditiveQuantizer, Index, neighbour_recall
from flipwise.kernels.jit import threads

FEATURES, QUERIES, BLOCK, SAMPLE, K = 128, 100, 250_000, 20_000, 10


class Rows:
    """Generated rows, by number of block; block -1 are the queries."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self.centres = 3 * rng.standard_normal((2000, FEATURES)).astype(np.float32)
        self.inner = 1.5 * rng.standard_normal((16, FEATURES)).astype(np.float32)

    def block(self, number: int, n: int) -> Any:
        """Rows of unit length."""
        rng = np.random.default_rng([1, number + 1])
        X = self.centres[rng.integers(0, len(self.centres), n)]
        X += rng.standard_normal((n, 16), dtype=np.float32) @ self.inner
        X += rng.standard_normal((n, FEATURES), dtype=np.float32)
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        return X


def better(best: tuple[Any, Any], scores: Any, first: int) -> tuple[Any, Any]:
    """The best ids and scores so far, and those of one more block."""
    k = min(K, scores.shape[1])
    near = np.argpartition(-scores, k - 1, axis=1)[:, :k]
    ids = np.concatenate([best[0], near + first], axis=1)
    values = np.concatenate([best[1], np.take_along_axis(scores, near, axis=1)], axis=1)
    order = np.argsort(-values, axis=1, kind="stable")[:, :K]
    return np.take_along_axis(ids, order, axis=1), np.take_along_axis(values, order, axis=1)


def measured(n: int, lists: int, n_bytes: int) -> dict[str, Any]:
    """One index of n rows."""
    rows, block = Rows(), min(n, BLOCK)
    Q = rows.block(-1, QUERIES)
    warm = AdditiveQuantizer(2, effort=0.0, random_state=0).fit(Q)
    few = Index(warm, lists=2)
    few.add(np.tile(Q, (50, 1)))
    few.search(Q[:2], K)
    seconds = {"train": 0.0, "add": 0.0}
    first = rows.block(0, block)
    started = time.perf_counter()
    model = AdditiveQuantizer(n_bytes, effort=0.25, random_state=0).fit(first[:SAMPLE])
    seconds["train"] = time.perf_counter() - started
    index = Index(model, lists=lists, random_state=0)
    best = np.zeros((QUERIES, 0), dtype=np.int64), np.zeros((QUERIES, 0), dtype=np.float32)
    for number in range(n // block):
        X = first if number == 0 else rows.block(number, block)
        started = time.perf_counter()
        index.add(X)
        seconds["add"] += time.perf_counter() - started
        best = better(best, Q @ X.T, number * block)
        print(f"{len(index):,} rows, {seconds['add']:.0f} s", flush=True)
    truth, found = best[0], {}
    for probes in (8, 32, 128):
        started = time.perf_counter()
        ids = [index.search(Q[i : i + 1], 100, probes=min(probes, lists)).ids[0] for i in range(QUERIES)]
        seconds[f"search_{probes}"] = (time.perf_counter() - started) / QUERIES
        found[probes] = np.array(ids)
    return {
        "n": n, "features": FEATURES, "lists": lists, "bytes": n_bytes, "seconds": seconds,
        "rows_a_second": n / seconds["add"],
        "recall_10": {p: neighbour_recall(ids[:, :K], truth) for p, ids in found.items()},
        "recall_10_in_100": {p: neighbour_recall(ids, truth) for p, ids in found.items()},
        "index_bytes": index.nbytes,
        "peak_bytes": 1024 * int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--lists", type=int, default=4000)
    parser.add_argument("--bytes", type=int, default=8)
    parser.add_argument("--quick", action="store_true", help="20,000 rows in 50 lists; nothing is stored")
    a = parser.parse_args()
    recorder = Recorder("index_scale")
    if not a.quick:
        recorder.go_on(lambda row: (row["n"], row["lists"], row["bytes"]) != (a.rows, a.lists, a.bytes))
    with threads(1):
        row = measured(20_000, 50, 4) if a.quick else measured(a.rows, a.lists, a.bytes)
    print(row)
    if not a.quick:
        recorder.add(**row)


if __name__ == "__main__":
    main()
