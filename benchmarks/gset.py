"""Gaps to best-known values: all Gset files, OR-Library bqp, Palubeckis, each with up to 60 s; a run ends at the best.

python benchmarks/gset.py [--seconds 10 60] [--only G1 p3000.1] [--family gset bqp palubeckis]
                          [--largest 1000] [--threads 2] [--processor] [--go-on] [--quick]

`--go-on` repeats the instances that have not reached the best-known value and keeps the others. `--processor` counts
seconds of the processor, with one thread.
"""

from __future__ import annotations

import argparse
import itertools
import os
import time

from qubo_instances import PALUBECKIS, bqp_names, gset_names, instance
from recording import Recorder, count_processor_seconds

import flipwise


def main() -> None:
    """Run and store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, nargs="+", default=[60.0])
    parser.add_argument("--only", nargs="+")
    families = {"gset": gset_names(), "bqp": bqp_names(), "palubeckis": list(PALUBECKIS)}
    parser.add_argument("--family", nargs="+", choices=list(families), default=list(families))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--largest", type=int, help="leave out instances with more variables")
    parser.add_argument("--smallest", type=int, default=0, help="leave out instances with fewer variables")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--processor", action="store_true", help="count seconds of the processor")
    parser.add_argument("--go-on", action="store_true")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    if arguments.processor:
        arguments.threads = 1
        count_processor_seconds()
    now = time.process_time if arguments.processor else time.perf_counter
    names = arguments.only or [name for family in arguments.family for name in families[family]]
    if arguments.quick and not arguments.only:
        names = ["G1", "G14", "G22", "G43", "bqp100.1", "bqp1000.1", "p3000.1"]
    limits = [5.0] if arguments.quick else arguments.seconds
    flipwise.warm_up()
    recorder = Recorder("gset")
    rows = recorder.go_on() if arguments.go_on else []
    reached = {(row["instance"], row["limit"]) for row in rows if row["behind"] is None or row["behind"] <= 0}
    for name, seconds in itertools.product(names, limits):
        if (name, seconds) in reached:
            continue
        problem = instance(name)
        if not arguments.smallest <= problem.model.n <= (arguments.largest or problem.model.n):
            continue
        objective = problem.model.objective()
        target = None if problem.best is None else -problem.best
        started = now()
        result = flipwise.minimize(
            objective,
            method="portfolio",
            time_limit=seconds,
            seed=arguments.seed,
            target=target,
            threads=arguments.threads,
        )
        spent = now() - started
        value = problem.value(result.x)
        behind = None if problem.best is None else problem.best - value
        found = next((r.seconds for r in result.trace.records if r.best <= result.value), spent)
        rows[:] = [row for row in rows if (row["instance"], row["limit"]) != (name, seconds)]
        recorder.add(
            instance=name,
            n=problem.model.n,
            couplings=int(problem.model.b.size),
            best_known=problem.best,
            value=value,
            behind=behind,
            behind_percent=None if not problem.best or behind is None else 100.0 * behind / abs(problem.best),
            seconds=round(spent, 3),
            found_after=round(found, 3),
            limit=seconds,
            threads=arguments.threads or os.cpu_count(),
            clock="processor" if arguments.processor else "wall",
        )
        print(f"{name:14s} {seconds:g} s: best {problem.best} found {value} after {found:.2f} s", flush=True)
    rows = recorder.record["rows"]
    small = [r for r in rows if r["n"] <= 1000 and r["behind"] is not None]
    print(f"n <= 1000: {sum(r['behind'] <= 0 for r in small)} of {len(small)} at the best-known value")


if __name__ == "__main__":
    main()
