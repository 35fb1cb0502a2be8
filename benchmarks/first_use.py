"""What a first use costs: compilation, later processes, cold against warm runs, and how well time limits are kept.

    FLIPWISE_DATA=... python benchmarks/first_use.py --before ANOTHER/CHECKOUT    # all four parts, one core, an hour
    python benchmarks/first_use.py --part limits --only maxcut                    # one part, some rows
    python benchmarks/first_use_page.py                                           # the page, from the stored rows

Every measurement is a process of its own, pinned to one core with one thread. A first use has an empty kernel cache; a
later process has the cache that the first one left. Seconds are processor time of the whole process, imports included;
those of the time limits are measured on a third call in the same process, after all that is compiled: processor time
too, by which the library's clock then goes, but wall time where the objective sleeps.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

from compile_times import compilations
from recording import ROOT, Recorder, count_processor_seconds

GRAPH = "graph = flipwise.read_graph(os.environ['FLIPWISE_DATA'] + '/graphs/facebook_combined.txt.gz')"
QUBO = "Q = rng.integers(-100, 101, (1000, 1000)).astype(float); Q = Q + Q.T"
ROWS = "X = rng.standard_normal((20_000, 384)); y = rng.integers(10, size=20_000)"
USES = {
    "densest_subgraph": (GRAPH, "flipwise.densest_subgraph(graph, 100, seed=0{limit}).density", 10.0),
    "maxcut": (GRAPH, "flipwise.maxcut(graph, seed=0{limit}).value", 4.0),
    "bisect": (GRAPH, "flipwise.bisect(graph, seed=0{limit}).value", 4.0),
    "solve_qubo": (QUBO, "flipwise.solve_qubo(Q, seed=0{limit}).value", 4.0),
    "ITQ": (ROWS, "float(flipwise.hashing.ITQ(32, random_state=0).fit(X).codes_.packed.sum())", 4.0),
    "SDH": (ROWS, "float(flipwise.hashing.SDH(32, random_state=0).fit(X, y).codes_.packed.sum())", 4.0),
}
"""What is made before, what is called, and how many seconds more a first use may take than a later process."""

EDGES = 10_000_000
LARGE = (
    "from flipwise.graphs.convert import as_graph; "
    f"graph = as_graph((1_000_000, rng.integers(0, 1_000_000, ({EDGES}, 2))))"
)
DENSE = "Q = rng.integers(-100, 101, (5000, 5000)).astype(float); Q = Q + Q.T"
SLOW = (
    "a = rng.standard_normal(300)\n"
    "def f(x):\n    time.sleep(0.01)\n    return float(a @ x) ** 2, 2 * float(a @ x) * a\n"
    "slow = flipwise.Smooth(f, shape=300)"
)
GLASS = "A = rng.standard_normal((1500, 1500)); A = A + A.T"
LIMITED = {
    "densest_subgraph, 10^7 edges": (LARGE, "flipwise.densest_subgraph(graph, 1000, seed=0, time_limit={t})"),
    "maxcut, 10^7 edges": (LARGE, "flipwise.maxcut(graph, seed=0, time_limit={t})"),
    "bisect, 10^7 edges": (LARGE, "flipwise.bisect(graph, seed=0, time_limit={t})"),
    "partition, 10^7 edges": (LARGE, "flipwise.partition(graph, 4, seed=0, time_limit={t})"),
    "minimize, 10^7 edges": (LARGE + "; W = graph.to_scipy()", "flipwise.minimize(W, seed=0, time_limit={t})"),
    "minimize, dense 5,000": (DENSE, "flipwise.minimize(Q, seed=0, time_limit={t})"),
    "minimize with a count, dense 5,000": (DENSE, "flipwise.minimize(Q, count=500, seed=0, time_limit={t})"),
    "solve_qubo, dense 5,000": (DENSE, "flipwise.solve_qubo(Q, seed=0, time_limit={t})"),
    "solve_ising, dense 5,000": (DENSE, "flipwise.solve_ising(np.zeros(5000), Q, seed=0, time_limit={t})"),
    "minimize, 10 ms a call": (SLOW, "flipwise.minimize(slow, seed=0, time_limit={t})"),
    "minimize with a count, 10 ms a call": (SLOW, "flipwise.minimize(slow, count=50, seed=0, time_limit={t})"),
    "minimize, portfolio, 10 ms a call": (
        SLOW,
        "flipwise.minimize(slow, method='portfolio', seed=0, time_limit={t})",
    ),
    "minimize with bound='sdp', dense 1,500": (GLASS, "flipwise.minimize(A, bound='sdp', seed=0, time_limit={t})"),
    "maxcut with its proof, facebook": (GRAPH, "flipwise.maxcut(graph, bound='sdp', seed=0, time_limit={t})"),
    "ITQ": (ROWS, "flipwise.hashing.ITQ(64, time_limit={t}, random_state=0).fit(X)"),
    "SDH": (ROWS, "flipwise.hashing.SDH(64, time_limit={t}, random_state=0).fit(X, y)"),
    "recommend": (ROWS, "flipwise.hashing.recommend(X, time_limit={t}, random_state=0)"),
}
LIMITS = (0.1, 1.0, 5.0)
BEGIN = "import os, time; import numpy as np; import flipwise, flipwise.hashing; rng = np.random.default_rng(0)"

# --- one process -----------------------------------------------------------------------------------------------------


def work(prepare: str, call: str, calls: int) -> dict[str, Any]:
    """Processor seconds of the process until after the preparation, and of each call; the values that calls return."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    warnings.simplefilter("ignore")
    names: dict[str, Any] = {}
    exec(f"{BEGIN}\n{prepare}", names)
    prepared = time.process_time()
    seconds, values = [], []
    for _ in range(calls):
        began = time.process_time()
        values.append(eval(call, names))
        seconds.append(time.process_time() - began)
    return {"prepared": prepared, "calls": seconds, "values": values, "whole": time.process_time()}


