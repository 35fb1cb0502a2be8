"""The report as one HTML file: style, script and figures inside, nothing fetched."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib import resources
from itertools import groupby

from flipwise.pages.charts import CHART_STYLE
from flipwise_studies.experiments.cells import Cell
from flipwise_studies.report.blocks import Block, Drawing, Figures, Section, Text
from flipwise_studies.report.cell_reading import environments_of, run_name, typical_load, versions_in_words
from flipwise_studies.report.single_run import notable_runs, run_figures
from flipwise_studies.report.tables import Table

NARROW = 5
"""Columns of a table that needs half the width at most."""


def write_page(title: str, cells: Sequence[Cell], sections: Sequence[Section], before: Sequence[Section] = ()) -> str:
    """The page; `before` are sections that stand in front of the studies, such as a comparison."""
    runs = notable_runs(cells)
    links = [(s.name, s.title) for s in (*before, *sections)]
    links += [("one-run", "One run")] if runs else []
    links.append(("environment", "Environment"))
    nav = "".join(f'<a href="#{escape(name)}">{escape(text)}</a>' for name, text in links)
    body = "".join(_section(section) for section in (*before, *sections))
    assets = resources.files("flipwise_studies.report") / "assets"
    style = CHART_STYLE + (assets / "page.css").read_text(encoding="utf-8")
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
    """What the page is about, and a few figures about the run itself."""
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
    """A section; narrow tables that follow each other stand side by side."""
    blocks = ""
    for narrow, group in groupby(section.blocks, key=_is_narrow):
        inner = [_block(block) for block in group]
        if narrow and len(inner) > 1:
            inner = ['<div class="tables">', *(f"<div>{table}</div>" for table in inner), "</div>"]
        blocks += "".join(inner)
    return _titled(section.name, section.title, f'<p class="lead">{escape(section.question)}</p>{blocks}')


def _titled(name: str, title: str, inner: str) -> str:
    """A section element with a heading that can be linked to."""
    return f'<section id="{escape(name)}"><h2>{escape(title)}</h2>{inner}</section>'


def _is_narrow(block: Block) -> bool:
    """Tables of few columns stand side by side where there is room."""
    return isinstance(block, Table) and len(block.headers) <= NARROW and not block.folded


def _block(block: Block) -> str:
    """A block as HTML."""
    if isinstance(block, Figures):
        inner = "".join(f.html if isinstance(f, Drawing) else f.html() for f in block.figures)
        return f'<div class="figures">{inner}</div>' if inner else ""
    if isinstance(block, Text):
        return f'<p class="note">{escape(block.words)}</p>'
    return block.html()


def _runs(runs: Sequence[Cell]) -> str:
    """The section of single runs, the first of them unfolded."""
    if not runs:
        return ""
    parts = "".join(
        f"<details{' open' if place == 0 else ''}><summary>{escape(run_name(cell.key))}</summary>"
        f"{_block(run_figures(cell))}</details>"
        for place, cell in enumerate(runs)
    )
    lead = '<p class="lead">The longest run of our own method in each study, step by step.</p>'
    return _titled("one-run", "One run", lead + parts)


def _environment(cells: Sequence[Cell]) -> str:
    """Machines, versions, commits and checksums of the data."""
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
