"""Dense subgraphs at 10^8 arcs: time as a multiple of one full parallel gradient pass, memory, and growth with size.

    python benchmarks/densest_scale.py            # 1.1 million nodes and 114 million arcs; four sizes; imdb-actors-1999
    python benchmarks/densest_scale.py --quick    # the four sizes up to 4 million arcs

Each graph is generated once, stored as a memory-mapped CSR file in a temporary folder and solved from there in a fresh
process, which first compiles its kernels on a small graph. A pass is the median time of `degrees_into`, the full
parallel gradient on the same graph in the same process, measured before and after the solve. Peak memory is the
process's own (with the interpreter, the libraries and the mapped graph). imdb-actors-1999 is found through
FLIPWISE_DATA.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from recording import Recorder

import flipwise
from flipwise.datasets.generators import rmat_graph
from flipwise.datasets.local import local_graph

CHILD = """
import json, resource, statistics, sys, time
import numpy as np
import flipwise
from flipwise.datasets.generators import rmat_graph
from flipwise.graphs.core import arc_weights
from flipwise.kernels.subgraph import degrees_into

path, k, effort = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
small = rmat_graph(10_000, 500_000, seed=1)
flipwise.densest_subgraph(small, 300, seed=0, effort=0.02)
del small
graph = flipwise.read_graph(path)
inside = np.zeros(graph.n, dtype=np.uint8)
inside[:k] = 1
degrees = np.zeros(graph.n, dtype=np.int64)

def one_pass():
    begun = time.perf_counter()
    degrees_into(graph.indptr, graph.indices, arc_weights(graph), inside, degrees)
    return time.perf_counter() - begun

passes = [one_pass() for _ in range(5)]
result = flipwise.densest_subgraph(graph, k, seed=0, effort=effort)
passes += [one_pass() for _ in range(5)]
close = next(r.seconds for r in result.trace.records if -r.best / k >= 0.99 * result.density)
print(json.dumps({
    "nodes": graph.n, "arcs": graph.n_arcs, "k": k, "effort": effort, "density": result.density, "bound": result.bound,
    "gap": result.gap, "proven_by": result.bound_method, "pass_seconds": statistics.median(passes),
    "seconds": result.seconds, "seconds_within_1_percent": close,
    "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    "csr_bytes": graph.indptr.nbytes + graph.indices.nbytes,
}))
"""


def measured(path: Path, k: int, effort: float) -> dict[str, float]:
    """One solve in a fresh process."""
    command = [sys.executable, "-c", CHILD, str(path), str(k), str(effort)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    row = json.loads(done.stdout)
    row["passes"] = row["seconds"] / row["pass_seconds"]
    row["passes_within_1_percent"] = row["seconds_within_1_percent"] / row["pass_seconds"]
    row["peak_over_csr"] = row["peak_bytes"] / row["csr_bytes"]
    return row


def show(name: str, row: dict[str, float]) -> None:
    print(
        f"{name:20} {row['arcs']:>11,} arcs  k={row['k']:<5} density {row['density']:.3f}  bound {row['bound']:.3f}  "
        f"{row['seconds']:7.2f} s = {row['passes']:6.1f} passes, within 1 % after "
        f"{row['passes_within_1_percent']:5.1f}; peak {row['peak_over_csr']:.2f} x CSR",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="up to 4 million arcs only")
    parser.add_argument("--effort", type=float, default=0.2)
    parser.add_argument("--graph", type=Path, help="the large graph, if it has been stored before")
    arguments = parser.parse_args()
    recorder = Recorder("densest_scale")
    if arguments.graph is not None:  # where it lies says nothing to others
        recorder.record["command"] = recorder.record["command"].replace(str(arguments.graph), arguments.graph.name)
    sizes = [500_000, 1_000_000, 2_000_000, 4_000_000] if arguments.quick else [2_000_000, 8_000_000, 32_000_000]
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        if not arguments.quick:
            path = arguments.graph or Path(folder) / "large.fwg"
            if not path.exists():
                flipwise.save_graph(rmat_graph(1_139_905, 113_891_327, seed=0), path)
            row = measured(path, 1600, arguments.effort)
            show("R-MAT", row)
            recorder.add(graph="R-MAT", **row)
            paths.append(path)
        for arcs in sizes:
            paths.append(Path(folder) / f"{arcs}.fwg")
            flipwise.save_graph(rmat_graph(arcs // 100, arcs, seed=0), paths[-1])
        # Growth is that of the first answer with its bound: the search after it has a fixed budget.
        grown = [measured(path, 1600, 0.0) for path in paths]
        for row in grown:
            show("R-MAT, effort 0", row)
            recorder.add(graph="R-MAT, effort 0", **row)
        arcs_seen, seconds = ([row[name] for row in grown] for name in ("arcs", "seconds"))
        exponent = float(np.polyfit(np.log(arcs_seen), np.log(seconds), 1)[0])
        print(f"time grows as arcs^{exponent:.3f}")
        recorder.add(graph="growth", exponent=exponent, arcs=arcs_seen, seconds=seconds)
        if os.environ.get("FLIPWISE_DATA") and not arguments.quick:
            path = Path(folder) / "imdb.fwg"
            flipwise.save_graph(local_graph("imdb-actors-1999"), path)
            for k in (200, 400, 800, 1600, 3200, 6400):
                row = measured(path, k, arguments.effort)
                show("imdb-actors-1999", row)
                recorder.add(graph="imdb-actors-1999", **row)


if __name__ == "__main__":
    main()
