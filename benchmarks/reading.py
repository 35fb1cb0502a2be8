"""How fast graphs come in, against the libraries people use for it, in the same run; and how much memory it takes.

    python benchmarks/reading.py            # 1 million edges, and peak memory at 10 million
    python benchmarks/reading.py --quick    # 200 thousand edges

Every reader ends with a symmetric CSR structure of the simple graph, and all must agree on the number of edges. Files
are in the page cache for all. Rivals: networkx, igraph, numpy.loadtxt, pyarrow.csv and scipy.io.mmread, each followed
by scipy's conversion to CSR; webgraph for BVGraph where its Elias-Fano file is present. Real BVGraph files are found
through FLIPWISE_DATA.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp
from recording import Recorder

import flipwise
from flipwise_studies.data.rmat import rmat_graph

MEMORY_CODE = """
import re, sys
from pathlib import Path
import flipwise

def kilobytes(field):
    return int(re.search(field + r":\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

flipwise.read_graph(sys.argv[1])  # compiles, on a small file
Path("/proc/self/clear_refs").write_text("5")  # resets the peak
before = kilobytes("VmRSS")
graph = flipwise.read_graph(sys.argv[2])
print((kilobytes("VmHWM") - before) * 1024, graph.indptr.nbytes + graph.indices.nbytes)
"""
"""Peak resident memory while a large file is read, above what the process held before (Linux)."""


def simple(sources: np.ndarray, targets: np.ndarray) -> int:
    """The edges of the simple graph, by scipy."""
    n = int(max(sources.max(), targets.max())) + 1
    A = sp.coo_array((np.ones(sources.size, dtype=np.int8), (sources, targets)), shape=(n, n)).tocsr()
    A = A + A.T
    A.setdiag(0)
    A.eliminate_zeros()
    return A.nnz // 2


def with_networkx(path: Path) -> int:
    import networkx as nx

    return nx.to_scipy_sparse_array(nx.read_edgelist(path, nodetype=int)).nnz // 2


def with_igraph(path: Path) -> int:
    import igraph

    edges = np.array(igraph.Graph.Read_Edgelist(str(path), directed=False).get_edgelist())
    return simple(edges[:, 0], edges[:, 1])


def with_numpy(path: Path) -> int:
    edges = np.loadtxt(path, dtype=np.int64)
    return simple(edges[:, 0], edges[:, 1])


def with_pyarrow(path: Path) -> int:
    from pyarrow import csv

    options = csv.ReadOptions(column_names=["source", "target"])
    table = csv.read_csv(path, read_options=options, parse_options=csv.ParseOptions(delimiter=" "))
    return simple(table["source"].to_numpy(), table["target"].to_numpy())


def with_scipy(path: Path) -> int:
    A = sp.csr_array(scipy.io.mmread(path))
    return A.nnz // 2


def with_flipwise(path: Path) -> int:
    return flipwise.read_graph(path).n_edges


def race(recorder: Recorder, task: str, readers: dict[str, Callable[[Path], int]], path: Path, repeats: int) -> None:
    """Median times of the readers, taken in turn; a reader that cannot run is a row with the reason."""
    seconds: dict[str, list[float]] = {name: [] for name in readers}
    failed: dict[str, str] = {}
    edges: dict[str, int] = {}
    for turn in range(repeats + 1):  # the first turn compiles and warms up
        for name, read in readers.items():
            if name in failed:
                continue
            start = time.perf_counter()
            try:
                edges[name] = read(path)
            except (ImportError, ValueError) as error:
                reason = str(error).replace(f"{path.parent}{os.sep}", "").partition(": ")[0]
                failed[name] = f"{type(error).__name__}: {reason}"
                continue
            if turn:
                seconds[name].append(time.perf_counter() - start)
    assert len(set(edges.values())) == 1, edges
    ours = statistics.median(seconds["flipwise"])
    for name in readers:
        row = {"task": task, "reader": name, "edges": edges["flipwise"], "bytes": path.stat().st_size}
        if name in failed:
            recorder.add(**row, failed=failed[name])
            print(f"{task:28} {name:10} {failed[name]}")
            continue
        median = statistics.median(seconds[name])
        recorder.add(**row, seconds=seconds[name], median=median, times_flipwise=median / ours)
        rate = edges[name] / median / 1e6
        print(f"{task:28} {name:10} {median:8.3f} s {rate:8.2f} M edges/s {median / ours:8.1f} x flipwise")


def with_webgraph(path: Path) -> int:
    import webgraph

    graph = webgraph.BvGraph(str(path.with_suffix("")))
    rows = [np.fromiter(graph.successors(i), dtype=np.int64) for i in range(graph.num_nodes())]
    sources = np.repeat(np.arange(len(rows)), [row.size for row in rows])
    return simple(sources, np.concatenate(rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    edges, repeats = (200_000, 1) if arguments.quick else (1_000_000, 3)
    recorder = Recorder("reading", ("networkx", "igraph", "pyarrow", "webgraph"))
    data = Path(os.environ.get("FLIPWISE_DATA", "")) / "graphs"
    for name in ("uk-2007-05@100000", "dblp-2010"):
        path = data / f"{name}.graph"
        if path.is_file():
            race(recorder, f"BVGraph {name}", {"flipwise": with_flipwise, "webgraph": with_webgraph}, path, repeats)
    with tempfile.TemporaryDirectory() as folder:
        graph = rmat_graph(edges // 10, 2 * edges, seed=1)
        text = flipwise.write_graph(graph, Path(folder, "g.txt"))
        rows = text.read_bytes().splitlines(keepends=True)
        text.write_bytes(b"".join(row for row in rows if not row.startswith(b"#")))  # igraph knows no comments
        readers = {
            "flipwise": with_flipwise,
            "pyarrow": with_pyarrow,
            "igraph": with_igraph,
            "numpy": with_numpy,
            "networkx": with_networkx,
        }
        race(recorder, "edge list", readers, text, repeats)
        matrix = flipwise.write_graph(graph, Path(folder, "g.mtx"))
        race(recorder, "MatrixMarket", {"flipwise": with_flipwise, "scipy": with_scipy}, matrix, repeats)
        packed = flipwise.write_graph(graph, Path(folder, "g.flipgraph"))
        race(recorder, "compact file", {"flipwise": with_flipwise}, packed, repeats)

        factor = 2 if arguments.quick else 10
        large = rmat_graph(factor * edges // 50, 2 * factor * edges, seed=2)
        for task, name in (("edge list", "large.txt"), ("compact file", "large.flipgraph")):
            path = flipwise.write_graph(large, Path(folder, name))
            command = [sys.executable, "-c", MEMORY_CODE, str(text if name.endswith("txt") else packed), str(path)]
            extra, arrays = map(int, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
            recorder.add(task=f"memory, {task}", edges=large.n_edges, peak_bytes=extra, csr_bytes=arrays)
            print(f"memory, {task:20} {extra / arrays:8.2f} x the CSR arrays ({large.n_edges:,} edges)")


if __name__ == "__main__":
    main()
