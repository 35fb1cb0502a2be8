"""Made-up cells of every study, so that the whole report can be drawn without running anything."""

from __future__ import annotations

from typing import Any

from flipwise_studies.experiments.cells import Cell, Key, Outcome, canonical
from flipwise_studies.experiments.study import Plan
from flipwise_studies.studies.catalogue import find_studies

ENVIRONMENT: dict[str, Any] = {
    "versions": {"flipwise": "0", "python": "3", "numpy": "2"},
    "machine": {"system": "Test", "processor": "Slide rule <2>", "cores": 2, "memory_gb": 8},
    "commit": "abcdef",
}


def made_up_cells(scale: float = 1.0, quick: bool = True, points: int = 20) -> list[Cell]:
    """One cell for every task of a scale; every seventh failed, every eleventh was skipped."""
    cells = []
    for study in find_studies():
        for place, task in enumerate(study.tasks(Plan(quick=quick))):
            key = Key(study.name, task.instance.name, "c" * 64, task.method, canonical(task.parameters), task.seed, 2)
            outcome = _outcome(study.name, place, dict(task.parameters), scale, points)
            if place % 7 == 6:
                outcome = Outcome(status="failed", reason="RuntimeError: <made up> & 'quoted'")
            elif place % 11 == 10:
                outcome = Outcome(status="skipped", reason="no data")
            cells.append(Cell(key, outcome, "quick", 100.0 + place, ENVIRONMENT, "2026-01-01T00:00:00+00:00"))
    return cells


def _outcome(study: str, place: int, parameters: dict[str, Any], scale: float, points: int) -> Outcome:
    k = float(parameters.get("k", 10))
    value = scale * (k + place % 5)
    steps = [[float(i), value - 10.0 / (1 + i)] for i in range(points)]
    series = {
        "best": [[0.01 * (1 + i), y] for i, y in steps],
        "value": steps,
        "flips": [[float(i), float(max(0, 40 - 2 * i))] for i in range(points)],
        "bound": [[0.02, value + 3.0], [0.1, value + 1.0]],
    }
    if study == "convergence" and parameters["start"] != "random":
        a, b = parameters["start"]
        series["route"] = [[a, b], [-1.0, -1.0]]
    metrics = dict.fromkeys(("map_learned", "map_hashed", "precision_500_learned"), 0.1 + 0.01 * (place % 9))
    metrics |= {"recall_at_10": 0.3, "recall_10_at_100": 0.6, "iterations": 3.0, "converged": 1.0}
    metrics |= {"size": 1000.0 * (1 + place), "value_per_variable": -0.7, "stopped_by_limit": float(place % 2)}
    metrics |= {"best_known": 100.0, "percent_below_best_known": 0.5}
    return Outcome(value, value + 1.0, "max", 0.01 * (1 + place), metrics, series)