def keep_limits(prepare: str, call: str) -> list[dict[str, float]]:
    """Seconds of a call for each limit, after two that compile; what compilation took in spite of that is apart."""
    warnings.simplefilter("ignore")
    clock = time.perf_counter if "sleep" in prepare else time.process_time
    if clock is time.process_time:
        count_processor_seconds()
    names: dict[str, Any] = {}
    exec(f"{BEGIN}\nfrom flipwise.kernels.compile_time import compile_seconds\n{prepare}", names)
    for limit in (1.0, max(LIMITS)):  # kernels that only a longer search comes to are warm, too
        eval(call.format(t=limit), names)
    rows = []
    for limit in LIMITS:
        compiled, began = names["compile_seconds"](), clock()
        eval(call.format(t=limit), names)
        compiling = names["compile_seconds"]() - compiled
        rows.append({"limit": limit, "taken": clock() - began - compiling, "compiling": compiling})
    return rows


def in_process(cache: str, kind: str, *arguments: Any) -> Any:
    """What a function of this file returns in a fresh process with this kernel cache."""
    one = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
    done = subprocess.run(
        [sys.executable, __file__, "--worker", json.dumps([kind, *arguments])],
        env={**os.environ, **one, "NUMBA_CACHE_DIR": cache, "PYTHONPATH": str(ROOT / "src")},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


# --- the parts -------------------------------------------------------------------------------------------------------


def first(recorder: Recorder, only: str) -> None:
    """The first ever call, a later process, and the second call inside one process."""
    for name, (prepare, call, more) in USES.items():
        if only not in name:
            continue
        with tempfile.TemporaryDirectory() as cache:
            cold, later, twice = (in_process(cache, "work", prepare, call.format(limit=""), n) for n in (1, 1, 2))
        row = {
            "first_ever": cold["whole"], "later": later["whole"], "second_call": twice["calls"][1],
            "allowed_more": more, "values": [cold["values"][0], later["values"][0], *twice["values"]],
        }  # fmt: skip
        recorder.add(part="first", what=name, **row)
        print(f"{name:<18} first ever {row['first_ever']:6.2f} s, later {row['later']:6.2f} s, "
              f"second call {row['second_call']:6.2f} s", flush=True)  # fmt: skip


def compiling(recorder: Recorder, only: str, before: Path | None) -> None:
    """Specialisations that each job compiles, and their seconds, before and now."""
    for job in ("subgraph", "maxcut", "bisect", "solve_qubo", "ITQ", "SDH"):
        if only not in job:
            continue
        for when, checkout in (("before", before), ("now", ROOT)):
            if checkout is None:
                continue
            kernels = [row for row in compilations(job, checkout)["compiled"] if row["outer"]]
            seconds = sum(row["seconds"] for row in kernels)
            each = sorted(({k: row[k] for k in ("function", "types", "seconds")} for row in kernels),
                          key=lambda row: -row["seconds"])  # fmt: skip
            recorder.add(part="compiling", what=job, when=when, count=len(kernels), seconds=seconds, kernels=each)
            print(f"{job:<12} {when:<7} {len(kernels):3} specialisations, {seconds:6.2f} s", flush=True)


def same(recorder: Recorder, only: str) -> None:
    """Values of a cold run and of warm ones with the same seed and time limit."""
    for name in ("densest_subgraph", "maxcut", "bisect", "solve_qubo"):
        if only not in name:
            continue
        prepare, call, _ = USES[name]
        with tempfile.TemporaryDirectory() as cache:
            runs = [in_process(cache, "work", prepare, call.format(limit=", time_limit=1.0"), 1) for _ in range(6)]
        values = [run["values"][0] for run in runs]
        recorder.add(part="same", what=name, cold=values[0], warm=values[1:])
        print(f"{name:<18} cold {values[0]:.6g}, warm {', '.join(f'{v:.6g}' for v in values[1:])}", flush=True)


def limits(recorder: Recorder, only: str) -> None:
    """Seconds taken for each time limit."""
    with tempfile.TemporaryDirectory() as cache:
        for name, (prepare, call) in LIMITED.items():
            if only not in name:
                continue
            rows = in_process(cache, "keep_limits", prepare, call)
            recorder.add(part="limits", what=name, rows=rows, clock="wall" if "sleep" in prepare else "processor")
            taken = "  ".join(f"{row['limit']:g}: {row['taken']:.2f}{'' if kept(row) else ' LATE'}" for row in rows)
            print(f"{name:<40} {taken}", flush=True)


def kept(row: dict[str, float]) -> bool:
    """Whether a call ended soon enough after its limit."""
    return row["taken"] <= 1.1 * row["limit"] + 0.2


def main() -> None:
    """Measure the wanted parts and store them, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("first", "compiling", "same", "limits"), action="append")
    parser.add_argument("--only", default="", metavar="WORDS", help="rows whose name holds these words")
    parser.add_argument("--before", type=Path, metavar="CHECKOUT", help="an earlier version, for what was compiled")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        kind, *arguments = json.loads(given.worker)
        print("\n" + json.dumps({"work": work, "keep_limits": keep_limits}[kind](*arguments)))
        return
    parts = given.part or ["first", "compiling", "same", "limits"]
    recorder = Recorder("first_use")
    if given.part or given.only:
        recorder.go_on(lambda row: row["part"] not in parts or given.only not in row["what"])
    for part in parts:
        if part == "compiling":
            compiling(recorder, given.only, given.before)
        else:
            {"first": first, "same": same, "limits": limits}[part](recorder, given.only)


if __name__ == "__main__":
    main()
