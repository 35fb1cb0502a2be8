"""Sections about optimisation as such: Lemma 1, momentum, growth with size, QUBO."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from flipwise.pages.charts import Chart, Line
from flipwise_studies.experiments.cells import Cell
from flipwise_studies.report.blocks import Block, Drawing, Figures
from flipwise_studies.report.cell_reading import (
    by_instance,
    by_method,
    done,
    instance_of,
    mean,
    method_of,
    metric,
    seconds_of,
    value_of,
)
from flipwise_studies.report.routes import routes_figure
from flipwise_studies.report.sections.shared import Palette, anytime_charts
from flipwise_studies.report.tables import Entry, Table, pivot


def convergence(cells: Sequence[Cell]) -> list[Block]:
    """The paper's 2-d figure and the counts behind it."""
    flat = [cell for cell in done(cells) if "route" in cell.outcome.series]
    names = {"dpcd": "DPCD: one step to the optimum", "sgm": "SGM: back and forth for ever"}
    drawings = []
    for colour, (method, own) in enumerate(by_method(flat).items()):
        routes = [cell.outcome.series["route"] for cell in own]
        note = "Routes from all four corners; the ring marks the optimum, circles are contours of the objective. " + (
            "Two arrows side by side: the method alternates." if method == "sgm" else "Every arrow is a single step."
        )
        drawings.append(Drawing(routes_figure(names.get(method, method), (0.3, 0.6), routes, colour, note), note))
    rows: list[list[Entry]] = []
    for instance, group in by_instance(cells).items():
        for method, own in by_method(group).items():
            finished = done(own)
            steps = mean(cell.outcome.metrics.get("iterations") for cell in finished)
            converged = sum(cell.outcome.metrics.get("converged", 0) > 0 for cell in finished)
            pairs = [(cell.outcome.value, cell.outcome.bound) for cell in finished]
            optimal = sum(a is not None and b is not None and math.isclose(a, b) for a, b in pairs)
            rows.append([f"{instance}: {method}", len(finished), converged, optimal, steps])
    headers = ("problem and method", "starts", "converged", "best point optimal", "mean iterations")
    return [Figures(drawings), Table("From how many starts a method converges", headers, rows)]


def momentum(cells: Sequence[Cell]) -> list[Block]:
    """Mean energy per spin by variant, and the descents against time."""

    def column(cell: Cell) -> str:
        return f"{cell.key.instance}, {'balanced' if cell.key.options['balanced'] else 'free'}"

    def table(title: str, value: Callable[[Cell], float | None]) -> Table:
        return pivot(f"{title}, mean over seeds", cells, method_of, column, value, corner="variant", better="min")

    palette = Palette(cells)
    charts: list[Chart] = []
    for instance, group in by_instance(cells).items():
        free = [cell for cell in group if not cell.key.options["balanced"]]
        charts += anytime_charts(f"{instance}, free", free, palette, "best objective")
    return [table("Energy per variable", metric("value_per_variable")), table("Seconds", seconds_of), Figures(charts)]


def growth(cells: Sequence[Cell]) -> list[Block]:
    """Seconds against size on logarithmic axes, with the exponent of the fitted power."""
    palette = Palette(cells)
    finished = done(cells)
    drawn = palette.drawn(finished)
    lines, rows = [], []
    for method, own in by_method(finished).items():
        sizes: dict[float, list[float]] = {}
        for cell in own:
            if cell.outcome.seconds:
                sizes.setdefault(cell.outcome.metrics["size"], []).append(cell.outcome.seconds)
        points = sorted((size, float(np.median(times))) for size, times in sizes.items())
        if not points:
            continue
        exponent = fitted_exponent(points)
        name = method if exponent is None else f"{method} (exponent {exponent:.2f})"
        if method in drawn:
            lines.append(Line(name, points, palette(method), markers=True))
        largest = max(own, key=lambda cell: cell.outcome.metrics["size"])
        rows.append([method, exponent, points[-1][0], points[-1][1], largest.peak_memory])
    chart = Chart(
        "Time against size",
        "size (arcs of the graph, or entries of the codes)",
        "seconds",
        lines,
        x_log=True,
        y_log=True,
        note="Median over seeds. The exponent is the slope of a least-squares line through the logarithms: "
        f"1 means time proportional to size. {palette.note}",
    )
    headers = ("method", "fitted exponent", "largest size", "seconds there", "peak MB there")
    return [Figures([chart]), Table("Growth", headers, rows)]


def fitted_exponent(points: Sequence[tuple[float, float]]) -> float | None:
    """p of time = a * size^p, by least squares on the logarithms; None with fewer than three sizes."""
    if len(points) < 3:
        return None
    logs = np.log(np.array(points))
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


def qubo(cells: Sequence[Cell]) -> list[Block]:
    """The value of each method, how far it is from the best known, and the curves over time."""
    values = pivot(
        "Best value found, mean over seeds",
        cells,
        instance_of,
        method_of,
        value_of,
        corner="instance",
        note="All methods had the same time limit on the same threads. More is better for Max-Cut and for QUBO as "
        "maximisation.",
    )
    blocks: list[Block] = [replace(values, best=_best_in_rows(values.rows))]
    if any("best_known" in cell.outcome.metrics for cell in cells):
        blocks.append(
            pivot(
                "Distance from the best known value, per cent",
                cells,
                instance_of,
                method_of,
                metric("percent_below_best_known"),
                corner="instance",
                note="0: the best known value was reached. Negative: exceeded.",
            )
        )
    palette = Palette(cells)
    charts: list[Chart] = []
    for instance, group in list(by_instance(cells).items())[:6]:
        charts += anytime_charts(instance, group, palette, "best value")
    return [*blocks, Figures(charts)]


def _best_in_rows(rows: Sequence[Sequence[Entry]]) -> frozenset[tuple[int, int]]:
    """The positions of the largest figure of each row, ties included."""
    marked = set()
    for i, row in enumerate(rows):
        numbers = {j: float(entry) for j, entry in enumerate(row) if isinstance(entry, int | float)}
        if len(numbers) > 1:
            marked |= {(i, j) for j, number in numbers.items() if math.isclose(number, max(numbers.values()))}
    return frozenset(marked)
