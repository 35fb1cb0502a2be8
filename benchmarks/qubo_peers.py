"""Against the samplers people use, at 1 s and 10 s on the same cores: Gset, bqp1000, p3000.1, two +-1 glasses.

    python benchmarks/qubo_peers.py [--seconds 1 10] [--only G1 G22] [--solvers ...] [--other-python PATH]
                                    [--cores 1] [--go-on] [--ours] [--tts 10] [--quick]

Every solver runs in processes of its own, one for each core where it is single-threaded (the best of them counts).
`--cores 1` gives all of them, flipwise included, one core; `--go-on` keeps the pairs that the stored run has; `--ours`
runs flipwise again beside the stored values of the rivals, on one thread by the processor's clock, and the row says at
which commit. `--tts` adds as many runs of each solver with other seeds, to stored rows too with `--go-on`, where a
best-known value is to be reached: `tts99` is the time to target, the seconds of runs as long as the limit after which
it has been reached with probability 0.99.
Importing, compiling and building the solver's own model are not counted on any side. The driver scores the points. A
rival that is not installed is left out with the reason; `--other-python` is an interpreter with those that need an
environment of their own.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from qubo_instances import Instance, gset_names, instance
from recording import Recorder, count_processor_seconds

import flipwise

RIVALS = ("dwave-sa", "dwave-sa-long", "dwave-tabu", "dwave-descent", "openjij-sa", "simulated-bifurcation")
THREADED = ("simulated-bifurcation",)
OTHERS = ("bqp1000.1", "p3000.1", "glass2000", "torus10000")
QUICK = ("G1", "G22", "G35", "G55", "torus10000", "glass2000", "bqp1000.1", "p3000.1")
LATE = 1.5
"""An answer later than this many limits does not count as one within the limit; it is listed apart."""
DENSE_ONLY_LIMIT = 8000
"""Dense-matrix rivals are not run above this many variables: they need n^2 floats (see their notes)."""


def ours(problem: Instance, seconds: float, seed: int, cores: int, target: float | None = None) -> tuple[float, float]:
    """(value, seconds) of the portfolio, which ends where it reaches the target."""
    objective = problem.model.objective()
    started = time.perf_counter()
    result = flipwise.minimize(
        objective,
        method="portfolio",
        time_limit=seconds,
        seed=seed,
        threads=cores,
        target=None if target is None else -target,
    )
    spent = time.perf_counter() - started
    return problem.value(result.x), spent


def rival(problem: Instance, solver: str, seconds: float, seed: int, python: str, cores: int) -> dict[str, object]:
    """The best value of a rival over its processes, and the longest time one took."""
    processes = 1 if solver in THREADED else cores
    model = problem.model
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.npz"
        np.savez(
            path,
            linear=model.linear,
            i=model.i,
            j=model.j,
            b=model.b,
            offset=model.offset,
            variables=np.array(model.variables),
        )
        script = str(Path(__file__).parent / "qubo_rivals.py")
        running = []
        for k in range(processes):
            out = Path(folder) / f"out{k}.npz"
            command = [
                python,
                script,
                solver,
                str(path),
                str(out),
                "--seconds",
                str(seconds),
                "--seed",
                str(seed + 1000 * k),
            ]
            threads = {"OMP_NUM_THREADS": str(cores if solver in THREADED else 1)}
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "env": os.environ | threads}
            running.append((out, subprocess.Popen(command, **quiet)))  # type: ignore[call-overload]
        points: list[tuple[float, float]] = []
        error = ""
        for out, process in running:
            try:
                _, err = process.communicate(timeout=seconds * 10 + 120)
            except subprocess.TimeoutExpired:
                process.kill()
                error = "stopped: more than ten times the limit"
                continue
            if process.returncode != 0 or not out.exists():
                error = err.decode(errors="replace").strip().splitlines()[-1] if err else "failed"
                continue
            with np.load(out) as found:
                for x, when in zip(found["x"], found["seconds"], strict=True):
                    points.append((problem.value(x), float(when)))
    if not points:
        return {"skipped": error}
    in_time = [point for point in points if point[1] <= LATE * seconds]
    spent = round(max(when for _, when in points), 3)
    if not in_time:
        return {"late": max(value for value, _ in points), "seconds": spent, "processes": processes}
    best = max(value for value, _ in in_time)
    reached = min((when for value, when in in_time if problem.best is not None and value >= problem.best), default=None)
    return {"value": best, "seconds": spent, "processes": processes, "reached": reached}


def time_to_target(reached: list[float | None], limit: float) -> dict[str, object]:
    """The share of runs that reached the target, and the time to target (0.99); None where none did."""
    times = [when for when in reached if when is not None]
    share = len(times) / len(reached)
    if not times:
        return {"success": 0.0, "tts99": None}
    runs = 1.0 if share == 1.0 else max(1.0, math.log(0.01) / math.log(1.0 - share))
    return {"success": share, "tts99": round(max(times) if share == 1.0 else runs * limit, 3)}


def add_times_to_target(row: dict[str, Any], problem: Instance, limit: float, arguments: argparse.Namespace) -> None:
    """Run every solver of a row again with other seeds and say how soon each reaches the best-known value."""
    assert problem.best is not None
    seeds = range(arguments.seed + 100, arguments.seed + 100 + arguments.tts)
    own: list[float | None] = []
    for seed in seeds:
        value, spent = ours(problem, limit, seed, arguments.cores, problem.best)
        own.append(spent if value >= problem.best else None)
    row["flipwise"].update(time_to_target(own, limit))
    for solver in arguments.solvers:
        if isinstance(row.get(solver), dict) and "value" in row[solver]:
            python = sys.executable if solver.startswith("dwave") else arguments.other_python
            runs = [rival(problem, solver, limit, seed, python, arguments.cores) for seed in seeds]
            row[solver].update(time_to_target([run.get("reached") for run in runs], limit))  # type: ignore


def main() -> None:
    """Run and store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, nargs="+", default=[1.0, 10.0])
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--solvers", nargs="+", choices=RIVALS, default=list(RIVALS))
    parser.add_argument("--other-python", default=sys.executable)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--go-on", action="store_true")
    parser.add_argument("--ours", action="store_true")
    parser.add_argument("--tts", type=int, default=0, help="runs for the time to target")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    names = arguments.only or (list(QUICK) if arguments.quick else [*gset_names(), *OTHERS])
    limits = [1.0] if arguments.quick else arguments.seconds
    flipwise.warm_up()
    recorder = Recorder("qubo_peers", ("dimod", "dwave-samplers"))
    if arguments.ours:
        run_ours_again(recorder, limits, arguments)
        return
    done = {(row["instance"], row["limit"]): row for row in recorder.go_on()} if arguments.go_on else {}
    missing: set[str] = set()
    for limit, name in itertools.product(limits, names):
        if (name, limit) in done:
            row = done[name, limit]
            if arguments.tts and row["best_known"] is not None and "tts99" not in row["flipwise"]:
                add_times_to_target(row, instance(name), limit, arguments)
                row["times"] = {"commit": recorder.record["commit"], "made": recorder.record["date"]}
                recorder.write()
                print(name, limit, {k: v for k, v in row.items() if isinstance(v, dict)}, flush=True)
            continue
        problem = instance(name)
        value, spent = ours(problem, limit, arguments.seed, arguments.cores)
        row = {
            "instance": name,
            "n": problem.model.n,
            "couplings": int(problem.model.b.size),
            "limit": limit,
            "cores": arguments.cores,
            "best_known": problem.best,
            "flipwise": {"value": value, "seconds": round(spent, 3)},
        }
        for solver in arguments.solvers:
            if solver in missing:
                continue
            if solver in ("dwave-tabu", "simulated-bifurcation") and problem.model.n > DENSE_ONLY_LIMIT:
                row[solver] = {"skipped": f"needs a dense matrix with {problem.model.n}^2 entries"}
                continue
            python = sys.executable if solver.startswith("dwave") else arguments.other_python
            found = rival(problem, solver, limit, arguments.seed, python, arguments.cores)
            row[solver] = found
            if "ModuleNotFoundError" in str(found.get("skipped", "")):
                missing.add(solver)
        if arguments.tts and problem.best is not None:
            add_times_to_target(row, problem, limit, arguments)
        recorder.add(**row)
        print(name, limit, {k: v for k, v in row.items() if isinstance(v, dict)}, flush=True)
    report(recorder.record["rows"])


