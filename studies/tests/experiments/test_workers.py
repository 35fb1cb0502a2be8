"""Studies in several processes: the same cells, none twice, nobody left behind after a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from flipwise.foundation.errors import InvalidInput
from flipwise_studies import RunnerProgress, find_studies, read_cells, reproduce
from flipwise_studies.experiments.study import Plan
from flipwise_studies.experiments.workers import longest_first

ONLY = "convergence,momentum,dpcd,sgm,dpcd-plain"


def _values(store: Path) -> dict[object, float | None]:
    return {cell.key: cell.outcome.value for cell in read_cells(store)}


def test_two_processes_give_the_cells_of_one(tmp_path: Path) -> None:
    """Keys and values do not depend on the number of processes; progress counts over all studies up to the total."""
    told: list[RunnerProgress] = []
    one, two = tmp_path / "one.sqlite", tmp_path / "two.sqlite"
    reproduce(only=ONLY, store=one, threads=1)
    summary = reproduce(only=ONLY, store=two, threads=1, jobs=2, callback=told.append)
    assert _values(one) == _values(two) and summary.failed == 0
    assert [progress.finished for progress in told] == list(range(1, summary.done + 1))
    assert {progress.total for progress in told} == {summary.done} and told[-1].seconds_left == 0.0


@pytest.mark.skipif(sys.platform == "win32", reason="needs the signals of POSIX")
def test_a_killed_run_leaves_no_process_and_goes_on(tmp_path: Path) -> None:
    """After SIGKILL of the parent the workers end by themselves; the next run fills in what is missing, once."""
    store = tmp_path / "cells.sqlite"
    command = [sys.executable, "-m", "flipwise", "reproduce", "--only", ONLY, "--jobs", "2", "--threads", "1"]
    command += ["--store", str(store), "--report", ""]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True)
    assert process.stderr is not None
    process.stderr.readline()  # the first cell is in the store
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            break
        time.sleep(0.1)
    else:
        os.killpg(process.pid, signal.SIGKILL)
        pytest.fail("a worker went on after its parent was killed")
    process.stderr.close()
    before = len(read_cells(store))
    summary = reproduce(only=ONLY, store=store, threads=1, jobs=2)
    expected = [task for study in find_studies(["convergence", "momentum"]) for task in study.tasks(Plan())]
    wanted = [task for task in expected if task.method in ("dpcd", "sgm", "dpcd-plain")]
    assert 1 <= before <= summary.done == len(wanted)


def test_the_longest_study_is_begun_first() -> None:
    """Studies are ordered by the sum of their time limits."""
    planned = [(study, study.tasks(Plan(quick=False))) for study in find_studies(["convergence", "densities"])]
    assert [study.name for study, _ in longest_first(planned)] == ["densities", "convergence"]


def test_bad_numbers_are_refused(tmp_path: Path) -> None:
    """Jobs, seed and time limit are named in the message."""
    for name, wrong in (("jobs", 0), ("seed", -1), ("time_limit", -1.0), ("threads", 0)):
        with pytest.raises(InvalidInput, match=f"`{name}`"):
            reproduce(only="convergence", store=tmp_path / "cells.sqlite", **{name: wrong})  # type: ignore[arg-type]


def test_seed_and_time_limit_go_with_the_cells(tmp_path: Path) -> None:
    """The seed is added to every cell's own, the limit stands among its parameters."""
    for shift in (0, 7):
        reproduce(only="momentum,dpcd-plain", store=tmp_path / f"{shift}.sqlite", seed=shift, time_limit=9.5)
    seeds = [sorted({cell.key.seed for cell in read_cells(tmp_path / f"{shift}.sqlite")}) for shift in (0, 7)]
    assert seeds[1] == [seed + 7 for seed in seeds[0]]
    assert {cell.key.options["time_limit"] for cell in read_cells(tmp_path / "7.sqlite")} == {9.5}
