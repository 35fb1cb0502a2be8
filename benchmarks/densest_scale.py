"""Dense subgraphs at 10^8 arcs: time as a multiple of one full parallel gradient pass, memory, and growth with size.

    python benchmarks/densest_scale.py            # 1.1 million nodes and 114 million arcs; four sizes; imdb-actors-1999
    python benchmarks/densest_scale.py --quick    # the four sizes up to 4 million arcs

Each graph is generated once, stored as a memory-mapped CSR file in a temporary folder and solved from there in a fresh
process, which first compiles its kernels on a small graph. A pass is the median time of `degrees_into`, the full
parallel gradient on the same graph in the same process, measured before and after the solve. Peak memory is the
process's own: first whole, with the interpreter, the libraries, the compiled kernels and the mapped graph, then
without what the process held before it opened the graph (`base_bytes`). Time against arcs is measured over four sizes
at effort 0, at the effort of the large solve, and at the default effort. imdb-actors-1999 is found through
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
from flipwise_studies.data.local import local_graph
from flipwise_studies.data.rmat import rmat_graph

CHILD = """
import json, resource, statistics, sys, time
from pathlib import Path
import numpy as np
import flipwise
from flipwise_studies.data.rmat import rmat_graph
from flipwise.densest.core import arc_weights
from flipwise.kernels.subgraph import degrees_into

path, k, effort = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
small = rmat_graph(10_000, 500_000, seed=1)
flipwise.densest_subgraph(small, 300, seed=0, effort=0.02)
del small

def peak(line="VmHWM:"):
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    # not ru_maxrss: a child process begins with the peak of the one that started it
    return next(int(row.split()[1]) * 1024 for row in status.read_text().splitlines() if row.startswith(line))

base = peak("VmRSS:")
if Path("/proc/self/clear_refs").exists():
    Path("/proc/self/clear_refs").write_text("5")  # what compiling took at its worst does not count
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
    "peak_bytes": peak(), "base_bytes": base,
    "csr_bytes": graph.indptr.nbytes + graph.indices.nbytes,
}))
"""


DEFAULT_EFFORT = 1.0


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
    row["own_peak_over_csr"] = (row["peak_bytes"] - row["base_bytes"]) / row["csr_bytes"]
    return row


def show(name: str, row: dict[str, float]) -> None:
    print(
        f"{name:20} {row['arcs']:>11,} arcs  k={row['k']:<5} density {row['density']:.3f}  bound {row['bound']:.3f}  "
        f"{row['seconds']:7.2f} s = {row['passes']:6.1f} passes, within 1 % after "
        f"{row['passes_within_1_percent']:5.1f}; peak {row['peak_over_csr']:.2f} x CSR, "
        f"{row['own_peak_over_csr']:.2f} without the libraries",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="up to 4 million arcs only")
    parser.add_argument("--effort", type=float, default=0.1)
    parser.add_argument("--graph", type=Path, help="the large graph, if it has been stored before")
    arguments = parser.parse_args()
    recorder = Recorder("densest_scale-quick" if arguments.quick else "densest_scale")
    if arguments.graph is not None:  # where it lies says nothing to others
        recorder.record["command"] = recorder.record["command"].replace(str(arguments.graph), arguments.graph.name)
    sizes = [500_000, 1_000_000, 2_000_000, 4_000_000] if arguments.quick else [2_000_000, 8_000_000, 32_000_000]
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        if not arguments.quick:
            path = arguments.graph or Path(folder) / "large.fwg"
            if not path.exists():
                flipwise.write_graph(rmat_graph(1_139_905, 113_891_327, seed=0), path)
            row = measured(path, 1600, arguments.effort)
            show("R-MAT", row)
            recorder.add(graph="R-MAT", **row)
            paths.append(path)
        for arcs in sizes:
            paths.append(Path(folder) / f"{arcs}.fwg")
            flipwise.write_graph(rmat_graph(arcs // 100, arcs, seed=0), paths[-1])
        if os.environ.get("FLIPWISE_DATA") and not arguments.quick:
            path = Path(folder) / "imdb.fwg"
            flipwise.write_graph(local_graph("imdb-actors-1999"), path)
            for k in (200, 400, 800, 1600, 3200, 6400):
                row = measured(path, k, arguments.effort)
                show("imdb-actors-1999", row)
                recorder.add(graph="imdb-actors-1999", **row)
        for effort in dict.fromkeys((0.0, arguments.effort, DEFAULT_EFFORT)):
            grown = [measured(path, 1600, effort) for path in paths]
            for row in grown:
                show(f"R-MAT, effort {effort:g}", row)
                recorder.add(graph=f"R-MAT, effort {effort:g}", **row)
            arcs_seen, seconds = ([row[name] for row in grown] for name in ("arcs", "seconds"))
            exponent = float(np.polyfit(np.log(arcs_seen), np.log(seconds), 1)[0])
            print(f"at effort {effort:g} time grows as arcs^{exponent:.3f}", flush=True)
            recorder.add(graph="growth", effort=effort, exponent=exponent, arcs=arcs_seen, seconds=seconds)


if __name__ == "__main__":
    main()
