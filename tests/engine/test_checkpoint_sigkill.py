"""Processes ended by SIGKILL or SIGTERM at random moments and started again end with the uninterrupted answer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs the signals of POSIX")
SCRIPT = """
import sys, time, numpy as np, flipwise
kind, answer, *path = sys.argv[1:]
rng = np.random.default_rng(0)
A = rng.standard_normal((60, 60))
options = dict(seed=5, callback=lambda p: time.sleep(0.004))
if path:
    options.update(checkpoint=path[0], every=float(path[1]))
print("ready", flush=True)
if kind == "descent":
    found = [flipwise.minimize(A + A.T, restarts=25, constraint=flipwise.Cardinality(30), **options)]
elif kind == "portfolio":
    found = [flipwise.solve_qubo(A + A.T, effort=15 / 30, bound="none", **options)]
else:
    found = list(flipwise.densest_subgraph((80, rng.integers(0, 80, (400, 2))), [6, 12], effort=0.1, **options))
if "INTERRUPTED" in [result.status.name for result in found] or len(found) < 1 + (kind == "dense subgraph"):
    sys.exit(143)
np.save(answer, found[0].x)
"""
EVERY = {signal.SIGKILL: "0.01", signal.SIGTERM: "60"}
"""Seconds between checkpoints: SIGTERM leaves one by itself."""
KINDS = ("descent", "portfolio", "dense subgraph")


def killed_and_resumed(folder: Path, rng: np.random.Generator, kind: str, number: signal.Signals) -> tuple[int, bool]:
    """End the script at random moments until it comes to its end; returns (kills, same answer as without)."""
    whole, mine, path = folder / f"{kind}.npy", folder / "mine.npy", folder / "run.checkpoint"
    command = [sys.executable, "-c", SCRIPT, kind]
    seconds = folder / f"{kind}.seconds"
    if not whole.exists():
        with subprocess.Popen([*command, str(whole)], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None and process.stdout.readline()
            began = time.monotonic()
            assert process.wait() == 0
        seconds.write_text(str(time.monotonic() - began))
    mine.unlink(missing_ok=True)
    kills = 0
    while not mine.exists():
        process = subprocess.Popen(
            [*command, str(mine), str(path), EVERY[number]], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        if kills < 3:
            time.sleep(float(rng.uniform(0.0, 0.6)) * float(seconds.read_text()))
            process.send_signal(number)
            kills += process.wait() != 0
        _, errors = process.communicate()
        assert process.returncode in (0, -number, 128 + number), errors
    return kills, np.array_equal(np.load(whole), np.load(mine))


@pytest.mark.parametrize(
    ("kind", "number"), [*((kind, signal.SIGKILL) for kind in KINDS), ("portfolio", signal.SIGTERM)]
)
def test_an_end_at_random_moments_changes_nothing(kind: str, number: signal.Signals, tmp_path: Path) -> None:
    """A process ended at random times and started again ends with the uninterrupted answer.

    On demand, with more runs: FLIPWISE_KILL_RUNS=200 pytest tests/engine/test_checkpoint_sigkill.py --timeout 3600, or
    benchmarks/robustness.py, which stores the outcome.
    """
    rng = np.random.default_rng()
    runs = int(os.environ.get("FLIPWISE_KILL_RUNS", "1"))
    outcomes = [killed_and_resumed(tmp_path, rng, kind, number) for _ in range(runs)]
    assert all(same for _, same in outcomes)
