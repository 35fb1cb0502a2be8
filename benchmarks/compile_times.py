"""Which kernels a job compiles with an empty cache, for which types, and the seconds each takes.

    FLIPWISE_DATA=... python benchmarks/compile_times.py [--checkout ANOTHER/CHECKOUT] [JOB ...]

Each job runs in a process of its own with a cache folder of its own. Seconds are processor time of the compiling
thread; a kernel's seconds hold those of its helpers and of Numba's own array functions, which are also listed alone.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from recording import ROOT, Recorder

GRAPH = (
    "import flipwise, os; graph = flipwise.read_graph(os.environ['FLIPWISE_DATA'] + '/graphs/facebook_combined.txt.gz')"
)
ROWS = (
    "import numpy as np; from flipwise.hashing import ITQ, SDH; rng = np.random.default_rng(0); "
    "X = rng.standard_normal((20_000, 384)); y = rng.integers(10, size=20_000)"
)
JOBS = {
    "subgraph": (
        "import os, runpy, sys; "
        "sys.argv = ['flipwise', 'subgraph', os.environ['FLIPWISE_DATA'] + '/graphs/facebook_combined.txt.gz', "
        "'-k', '100', '-q', '-o', os.devnull]; runpy.run_module('flipwise', run_name='__main__')"
    ),
    "densest_subgraph": f"{GRAPH}; flipwise.densest_subgraph(graph, 100, seed=0)",
    "maxcut": f"{GRAPH}; flipwise.maxcut(graph, seed=0)",
    "bisect": f"{GRAPH}; flipwise.bisect(graph, seed=0)",
    "solve_qubo": (
        "import numpy as np, flipwise; Q = np.random.default_rng(0).integers(-100, 101, (1000, 1000)).astype(float); "
        "flipwise.solve_qubo(Q + Q.T, seed=0, time_limit=10)"
    ),
    "ITQ": f"{ROWS}; ITQ(32, random_state=0).fit(X)",
    "SDH": f"{ROWS}; SDH(32, random_state=0).fit(X, y)",
}

CHILD = """
import json, sys, time
from numba.core import event

class Compilations(event.Listener):
    def __init__(self):
        self.open, self.done = [], []

    def on_start(self, happening):
        self.open.append([time.thread_time(), 0.0])

    def on_end(self, happening):
        start, inner = self.open.pop()
        seconds = time.thread_time() - start
        if self.open:
            self.open[-1][1] += seconds
        function = happening.data["dispatcher"].py_func
        self.done.append({
            "function": function.__qualname__, "module": function.__module__, "outer": not self.open,
            "types": ", ".join(map(str, happening.data["args"])), "seconds": seconds, "own_seconds": seconds - inner,
        })

compilations = Compilations()
event.register("numba:compile", compilations)
start = time.process_time()
try:
    exec(sys.argv[1], {"__name__": "job"})
except SystemExit as end:
    if end.code:
        raise
print("\\n" + json.dumps({"seconds": time.process_time() - start, "compiled": compilations.done}))
"""


def compilations(job: str, checkout: Path) -> dict[str, Any]:
    """What one job compiles with an empty cache (`compiled`) and its processor time (`seconds`)."""
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-c", CHILD, JOBS[job]],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            env={**os.environ, "NUMBA_CACHE_DIR": cache, "PYTHONPATH": str(checkout / "src")},
        )
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def main() -> None:
    """Print and store a table for every job."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("jobs", nargs="*", default=list(JOBS), metavar="JOB")
    parser.add_argument("--checkout", type=Path, default=ROOT)
    parser.add_argument("--name", default="compile_times", help="the stored run's name")
    parser.add_argument("--commit", help="the commit of the other checkout")
    arguments = parser.parse_args()
    recorder = Recorder(arguments.name)
    recorder.record["command"] = recorder.record["command"].replace(str(arguments.checkout), "OTHER/CHECKOUT")
    if arguments.checkout != ROOT:
        recorder.record["commit"] = arguments.commit
    for job in arguments.jobs:
        found = compilations(job, arguments.checkout)
        kernels = [row for row in found["compiled"] if row["outer"]]
        arrays = [row for row in found["compiled"] if row["module"].startswith("numba")]
        row = {
            "job": job,
            "seconds": found["seconds"],
            "specialisations": len(kernels),
            "compiling": sum(row["seconds"] for row in kernels),
            "numba_array_functions": len(arrays),
            "in_array_functions": sum(row["own_seconds"] for row in arrays),
            "kernels": kernels,
        }
        recorder.add(**row)
        print(
            f"\n{job}: {row['specialisations']} specialisations, {row['compiling']:.1f} of {row['seconds']:.1f} s; "
            f"{row['numba_array_functions']} array functions of Numba, {row['in_array_functions']:.1f} s"
        )
        for each in sorted(kernels, key=lambda each: -each["seconds"]):
            print(f"  {each['seconds']:6.2f}  {each['function']:<24} {each['types']}")


if __name__ == "__main__":
    main()
