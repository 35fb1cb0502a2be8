"""The report as one HTML file: style, script and figures inside, nothing fetched.

Behind the studies it shows single runs in detail: convergence, flips a step, and the gap between the found and the
proven closing.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib import resources
from itertools import groupby

from flipwise.pages.charts import Band, Chart, Line, chart_style
from flipwise_studies.experiments.cells import Cell
from flipwise_studies.report.sections.blocks import (
    Block,
    Drawing,
    Figures,
    Section,
    Text,
    done,
    environments_of,
    run_name,
    typical_load,
    versions_in_words,
)
from flipwise_studies.report.tables import Table

NARROW = 5
"""Columns of a table that needs half the width at most."""


def write_page(title: str, cells: Sequence[Cell], sections: Sequence[Section], before: Sequence[Section] = ()) -> str:
    """The page; `before` are sections that stand in front of the studies, such as a comparison."""
    runs = _notable_runs(cells)
    links = [(s.name, s.title) for s in (*before, *sections)]
    links += [("one-run", "One run")] if runs else []
    links.append(("environment", "Environment"))
    nav = "".join(f'<a href="#{escape(name)}">{escape(text)}</a>' for name, text in links)
    body = "".join(_section(section) for section in (*before, *sections))
    assets = resources.files("flipwise_studies.report") / "assets"
    style = chart_style() + (assets / "page.css").read_text(encoding="utf-8")
    script = (assets / "page.js").read_text(encoding="utf-8")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><title>{escape(title)}</title>'
        f'<link rel="icon" href="data:,"><style>{style}</style></head><body>'
        f"<header><h1>{escape(title)}</h1>{_facts(cells)}<nav>{nav}</nav></header>"
        f"<main>{body}{_runs(runs)}{_environment(cells)}</main>"
        "<footer><p>Every figure on this page is computed from the stored cells; nothing is typed in. Columns sort by "
        f"a click on their header.</p></footer><script>{script}</script></body></html>\n"
    )


def _facts(cells: Sequence[Cell]) -> str:
    statuses = [cell.outcome.status for cell in cells]
    scales = sorted({cell.scale for cell in cells})
    seconds = sum(cell.outcome.seconds or 0.0 for cell in cells)
    load = typical_load(cells)
    facts = {
        "scale": " + ".join(scales) or "–",
        "cells finished": f"{statuses.count('done'):,}",
        "skipped, failed": f"{statuses.count('skipped'):,}, {statuses.count('failed'):,}",
        "time in methods": f"{seconds:.0f} s" if seconds < 600 else f"{seconds / 60:.0f} min",
        "load on the machine": "–" if load is None else f"{load:.1f}",
        "last cell": max((cell.finished for cell in cells), default="–")[:16].replace("T", " "),
    }
    inner = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in facts.items())
    return (
        '<p class="lead">Discrete principal coordinate descent and its rivals: the paper\'s experiments and our own '
        f'comparisons, each figure with its proven bound where there is one.</p><dl class="facts">{inner}</dl>'
    )


def _section(section: Section) -> str:
    blocks = ""
    for narrow, group in groupby(section.blocks, key=_is_narrow):
        inner = [_block(block) for block in group]
        if narrow and len(inner) > 1:
            inner = ['<div class="tables">', *(f"<div>{table}</div>" for table in inner), "</div>"]
        blocks += "".join(inner)
    return _titled(section.name, section.title, f'<p class="lead">{escape(section.question)}</p>{blocks}')


def _titled(name: str, title: str, inner: str) -> str:
    return f'<section id="{escape(name)}"><h2>{escape(title)}</h2>{inner}</section>'


def _is_narrow(block: Block) -> bool:
    """Tables of few columns stand side by side where there is room."""
    return isinstance(block, Table) and len(block.headers) <= NARROW and not block.folded


def _block(block: Block) -> str:
    if isinstance(block, Figures):
        inner = "".join(f.html if isinstance(f, Drawing) else f.html() for f in block.figures)
        return f'<div class="figures">{inner}</div>' if inner else ""
    if isinstance(block, Text):
        return f'<p class="note">{escape(block.words)}</p>'
    return block.html()


def _runs(runs: Sequence[Cell]) -> str:
    if not runs:
        return ""
    parts = "".join(
        f"<details{' open' if place == 0 else ''}><summary>{escape(run_name(cell.key))}</summary>"
        f"{_block(_run_figures(cell))}</details>"
        for place, cell in enumerate(runs)
    )
    lead = '<p class="lead">The longest run of our own method in each study, step by step.</p>'
    return _titled("one-run", "One run", lead + parts)


def _notable_runs(cells: Sequence[Cell]) -> list[Cell]:
    """For each study the run of our own method with the longest story; at most eight."""
    chosen: dict[str, Cell] = {}
    for cell in done(cells):
        ours = cell.key.method.startswith(("dpcd", "flipwise"))
        if not ours or "flips" not in cell.outcome.series:
            continue
        kept = chosen.get(cell.key.study)
        if kept is None or _length(cell) > _length(kept):
            chosen[cell.key.study] = cell
    return sorted(chosen.values(), key=_length, reverse=True)[:8]


def _run_figures(cell: Cell) -> Figures:
    """Value by iteration, flips by iteration, best value and bound by time."""
    series = {name: [(x, y) for x, y in points] for name, points in cell.outcome.series.items()}
    charts = []
    if series.get("value"):
        line = Line("value after the step", series["value"], 0, markers=True)
        charts.append(Chart("Convergence", "iteration", "value", [line]))
    if any(flips > 0 for _, flips in series.get("flips", [])):
        line = Line("flips", series["flips"], 1, stems=True)
        charts.append(Chart("Flips a step", "iteration", "variables changed", [line], y_from_zero=True))
    if series.get("best"):
        charts.append(_gap(cell, series["best"], series.get("bound", [])))
    return Figures(charts)


def _gap(cell: Cell, best: list[tuple[float, float]], bound: list[tuple[float, float]]) -> Chart:
    lines = [Line("best so far", best, 0, steps=True)]
    bands = []
    end = best[-1][0]
    if not bound and cell.outcome.bound is not None:
        bound = [(0.0, cell.outcome.bound)]
    if bound:
        held = [*bound, (max(end, bound[-1][0]), bound[-1][1])]
        lines.append(Line("proven bound", held, 7, steps=True))
        times = sorted({t for t, _ in best} | {t for t, _ in held})
        both = [(t, _at(best, t), _at(held, t)) for t in times]
        bands.append(Band("gap", [(t, a, b) for t, a, b in both if a is not None and b is not None], 7))
    title = "The gap closing" if bound else "Best value over time"
    return Chart(title, "seconds", "value", lines, bands)


def _at(points: Sequence[tuple[float, float]], time: float) -> float | None:
    """The value of a step function at a time, None before its first step."""
    before = [y for x, y in points if x <= time]
    return before[-1] if before else None


def _length(cell: Cell) -> int:
    """How much there is to tell: steps that changed something, improvements, above all a proven bound beside them."""
    series = cell.outcome.series
    flips = sum(count > 0 for _, count in series.get("flips", []))
    improvements = len({best for _, best in series.get("best", [])})
    bounds = len({bound for _, bound in series.get("bound", [])})
    return min(100, flips) + 5 * min(20, improvements) + 200 * min(2, bounds)


def _environment(cells: Sequence[Cell]) -> str:
    rows: list[tuple[str, str]] = []
    for record in environments_of(cells):
        machine = record.get("machine", {})
        memory = f", {machine['memory_gb']} GB" if machine.get("memory_gb") else ""
        rows += [
            ("machine", f"{machine.get('processor', '?')}, {machine.get('cores', '?')} cores{memory}"),
            ("system", str(machine.get("system", "?"))),
            ("versions", versions_in_words(record)),
            ("commit", str(record.get("commit") or "not recorded")),
        ]
    threads = sorted({cell.key.threads for cell in cells})
    rows.append(("threads", ", ".join(map(str, threads))))
    inner = "".join(f"<tr><th scope=row>{escape(a)}</th><td data-label>{escape(b)}</td></tr>" for a, b in rows)
    sums = {(cell.key.instance, cell.key.checksum) for cell in cells if cell.key.checksum}
    data = Table("Data", ("instance", "SHA-256"), [list(pair) for pair in sorted(sums)], folded=True)
    table = f'<table class="plain"><tbody>{inner}</tbody></table>'
    return _titled("environment", "Environment", table + data.html())
