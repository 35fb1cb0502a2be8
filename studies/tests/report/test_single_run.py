"""Single runs in detail."""

from __future__ import annotations

from dataclasses import replace

from flipwise.pages.charts import Chart
from flipwise_studies.report.single_run import notable_runs, run_figures
from studies.tests.report.cells import made_up_cells


def test_one_run_of_ours_for_each_study() -> None:
    """At most eight, of different studies, all finished, all by our own method."""
    runs = notable_runs(made_up_cells())
    assert 1 < len(runs) <= 8 and len({cell.key.study for cell in runs}) == len(runs)
    assert all(cell.key.method.startswith(("dpcd", "flipwise")) and cell.outcome.status == "done" for cell in runs)


def test_a_run_is_told_in_three_charts() -> None:
    """Convergence, flips, and the gap, which is a band as long as both curves are known."""
    cell = notable_runs(made_up_cells())[0]
    charts = [chart for chart in run_figures(cell).figures if isinstance(chart, Chart)]
    assert [chart.title for chart in charts] == ["Convergence", "Flips a step", "The gap closing"]
    assert all(low <= high for _, low, high in charts[2].bands[0].points)
    alone = replace(cell, outcome=replace(cell.outcome, bound=None, series={"best": [[0.1, 1.0], [0.2, 2.0]]}))
    (chart,) = run_figures(alone).figures
    assert isinstance(chart, Chart) and chart.title == "Best value over time" and not chart.bands
