"""One stored cell with something in every field."""

from __future__ import annotations

from flipwise_studies.experiments.cells import Cell, Key, Outcome, canonical

CELL = Cell(
    Key("toy", "line", "c" * 64, "dpcd", canonical({"k": 3, "alpha": [1, 2]}), seed=1, threads=2),
    Outcome(1.5, 1.0, "max", 0.25, {"map": 0.5}, {"best": [[0.0, 1.0], [0.5, 1.5]]}, "done", ""),
    scale="full",
    peak_memory=12.5,
    environment={"versions": {"flipwise": "1"}, "machine": {"cores": 2}, "commit": "abc"},
    finished="2026-01-01T00:00:00+00:00",
)
