"""The studies run: one task of each, on its own generated data, ends in a finished cell with sensible figures."""

from __future__ import annotations

import pytest

from flipwise_studies import find_studies
from flipwise_studies.experiments.cells import Outcome, Skip
from flipwise_studies.experiments.study import Plan, Study, Task
from flipwise_studies.studies.catalogue import STUDIES


def _study(name: str) -> Study:
    return find_studies([name])[0]


def _first(study: Study, method: str) -> Task:
    return next(task for task in study.tasks(Plan()) if task.method == method)


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("densities", "dpcd-fast"),
        ("neighbourhood", "dpcd-0"),
        ("optimisers", "dpcd-distinct"),
        ("unsupervised", "quantisation: itq"),
        ("supervised", "code regression: dpcd"),
        ("qubo", "flipwise"),
        ("compression", "random hyperplanes"),
        ("momentum", "dpcd-adam"),
    ],
)
def test_a_task_of_each_study_runs(name: str, method: str) -> None:
    """The outcome has a value and a time, and a bound is on the right side of the value."""
    study = _study(name)
    task = _first(study, method)
    try:
        outcome: Outcome = study.run(task.instance.data, task, 1)
    except (Skip, ImportError) as reason:
        pytest.skip(str(reason))
    assert outcome.value is not None and outcome.seconds is not None and outcome.seconds >= 0
    if outcome.bound is not None:
        assert outcome.bound >= outcome.value - 1e-9 if outcome.sense == "max" else outcome.bound <= outcome.value


def test_every_study_says_what_it_asks() -> None:
    """The table has each under its own name; titles and questions are there."""
    for name, study in zip(STUDIES, find_studies(), strict=True):
        assert study.name == name and study.title and study.question


def test_generated_instances_have_the_same_checksum_every_time() -> None:
    """Two plans give the same data; another instance gives other data."""
    sums = [[task.instance.checksum for task in _study("qubo").tasks(Plan())] for _ in range(2)]
    assert sums[0] == sums[1] and len(set(sums[0])) == 3
