"""The long checks of robustness, run on demand and stored: runs killed at random moments, hostile files.

    python benchmarks/robustness.py kills                      # 200 runs, each killed three times by SIGKILL
    python benchmarks/robustness.py kills --signal SIGTERM     # the same with SIGTERM, which itself leaves a checkpoint
    python benchmarks/robustness.py fuzz                       # every reader for 10 minutes
    python benchmarks/robustness.py fuzz --at-once 3           # three at a time; a hang is counted in processor time
    python benchmarks/robustness.py fuzz --seconds 60 --only METIS
    python benchmarks/robustness_page.py                       # the page in the docs, from the stored rows

Each writes results/robustness-<check>.json. The soak (`soak.py`) and the mutation check (`mutation.py`) have scripts of
their own.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np
from recording import ROOT, Recorder

sys.path.insert(0, str(ROOT))

KILL_SHARES = {"descent": 0.7, "portfolio": 0.2, "dense subgraph": 0.1}
"""Which runs are killed how often."""


def kills(runs: int, only: list[str], number: signal.Signals) -> bool:
    """Runs killed and resumed, one row for each kind of run; whether all ended with the uninterrupted answer.

    Every run is a process of its own, forked from this one after the imports: two hundred interpreters would mostly
    import. `tests/engine` does the same with interpreters of their own.
    """
    import numba  # noqa: F401  forked processes begin with it loaded

    from tests.engine.test_checkpoint_sigkill import EVERY, SCRIPT

    recorder = Recorder("robustness-kills")
    kinds = only or list(KILL_SHARES)  # others, and those of the other signal, stay as they are stored
    recorder.go_on(lambda row: row["kind"] not in kinds or row.get("signal", "SIGKILL") != number.name)
    rng = np.random.default_rng()
    good = True
    for kind in kinds:
        count = max(1, round(runs * KILL_SHARES[kind]))
        began = time.monotonic()
        killed = same = resumed = 0
        with tempfile.TemporaryDirectory() as folder:
            whole, mine, path = (Path(folder) / name for name in ("whole.npy", "mine.npy", "run.checkpoint"))
            for _ in range(2):  # the first compiles
                started = time.monotonic()
                os.waitpid(_forked(SCRIPT, [kind, str(whole)]), 0)
                usual = time.monotonic() - started
            for _ in range(count):
                mine.unlink(missing_ok=True)
                deaths = 0
                while not mine.exists():
                    resumed += path.exists()
                    process = _forked(SCRIPT, [kind, str(mine), str(path), EVERY[number]])
                    if deaths < 3:
                        time.sleep(float(rng.uniform(0.0, 0.6)) * usual)
                        os.kill(process, number)
                    ended = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
                    deaths += ended != 0
                    assert ended in (0, -number, 128 + number), f"{kind}: ended with {ended}"
                killed += deaths
                same += bool(np.array_equal(np.load(whole), np.load(mine)))
        good &= same == count
        seconds = round(time.monotonic() - began, 1)
        recorder.add(
            signal=number.name, kind=kind, runs=count, kills=killed, resumed=resumed, same_answer=same, seconds=seconds
        )
        print(f"{kind}: {same} of {count} the same, {killed} kills, {resumed} resumed, {seconds} s", flush=True)
    return good


def _forked(script: str, arguments: list[str]) -> int:
    """A process that runs a script; returns its id."""
    process = os.fork()
    if process == 0:
        code = 1
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            sys.argv = ["-c", *arguments]
            exec(compile(script, "script", "exec"), {"__name__": "__main__"})
            code = 0
        except SystemExit as error:
            code = int(error.code or 0)
        finally:
            os._exit(code)
    return process


def fuzz(seconds: float, only: list[str], at_once: int) -> bool:
    """One row for each reader: inputs tried and how it ended."""
    from tests.fuzz.corpus import READERS

    recorder = Recorder("robustness-fuzz")
    if only:  # the others stay as they are stored
        recorder.go_on(lambda row: row["reader"] not in only)
    good = True
    with ThreadPoolExecutor(at_once) as pool:
        for done in as_completed([pool.submit(_fuzzed, reader, seconds) for reader in only or sorted(READERS)]):
            row = done.result()
            recorder.add(**row)
            good &= row["exit_code"] == 0
            print(f"{row['reader']}: {row['inputs']:,} inputs, exit {row['exit_code']}", flush=True)
    return good


def _fuzzed(reader: str, seconds: float) -> dict[str, Any]:
    """A reader fuzzed in a process of its own."""
    seed = int(np.random.SeedSequence().generate_state(1)[0])
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tests.fuzz.worker", reader, str(seconds), str(seed), folder]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
        kept = Path(folder) / "input"
        culprit = kept.read_bytes().hex() if done.returncode and kept.exists() else None
    counts = [int(word) for word in done.stdout.rpartition(":")[2].split() if word.isdigit()] or [0, 0, 0]
    return {
        "reader": reader,
        "seconds": seconds,
        "processor_seconds": counts[2],
        "seed": seed,
        "inputs": counts[0],
        "accepted": counts[1],
        "exit_code": done.returncode,
        "culprit": culprit,
        "error": done.stderr[-2000:] if done.returncode else None,
    }


def main() -> int:
    """One check."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("check", choices=["kills", "fuzz"])
    parser.add_argument("--runs", type=int, default=200, help="killed runs")
    parser.add_argument("--signal", choices=["SIGKILL", "SIGTERM"], default="SIGKILL", help="that ends the runs")
    parser.add_argument("--seconds", type=float, default=600.0, help="for each reader")
    parser.add_argument("--only", action="append", default=[], help="a reader, or a kind of run (may be repeated)")
    parser.add_argument("--at-once", type=int, default=1, help="readers fuzzed at the same time")
    arguments = parser.parse_args()
    if arguments.check == "kills":
        return 0 if kills(arguments.runs, arguments.only, signal.Signals[arguments.signal]) else 1
    return 0 if fuzz(arguments.seconds, arguments.only, arguments.at_once) else 1


if __name__ == "__main__":
    sys.exit(main())
