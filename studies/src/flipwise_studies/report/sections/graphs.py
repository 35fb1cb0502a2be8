"""Sections about dense subgraphs: the density figure, CPU times, neighbourhood search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from flipwise.pages.charts import Band, Chart, Line
from flipwise_studies.experiments.cells import Cell
from flipwise_studies.report import paper
from flipwise_studies.report.blocks import Block, Figures, Text
from flipwise_studies.report.cell_reading import (
    by_instance,
    done,
    instance_of,
    mean,
    method_of,
    option,
    seconds_of,
    value_of,
)
from flipwise_studies.report.sections.shared import Palette, anytime_charts, unfinished
from flipwise_studies.report.tables import Entry, Table, best_of, pivot


def densities(cells: Sequence[Cell]) -> list[Block]:
    """Density against k for every graph and method, the room up to the proven bound as a band."""
    palette = Palette(cells, without=("dpcd-fast",))  # on the curve of dpcd, nearly everywhere
    charts: list[Chart] = []
    tables: list[Block] = []
    for graph, group in by_instance(cells).items():
        finished = done(group)
        if not finished:
            continue
        bounds = _for_each_k(finished, lambda c: c.outcome.bound, min)  # the lowest: it holds for every method
        best = _for_each_k(finished, value_of, max)
        sizes = sorted(best)
        lines = []
        for method, own in palette.drawn(finished).items():
            points = sorted((float(k), value) for k, value in _for_each_k(own, value_of, max).items())
            lines.append(Line(method, points, palette(method), markers=True))
        band = Band("room below the proven bound", [(k, best[k], bounds[k]) for k in sizes if k in bounds], 7)
        k_label = "k (nodes of the subgraph)"
        form = Chart(graph, k_label, "density x'Wx/k", lines, [band], x_log=True, x_ticks=sizes, named_ends=True)
        charts.append(replace(form, note=palette.note))
        if bounds:
            shares = [_share(line, bounds) for line in lines]
            title = f"{graph}: share of the proven bound"
            charts.append(replace(form, title=title, y_label="density / bound", lines=shares, bands=()))
        table = pivot(
            graph,
            group,
            method_of,
            option("k"),
            value_of,
            corner="density",
            better="max",
            header="k = {}",
            unfinished=unfinished,
        )
        rows = [*table.rows, ["proven bound", *(bounds.get(k) for k in sizes)]]
        tables.append(replace(table, rows=rows, note=_stopped(finished)))
    curves: list[Chart] = []
    for graph, group in by_instance(cells).items():
        k = _most_contested(done(group))
        own = [c for c in group if c.key.options["k"] == k]
        curves += anytime_charts(f"{graph}, k = {k}: density against time", own, palette, "density")
    return [Text(paper.DENSITY), Figures(charts), *tables, Figures(curves)]


def cpu_times(cells: Sequence[Cell]) -> list[Block]:
    """Seconds by method and graph, the paper's below."""
    seconds = pivot(
        "Seconds",
        cells,
        method_of,
        instance_of,
        seconds_of,
        corner="method",
        better="min",
        note=f"Time of the method alone; the graph is in memory. {_stopped(done(cells))}",
        unfinished=unfinished,
    )
    title = "Density reached in that time"
    density = pivot(
        title, cells, method_of, instance_of, value_of, corner="method", better="max", unfinished=unfinished
    )
    rows: list[list[Entry]] = [[method, *times] for method, times in paper.CPU_SECONDS.items()]
    printed = Table(
        "The paper's seconds at k = 1600",
        ("method (paper)", *paper.GRAPHS),
        rows,
        "MATLAB, 8 cores of 2.6 GHz, 32 GB. Only uk-2007-05 and dblp-2010 are the same graphs as ours.",
        best_of(rows, "min"),
    )
    return [seconds, density, printed]


def neighbourhood(cells: Sequence[Cell]) -> list[Block]:
    """Density and seconds with and without the neighbourhood search."""
    headers = ("graph", "mode", "with", "without", "gain, %", "seconds with", "seconds without")
    rows: list[list[Entry]] = []
    for graph, group in by_instance(cells).items():
        for mode in dict.fromkeys(str(option("mode")(c)) for c in group):
            own = done(c for c in group if option("mode")(c) == mode)
            values = {m: mean(c.outcome.value for c in own if c.key.method == m) for m in ("dpcd", "dpcd-0")}
            times = {m: mean(c.outcome.seconds for c in own if c.key.method == m) for m in ("dpcd", "dpcd-0")}
            with_search, without = values["dpcd"], values["dpcd-0"]
            gain = 100 * (with_search / without - 1) if with_search is not None and without else None
            rows.append([graph, mode, with_search, without, gain, times["dpcd"], times["dpcd-0"]])
    printed: list[list[Entry]] = [
        [graph, "paper", a, b, 100 * (a / b - 1), s, t]
        for graph, a, b, s, t in zip(
            paper.GRAPHS,
            paper.NEIGHBOURHOOD_DENSITY["dpcd"],
            paper.NEIGHBOURHOOD_DENSITY["dpcd-0"],
            paper.NEIGHBOURHOOD_SECONDS["dpcd"],
            paper.NEIGHBOURHOOD_SECONDS["dpcd-0"],
            strict=True,
        )
    ]
    ours = Table("Density at equal k, mean over seeds", headers, rows, "literal: Algorithm 1 to the letter.")
    return [ours, Table("The paper's figures at k = 1600", headers, printed, paper.PRINTED_DENSITY)]


def _share(line: Line, bounds: dict[float, float]) -> Line:
    """A method's densities as shares of the bounds."""
    points = [(k, density / bounds[k]) for k, density in line.points if bounds.get(k)]
    return Line(line.name, points, line.colour, markers=True)


def _most_contested(cells: Sequence[Cell]) -> int | None:
    """The k at which the methods differ most: where curves over time have something to say."""
    spread: dict[int, list[float]] = {}
    for cell in cells:
        if cell.outcome.value is not None:
            spread.setdefault(int(cell.key.options["k"]), []).append(cell.outcome.value)
    return max(spread, key=lambda k: float(np.std(spread[k]) / max(spread[k])), default=None)


def _stopped(cells: Sequence[Cell]) -> str:
    """What "not finished" means, where it stands."""
    limits = sorted({float(cell.key.options["time_limit"]) for cell in cells if unfinished(cell)})
    if not limits:
        return ""
    said = " or ".join(f"{limit:g}" for limit in limits)
    return f"Not finished: stopped by the time limit of {said} s; in brackets what the method had then."


def _for_each_k(
    cells: Sequence[Cell], number: Callable[[Cell], float | None], best: Callable[[float, float], float]
) -> dict[float, float]:
    """The largest or smallest number of the cells of each k."""
    found: dict[float, float] = {}
    for cell in cells:
        k, own = float(cell.key.options["k"]), number(cell)
        if own is not None:
            found[k] = best(found.get(k, own), own)
    return found
