"""Two stored runs side by side: the same cells, value and time before and after."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from flipwise.pages.charts import Chart, Line
from flipwise_studies.experiments.cells import Cell
from flipwise_studies.report.blocks import Block, Figures, Section, Text
from flipwise_studies.report.cell_reading import done, run_name
from flipwise_studies.report.tables import Entry, Table

SAME = 1e-9
"""Values closer than this, relatively, are the same."""


@dataclass(frozen=True)
class Change:
    """A cell in both runs. `gain` is positive when the value became better, relative to its size."""

    before: Cell
    after: Cell
    gain: float
    time_ratio: float | None


def changes(before: Sequence[Cell], after: Sequence[Cell]) -> list[Change]:
    """The cells finished in both, by key. Threads are not part of the comparison; the data's checksum is."""
    old = {replace(cell.key, threads=0): cell for cell in done(before)}
    found = []
    for cell in done(after):
        other = old.get(replace(cell.key, threads=0))
        a, b = (None if other is None else other.outcome.value), cell.outcome.value
        if other is None or a is None or b is None:
            continue
        difference = (b - a) if cell.outcome.sense == "max" else (a - b)
        gain = 0.0 if math.isclose(a, b, rel_tol=SAME) else difference / max(abs(a), abs(b))
        times = other.outcome.seconds, cell.outcome.seconds
        ratio = times[1] / times[0] if times[0] and times[1] else None
        found.append(Change(other, cell, gain, ratio))
    return found


def comparison_section(before: Sequence[Cell], after: Sequence[Cell], name: str) -> Section:
    """What changed since the run called `name`."""
    found = changes(before, after)
    lost = len(done(before)) - len(found)
    blocks: list[Block] = [
        _summary(found),
        *_time_figures(found),
        _details(found),
        Text(f"{lost} finished cells of {name} have no counterpart here."),
    ]
    return Section("comparison", f"Compared with {name}", "The same cells, before and after.", blocks)


def _summary(found: Sequence[Change]) -> Table:
    """How many cells of each study became better or worse, and the typical ratio of their times."""
    rows: list[list[Entry]] = []
    for study in dict.fromkeys(change.after.key.study for change in found):
        own = [change for change in found if change.after.key.study == study]
        ratios = [change.time_ratio for change in own if change.time_ratio]
        typical = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None
        gains = [change.gain for change in own]
        better, worse = sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)
        rows.append([study, len(own), better, gains.count(0), worse, typical])
    return Table(
        "By study",
        ("study", "cells in both", "better", "same", "worse", "time ratio"),
        rows,
        "Time ratio: geometric mean of new seconds over old; below 1 is faster.",
    )


def _details(found: Sequence[Change]) -> Table:
    """The cells whose value changed, the greatest loss first."""
    different = sorted((change for change in found if change.gain != 0), key=lambda change: change.gain)
    return Table(
        "Cells whose value changed",
        ("cell", "before", "after", "gain, %", "time ratio"),
        [
            [run_name(c.after.key), c.before.outcome.value, c.after.outcome.value, 100 * c.gain, c.time_ratio]
            for c in different
        ],
        folded=True,
    )


def _time_figures(found: Sequence[Change]) -> list[Block]:
    """New seconds against old, a point for each cell; nothing where no times are known."""
    points = [
        (c.before.outcome.seconds or 0.0, c.after.outcome.seconds or 0.0) for c in found if c.time_ratio is not None
    ]
    if not points:
        return []
    span = min(min(p) for p in points), max(max(p) for p in points)
    line = Line("equal", [(span[0], span[0]), (span[1], span[1])], 7)
    dots = Line("a cell", points, 0, markers=True, stroke=False)
    chart = Chart("Seconds, new against old", "old seconds", "new seconds", [line, dots], x_log=True, y_log=True)
    return [Figures([chart])]