def run_ours_again(recorder: Recorder, limits: list[float], arguments: argparse.Namespace) -> None:
    """Replace what flipwise found in the stored rows of these limits; the rivals had one core each."""
    count_processor_seconds()
    for row in recorder.go_on():
        if row["limit"] in limits and (not arguments.only or row["instance"] in arguments.only):
            problem = instance(row["instance"])
            row["best_known"] = problem.best
            before = time.process_time()
            value, _ = ours(problem, row["limit"], arguments.seed, row["cores"])
            spent = time.process_time() - before
            run = {"commit": recorder.record["commit"], "made": recorder.record["date"]}
            row["flipwise"] = {"value": value, "seconds": round(spent, 3), **run}
            recorder.write()
            print(row["instance"], row["limit"], value, flush=True)
    report(recorder.record["rows"])


def report(rows: list[dict[str, Any]]) -> None:
    """Count the pairs in which flipwise is at least as good as the best rival, and the largest gap."""
    level, worst = 0, 0.0
    for row in rows:
        rivals = [v["value"] for k, v in row.items() if k in RIVALS and isinstance(v, dict) and "value" in v]
        own = row["flipwise"]["value"]  # type: ignore[index]
        best = max(rivals, default=own)
        level += own >= best
        worst = max(worst, (best - own) / abs(best))
    print(f"at least as good in {level} of {len(rows)} pairs; furthest behind {100 * worst:.3f} %")


if __name__ == "__main__":
    main()
