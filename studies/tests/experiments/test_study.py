"""Studies as data: instances, their checksums, tasks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from flipwise_studies.experiments.cells import Skip
from flipwise_studies.experiments.study import Instance, Plan, Task, file_instance


def test_checksums_are_those_of_the_content() -> None:
    """Equal data have equal checksums, whatever container they are in; a changed number or shape shows."""

    def checksum(data: object) -> str:
        return Instance("data", lambda: data).checksum

    A = np.arange(6.0)
    assert checksum(A) == checksum(A.copy()) != checksum(A + 1)
    assert checksum(A) != checksum(A.reshape(2, 3)) and checksum(A) != checksum(A.astype(np.float32))
    assert checksum({"a": 1, "b": [A]}) == checksum({"b": [A], "a": 1})
    assert checksum(sp.csr_array(np.eye(3))) == checksum(sp.coo_array(np.eye(3)))


def test_data_are_loaded_once_until_forgotten() -> None:
    """A large instance is in memory only while its tasks run."""
    loads: list[int] = []
    instance = Instance("data", lambda: loads.append(1) or len(loads))
    assert instance.data == instance.data == 1
    instance.forget()
    assert instance.data == 2


def test_a_file_is_hashed_and_a_missing_one_is_skipped(tmp_path: Path) -> None:
    """The reason names the file, or the variable to set."""
    (tmp_path / "a.txt").write_text("3")
    there = file_instance(Plan(data=tmp_path), "a", "a.txt", lambda path: int(path.read_text()))
    assert there.data == 3 and len(there.checksum) == 64
    with pytest.raises(Skip, match=r"b\.txt"):
        _ = file_instance(Plan(data=tmp_path), "b", "b.txt", lambda path: path).data
    with pytest.raises(Skip, match="FLIPWISE_DATA"):
        _ = file_instance(Plan(), "a", "a.txt", lambda path: path).data


def test_a_limit_that_is_asked_for_comes_first() -> None:
    """Otherwise the study's own holds."""
    assert Plan().limit(3.0) == 3.0 and Plan(time_limit=1.0).limit(3.0) == 1.0
    assert (Plan().scale, Plan(quick=False).scale) == ("quick", "full")
    key = Task(Instance("i", lambda: None), "m", {"b": 1, "a": 2}, seed=4).key("study", 2, "c")
    assert (key.study, key.instance, key.seed, key.options) == ("study", "i", 4, {"a": 2, "b": 1})
