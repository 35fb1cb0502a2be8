"""A graph several times larger than the memory of the process: solved from its memory-mapped file, and how much slower.

    python benchmarks/out_of_core.py            # 4 x 10^8 arcs (1.6 GB) with 400 MB
    python benchmarks/out_of_core.py --quick    # 4 x 10^7 arcs (160 MB), the limit as low as the libraries allow

The graph has 10^6 nodes in a ring, each tied to 400 others, and a denser part to be found. It is written as
our graph file and solved twice in fresh processes that begin with nothing of it in the page cache: without a limit,
then in a memory control group (version 2 or 1; the benchmark must be allowed to make one). The limit counts all memory,
also pages of the mapped file, which the system takes back when there is need. Both must find the same nodes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from recording import Recorder

import flipwise

PLANTED = 4000
CHILD = """
import json, resource, sys, time, zlib
import flipwise
from flipwise_studies.data.rmat import rmat_graph
flipwise.densest_subgraph(rmat_graph(10_000, 500_000, seed=1), 300, seed=0, effort=0.02)  # compiles the kernels
begun = time.perf_counter()
graph = flipwise.read_graph(sys.argv[1])
read = time.perf_counter() - begun
result = flipwise.densest_subgraph(graph, 200, seed=0, effort=0.1)
print(json.dumps({"seconds": time.perf_counter() - begun, "read_seconds": read, "density": result.density,
    "bound": result.bound, "nodes": zlib.crc32(result.indices.tobytes()),
    "page_ins": resource.getrusage(resource.RUSAGE_SELF).ru_majflt}))
"""


def ring(n: int, degree: int, seed: int = 0) -> flipwise.Graph:
    """A ring whose nodes know `degree` others, at the same random distances, with more edges among 4,000 of them."""
    rng = np.random.default_rng(seed)
    reach = 20_000
    ahead = np.sort(rng.choice(np.arange(1, reach + 1), degree // 2, replace=False)).astype(np.int32)
    offsets = np.concatenate([-ahead[::-1], ahead])
    members = np.arange(PLANTED) * (n // PLANTED)
    drawn = (PLANTED * rng.random((2 * PLANTED * degree, 2)) ** 1.5).astype(np.int64)  # densest among the first
    pairs = np.unique(np.sort(drawn, axis=1), axis=0)
    pairs = members[pairs[pairs[:, 0] != pairs[:, 1]]]
    far = pairs[:, 1] - pairs[:, 0]
    pairs = pairs[~np.isin(np.minimum(far, n - far), ahead)]
    both = np.concatenate([pairs, pairs[:, ::-1]])
    both = both[np.argsort(both[:, 0], kind="stable")]
    extra = np.bincount(both[:, 0], minlength=n)
    indptr = np.concatenate([[0], np.cumsum(extra + degree)])
    indices = np.empty(int(indptr[-1]), dtype=np.int32)
    starts = np.concatenate([[0], np.cumsum(extra)])
    for first in range(0, n, 1 << 16):
        last = min(first + (1 << 16), n)
        rows = (np.arange(first, last, dtype=np.int32)[:, None] + offsets) % n
        at = indptr[first:last, None] + np.arange(degree)
        indices[at] = rows
    for i in np.flatnonzero((extra > 0) | (np.arange(n) < reach) | (np.arange(n) >= n - reach)):
        row = indices[indptr[i] : indptr[i + 1]]
        row[degree:] = both[starts[i] : starts[i + 1], 1]
        row.sort()
    return flipwise.Graph(indptr, indices)


def memory_group(limit: int) -> tuple[Callable[[], None], Callable[[], None]] | None:
    """How a child joins a new control group with this limit, and how the group is removed; None: not allowed."""
    for root, name in (
        (Path("/sys/fs/cgroup"), "memory.max"),
        (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"),
    ):
        group = root / f"flipwise-out-of-core-{os.getpid()}"
        if not (root / "cgroup.procs").exists():
            continue
        try:
            group.mkdir()
            (group / name).write_text(str(limit))
            return lambda: (group / "cgroup.procs").write_text(str(os.getpid())) and None, group.rmdir  # noqa: B023
        except OSError:
            if group.is_dir():
                group.rmdir()
    return None


def solved(path: Path, join: Callable[[], None] | None) -> dict[str, Any]:
    """One solve in a fresh process, nothing of the file in the page cache."""
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    command = [sys.executable, "-c", CHILD, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=join)
    if done.returncode:
        raise SystemExit(f"the solve ended with code {done.returncode} (-9: out of memory)\n{done.stderr}")
    return dict(json.loads(done.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--limit", type=int, help="bytes; default: a quarter of the graph, at least 260 MB")
    arguments = parser.parse_args()
    quick = arguments.quick
    recorder = Recorder("out_of_core-quick" if quick else "out_of_core")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "ring.fwg")
        graph = ring(100_000 if quick else 1_000_000, 400)
        flipwise.write_graph(graph, path)
        size, arcs = path.stat().st_size, graph.n_arcs
        del graph
        limit = arguments.limit or max(size // 4, 260_000_000)
        group = memory_group(limit)
        if group is None:
            raise SystemExit("No memory control group may be made here; run as a user who may.")
        join, remove = group
        free = solved(path, None)
        try:
            tight = solved(path, join)
        finally:
            remove()
    assert free["nodes"] == tight["nodes"] and free["bound"] == tight["bound"]
    slowdown = tight["seconds"] / free["seconds"]
    print(f"{arcs:,} arcs, file {size / 1e6:,.0f} MB, limit {limit / 1e6:,.0f} MB ({size / limit:.1f} times less)")
    print(f"without limit {free['seconds']:.2f} s, within it {tight['seconds']:.2f} s: {slowdown:.2f} times slower")
    print(f"density {tight['density']:.4f}, bound {tight['bound']:.4f}, the same nodes both times")
    recorder.add(arcs=arcs, bytes=size, limit=limit, free=free, tight=tight, slowdown=slowdown)


if __name__ == "__main__":
    main()
