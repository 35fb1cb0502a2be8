"""Throughput of kernels against those of another checkout: the same arrays, in turns, in one process.

    python benchmarks/kernel_throughput.py OTHER/CHECKOUT [--arcs 114000000] [KERNEL ...]

The ratio is the other's time over this one's: above 1 is faster. On one thread times are processor time, on two wall
time; both are the least of several. Results must be the same to the bit. `--arcs` makes the graph larger (one gradient
of 114 million arcs: `--arcs 114000000 degrees_into`).
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from recording import ROOT, Recorder

REPEATS = 7
MODULES = ("arcs", "bounds", "codes", "dense", "hamming", "jit", "peeling", "shards", "sparse", "subgraph", "tabu")
Case = tuple[str, str, Callable[[], tuple[Any, ...]]]


def kernels_of(checkout: Path) -> dict[str, Any]:
    """The modules of kernels of a checkout, next to those of others."""
    for name in [name for name in sys.modules if name.split(".")[0] == "flipwise"]:
        del sys.modules[name]
    sys.path.insert(0, str(checkout / "src"))
    try:
        return {name: importlib.import_module(f"flipwise.kernels.{name}") for name in MODULES}
    finally:
        del sys.path[0]


def random_graph(arcs: int) -> tuple[Any, Any, Any]:
    """A CSR structure with skewed degrees and ascending rows, with weights."""
    rng = np.random.default_rng(0)
    n = max(1000, arcs // 50)
    degrees = np.minimum(rng.pareto(1.5, n) * 25 + 1, n // 4).astype(np.int64)
    degrees = np.maximum(1, (degrees * (arcs / degrees.sum())).astype(np.int64))
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(degrees)])
    # ascending columns without a sort: steps of at least one, scaled into the range
    position = np.arange(indptr[-1]) - np.repeat(indptr[:-1], degrees)
    indices = ((position + rng.random(indptr[-1], dtype=np.float32)) * np.repeat(n / degrees, degrees)).astype(np.int32)
    np.minimum(indices, n - 1, out=indices)
    return indptr, indices, rng.random(indices.size) if arcs <= 20_000_000 else np.ones(1)


def cases(arcs: int) -> list[Case]:
    """Module, kernel and fresh arguments."""
    rng = np.random.default_rng(1)
    indptr, indices, weights = random_graph(arcs)
    n = indptr.size - 1
    one = np.ones(1, np.int64)
    inside = (rng.random(n) < 0.3).astype(np.uint8)
    nodes = np.flatnonzero(inside)
    x, c = rng.standard_normal(n), rng.standard_normal(n)
    graph = indptr, indices
    listed: list[Case] = [
        ("subgraph", "degrees_into", lambda: (*graph, one, inside, np.zeros(n, np.int64))),
        ("subgraph", "degrees_into", lambda: (*graph, weights, inside, np.zeros(n))),
        ("subgraph", "multiply", lambda: (*graph, one, x, np.zeros(n))),
        ("sparse", "csr_gradient", lambda: (*graph, weights, x, c, np.zeros(n))),
        ("sparse", "csr_row_sums", lambda: (indptr, weights, c, np.zeros(n))),
        ("sparse", "csr_fingerprint", lambda: (*graph, weights.view(np.uint64), np.zeros(n, np.uint64))),
        ("peeling", "alive_degrees", lambda: (*graph, one, nodes, inside, np.zeros(n, np.int64))),
        ("peeling", "later_neighbours", lambda: (*graph, np.arange(n)[::-1].copy(), np.zeros(n, np.int64))),
        ("arcs", "rows_are_simple", lambda: (*graph, np.zeros(n, np.bool_))),
        ("arcs", "sort_rows", lambda: (indptr, _three_runs(indptr, indices), np.empty(0))),
        ("arcs", "sort_rows", lambda: (indptr, _three_runs(indptr, indices), weights.copy())),
        ("shards", "row_degrees", lambda: (*graph, weights, inside, np.ones(n, np.uint8), True, np.zeros(n))),
        ("shards", "row_loads", lambda: (*graph, weights, inside, np.abs(x), 0, np.zeros(n))),
        ("bounds", "deal_edges", lambda: (
            *graph, one, np.zeros((16, 16), np.int64), np.empty(0, np.int32), np.empty(0, np.int32), np.ones(1), False,
        )),
    ]  # fmt: skip
    return listed + small_cases(rng)


def small_cases(rng: np.random.Generator) -> list[Case]:
    """Kernels on dense matrices, codes and small sets."""
    A = rng.standard_normal((1000, 1000))
    A += A.T
    spins = np.where(rng.random(1000) < 0.5, 1.0, -1.0)
    J = np.triu(rng.integers(-100, 101, (1000, 1000)), 1).astype(np.int16)
    J += J.T
    s = spins.astype(np.int8)
    costs = (-2 * s * (J @ s.astype(np.int64))).astype(np.int32)
    B = np.where(rng.random((20_000, 32)) < 0.5, 1, -1).astype(np.int8)
    W, P = rng.standard_normal((32, 10)), rng.standard_normal((10, 32))
    which, candidates = rng.integers(0, 10, 20_000), np.empty((0, 2), np.int64)
    words = rng.integers(0, 2**63, (5000, 4)).astype(np.uint64)
    indptr, indices, _ = random_graph(170_000)
    m = indptr.size - 1
    inside = np.zeros(m, np.uint8)
    inside[rng.choice(m, 100, replace=False)] = 1
    degrees = np.array([inside[indices[a:b]].sum() for a, b in pairwise(indptr)], np.int64)
    one, noise = np.ones(1, np.int64), rng.integers(0, 2**40, 2000)
    return [
        ("dense", "dense_flip_improving", lambda: (
            A, A.diagonal().copy(), np.zeros(1000), np.arange(1000), np.ones(1000, np.bool_), 1000, True, spins.copy(),
            2.0 * A @ spins,
        )),
        ("dense", "dense_exchange", lambda: (
            A, A.diagonal().copy(), np.zeros(1000), spins.copy(), 2.0 * A @ spins,
        )),
        ("tabu", "dense_tabu", lambda: (
            J, 20_000, 20, 10, np.int32(2**30), s.copy(), costs.copy(), np.zeros(1000, np.int64), s.copy(),
            np.array([88172645463325252], np.uint64),
        )),
        ("codes", "dpcd_rows", lambda: (
            W, W @ W.T, P, which, 1.0, 1.0, 30, 10, candidates, 1e-9, B.copy(), np.zeros(20_000, np.int64),
        )),
        ("codes", "dcc_sweep_rows", lambda: (W @ W.T, P, which, B.copy(), np.zeros(20_000, np.int64))),
        ("hamming", "nearest", lambda: (
            words[:200], words, 256, np.zeros((200, 10), np.int64), np.zeros((200, 10), np.int32),
        )),
        ("subgraph", "tabu_walk", lambda: (
            indptr, indices, one, inside.copy(), degrees.copy(), inside.copy(), np.zeros(m, np.int64), noise, 10,
            np.zeros((2, 64), np.int64), 0, 0, 0,
        )),
        ("subgraph", "shed", lambda: (
            indptr, indices, one, 50, np.zeros(m, np.uint8), inside.copy(), degrees.copy(),
        )),
    ]  # fmt: skip


def _three_runs(indptr: Any, indices: Any) -> Any:
    """Keys as a builder of graphs leaves them: the ascending rows cut in three and put together in another order."""
    keys = indices.astype(np.uint32) * 2
    for start, stop in zip(indptr[:-1:50], indptr[1::50], strict=False):
        third = (stop - start) // 3
        keys[start:stop] = np.roll(keys[start:stop], third)
    return keys


def seconds(modules: dict[str, Any], case: Case, threads: int) -> tuple[float, list[Any]]:
    """The time of one call, and the arrays afterwards."""
    module, name, fresh = case
    arguments = fresh()
    clock = time.process_time if threads == 1 else time.perf_counter
    with modules["jit"].threads(threads):
        start = clock()
        getattr(modules[module], name)(*arguments)
        taken = clock() - start
    return taken, [a for a in arguments if isinstance(a, np.ndarray)]


def main() -> None:
    """Print and store a ratio for every kernel."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path)
    parser.add_argument("kernels", nargs="*")
    parser.add_argument("--arcs", type=int, default=5_000_000)
    arguments = parser.parse_args()
    other, this = kernels_of(arguments.other), kernels_of(ROOT)
    recorder = Recorder("kernel_throughput")
    recorder.record["command"] = recorder.record["command"].replace(str(arguments.other), "OTHER/CHECKOUT")
    for case in cases(arguments.arcs):
        if arguments.kernels and case[1] not in arguments.kernels:
            continue
        for modules in (other, this):
            getattr(modules[case[0]], case[1]).compile()
        same = all(
            np.array_equal(a, b) for a, b in zip(seconds(other, case, 1)[1], seconds(this, case, 2)[1], strict=True)
        )
        for threads in (1, 2):
            times: tuple[list[float], list[float]] = ([], [])
            for _ in range(REPEATS):
                times[0].append(seconds(other, case, threads)[0])
                times[1].append(seconds(this, case, threads)[0])
            before, now = min(times[0]), min(times[1])
            types = [str(a.dtype) for a in case[2]() if isinstance(a, np.ndarray)]
            row = {"kernel": case[1], "types": types, "threads": threads, "other": before, "this": now}
            recorder.add(**row, ratio=before / now, same_bits=same)
            print(f"{case[1]:<22} {threads} threads {before:9.5f} {now:9.5f} s  ratio {before / now:5.2f}  {same}")


if __name__ == "__main__":
    main()
