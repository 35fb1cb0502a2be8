"""Stored runs: each row of a file can be traced to the command and the commit that made it."""

from __future__ import annotations

import importlib
import json
import shlex
import sys
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
STORED = sorted(path for path in (BENCHMARKS / "results").glob("*.json") if not path.stem.startswith("studies"))


@pytest.fixture
def recording(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The module that stores runs, storing them in a folder of the test."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.delitem(sys.modules, "recording", raising=False)
    module = importlib.import_module("recording")
    monkeypatch.setattr(module, "RESULTS", tmp_path)
    return module


def a_run(recording: ModuleType, date: str, commit: str, kept: str, names: str) -> dict[str, Any]:
    """A run that takes over some rows and adds others."""
    recorder = recording.Recorder("toy")
    recorder.record |= {"date": date, "commit": commit}
    recorder.go_on(lambda row: row["name"] in kept)
    for name in names:
        recorder.add(name=name)
    stored: dict[str, Any] = json.loads(recorder.path.read_text(encoding="utf-8"))
    return stored


def test_rows_that_stay_say_when_they_were_made(recording: ModuleType) -> None:
    """A row keeps the date of its own run through all later ones; rows of the last run carry none."""
    a_run(recording, "2026-01-01", "aaaaaaa", "", "abc")
    a_run(recording, "2026-01-02", "bbbbbbb", "ab", "d")
    record = a_run(recording, "2026-01-03", "ccccccc", "ad", "e")
    assert record["rows"] == [
        {"name": "a", "made": "2026-01-01"},
        {"name": "d", "made": "2026-01-02"},
        {"name": "e"},
    ]
    assert recording.commits(record) == ["ccccccc", "bbbbbbb", "aaaaaaa"]


def test_a_run_without_a_row_left_is_forgotten(recording: ModuleType) -> None:
    """A page must not say that its rows are of a commit of which it has none."""
    a_run(recording, "2026-01-01", "aaaaaaa-dirty", "", "ab")
    a_run(recording, "2026-01-02", "bbbbbbb", "", "ab")
    record = a_run(recording, "2026-01-03", "ccccccc", "ab", "c")
    assert recording.commits(record) == ["ccccccc", "bbbbbbb"]
    assert "dirty" not in json.dumps(record["earlier"])


def test_a_run_that_changes_parts_of_rows_counts(recording: ModuleType) -> None:
    """Rivals of one run and our values of a later one stand in the same row, and both are named."""
    a_run(recording, "2026-01-01", "aaaaaaa", "", "a")
    recorder = recording.Recorder("toy")
    recorder.record |= {"date": "2026-01-02", "commit": "bbbbbbb"}
    (row,) = recorder.go_on()
    row["ours"] = {"value": 1, "made": recorder.record["date"]}
    recorder.write()
    assert recording.commits(recorder.record) == ["bbbbbbb", "aaaaaaa"]
    assert recording.commits(a_run(recording, "2026-01-03", "ccccccc", "a", "")) == ["bbbbbbb", "aaaaaaa"]


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_every_stored_row_is_of_a_run_that_is_named(path: Path, recording: ModuleType) -> None:
    """The dates of the rows are those of the runs in the file, and no run is named for nothing."""
    record = json.loads(path.read_text(encoding="utf-8"))
    made = recording._dates(record["rows"])
    earlier = {run["date"] for run in record.get("earlier", [])}
    assert earlier <= made <= earlier | {record["date"]}


NOT_YET_AGAIN = ("out_of_core",)
"""Runs of changes that were not committed, which take a quiet machine: their page says so in its first line."""


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_no_stored_row_is_of_changes_that_were_not_committed(path: Path, recording: ModuleType) -> None:
    """What a figure was measured with can be checked out."""
    record = json.loads(path.read_text(encoding="utf-8"))
    changed = [commit for commit in recording.commits(record) if commit.endswith("-dirty")]
    assert bool(changed) == (path.stem in NOT_YET_AGAIN)


def parts(command: str) -> set[str]:
    """What tells the runs of one script apart: its subcommand, the record it writes, the part it makes."""
    words = shlex.split(command)
    chosen = {after for word, after in pairwise(words) if word in ("--record", "--part", "--run", "--signal")}
    return {Path(words[0]).name, *chosen, *(word for word in words[1:2] if not word.startswith("-"))}


@pytest.mark.parametrize("path", sorted((BENCHMARKS / "results").glob("*.json")), ids=lambda path: path.stem)
def test_one_command_regenerates_every_stored_run(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`all.py --full` has a step for each file, apart from comparisons with another checkout."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    steps = [step.full for step in importlib.import_module("all").STEPS]
    command = json.loads(path.read_text(encoding="utf-8"))["command"].removeprefix("python benchmarks/")
    if path.stem.startswith("studies"):
        command = f"studies.py --run {path.stem.removeprefix('studies-')}"
    if "OTHER/CHECKOUT" in command or "--before" in command:
        pytest.skip("a comparison with another checkout")
    assert any(parts(step) <= parts(command) for step in steps)
