"""The studies run: one task of each, on its own generated data, ends in a finished cell with sensible figures."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from flipwise.qubo.models import QuadraticModel
from flipwise_studies import find_studies
from flipwise_studies.experiments.cells import Outcome, Skip
from flipwise_studies.experiments.study import Plan, Study, Task
from flipwise_studies.studies.catalogue import STUDIES
from flipwise_studies.studies.graphs import collaboration_graph
from flipwise_studies.studies.qubo_peers import PEERS, solve_with_peer


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


def test_a_collaboration_graph_has_cliques() -> None:
    """The members of one group are joined pairwise: the largest core is a clique at least."""
    graph = collaboration_graph(200, 60, seed=1)
    assert graph.n == 200 and graph.n_edges > 200


def test_real_models_are_read_with_their_best_known_values(data_folder: Path) -> None:
    """Gset and Palubeckis: sizes, the best known value, and the file's own checksum."""
    tasks = _study("qubo").tasks(Plan(quick=False, data=data_folder))
    instances = {task.instance.name: task.instance for task in tasks}
    for name, n, best, file in (("G1", 800, 11624, "gset/G1.txt.xz"), ("p3000.1", 3000, 3931583, "p3000.1.i8triu.xz")):
        case = instances[name].data
        assert (case.model.n, case.best_known) == (n, best)
        assert instances[name].checksum == hashlib.sha256((data_folder / "qubo" / file).read_bytes()).hexdigest()


@pytest.mark.parametrize("peer", PEERS)
def test_peers_solve_a_tiny_model(peer: str) -> None:
    """Each peer that is installed finds the optimum of two variables, evaluated by us."""
    model = QuadraticModel.from_qubo({(0, 0): -1.0, (1, 1): -2.0, (0, 1): 3.0})
    try:
        energy, seconds, history = solve_with_peer(peer, model, 0.2, 0)
    except Skip as reason:
        pytest.skip(str(reason))
    assert energy == -2.0 and seconds < 5 and history[-1][1] == -2.0
