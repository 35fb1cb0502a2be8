"""reproduce(): both scales plan without data, names are checked, cells are selected as asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from flipwise.foundation.errors import InvalidInput
from flipwise_studies import find_studies, read_cells, reproduce
from flipwise_studies.data import remote
from flipwise_studies.experiments.study import Plan
from flipwise_studies.reproduction import select
from flipwise_studies.studies.catalogue import STUDIES


@pytest.mark.parametrize("quick", [True, False])
def test_every_study_lists_its_tasks_without_data(quick: bool) -> None:
    """Planning needs no files at either scale, and no two tasks are the same cell."""
    for study in find_studies():
        tasks = study.tasks(Plan(quick=quick))
        keys = {task.key(study.name, 1, "") for task in tasks}
        assert len(keys) == len(tasks) > 0, study.name
        assert any("dpcd" in task.method for task in tasks), study.name


def test_full_scale_without_data_skips_with_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing file is a skipped cell that says which variable to set."""
    monkeypatch.delenv("FLIPWISE_DATA", raising=False)
    summary = reproduce(quick=False, only="compression,supervised", store=tmp_path / "cells.sqlite")
    assert summary.done == summary.failed == 0 < summary.skipped
    assert all("FLIPWISE_DATA" in cell.outcome.reason for cell in read_cells(tmp_path / "cells.sqlite"))


def test_a_download_that_fails_is_tried_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without data the paper's graphs are fetched; when that fails, all their cells are skipped with what to do."""
    tried: list[str] = []

    def fails(url: str, relative: str, checksum: str | None, **options: bool) -> Path:
        tried.append(url)
        raise InvalidInput(f"{relative} could not be downloaded. Put it somewhere.")

    monkeypatch.setattr(remote, "fetch", fails)
    monkeypatch.delenv("FLIPWISE_DATA", raising=False)
    summary = reproduce(quick=False, only="neighbourhood", store=tmp_path / "cells.sqlite")
    assert summary.skipped == 36 and summary.done == summary.failed == 0
    assert len(tried) == 2  # one attempt for each of the two graphs
    assert all("Put it somewhere" in cell.outcome.reason for cell in read_cells(tmp_path / "cells.sqlite"))


def test_only_selects_studies_and_methods() -> None:
    """Study names restrict studies, method names restrict methods; a wrong name is refused with a hint."""
    chosen = select(find_studies(), Plan(), "convergence, sgm")
    assert [(study.name, {task.method for task in tasks}) for study, tasks in chosen] == [("convergence", {"sgm"})]
    everywhere = select(find_studies(), Plan(), ["sgm"])
    assert {study.name for study, _ in everywhere} >= {"convergence", "optimisers"}
    assert [study.name for study, _ in select(find_studies(), Plan(), ["cpu-times"])] == ["cpu_times"]
    assert [study.name for study, _ in select(find_studies(), Plan(), None)] == list(STUDIES)
    with pytest.raises(InvalidInput, match="Did you mean 'convergence'"):
        select(find_studies(), Plan(), "convergance")


def test_threads_are_checked(tmp_path: Path) -> None:
    """A wrong number of threads is refused before any work."""
    with pytest.raises(InvalidInput, match="threads"):
        reproduce(threads=0, store=tmp_path / "cells.sqlite")
    assert not (tmp_path / "cells.sqlite").exists()
