"""`render`: stored cells in, a report out. Nothing is run here.

The report is a list of sections; HTML (see `page`), Markdown and CSV only write it down.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path

from flipwise.foundation.errors import InvalidInput
from flipwise_studies.experiments.cells import Cell, Key
from flipwise_studies.experiments.results import read_cells
from flipwise_studies.report.comparison import comparison_section
from flipwise_studies.report.page import write_page
from flipwise_studies.report.sections import graphs, hashing, optimisation
from flipwise_studies.report.sections.blocks import (
    Block,
    Drawing,
    Figures,
    Section,
    Text,
    by,
    cell_table,
    done,
    environments_of,
    versions_in_words,
)
from flipwise_studies.report.tables import Entry, Table
from flipwise_studies.studies.catalogue import STUDIES

TITLE = "Flipwise: the studies"
_BUILDERS: dict[str, Callable[[Sequence[Cell]], list[Block]]] = {
    "convergence": optimisation.convergence,
    "densities": graphs.densities,
    "cpu_times": graphs.cpu_times,
    "neighbourhood": graphs.neighbourhood,
    "optimisers": hashing.optimisers,
    "unsupervised": hashing.unsupervised,
    "supervised": hashing.supervised,
    "qubo": optimisation.qubo,
    "compression": hashing.compression,
    "momentum": optimisation.momentum,
    "growth": optimisation.growth,
}


def render(
    store: str | Path,
    out: str | Path = "flipwise-report",
    *,
    compare: str | Path | None = None,
    title: str = TITLE,
) -> list[Path]:
    """Write the report of stored results.

    Parameters
    ----------
    store
        The file `reproduce` wrote, or a results file in JSON.
    out
        A file ending in `.html`, `.md` or `.csv`, or a folder that gets all three (`report.html`, `report.md`,
        `cells.csv`).
    compare
        Another store to compare with; its cells are the "before".
    title
        The heading.

    Returns
    -------
    list of Path
        The files written.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from flipwise_studies import render, reproduce
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = pathlib.Path(folder) / "cells.sqlite"
    ...     summary = reproduce(only="convergence", store=store)
    ...     [path.name for path in render(store, pathlib.Path(folder) / "report")]
    ['report.html', 'report.md', 'cells.csv']
    """
    target = Path(out)
    single = target.suffix in (".html", ".md", ".csv")
    if target.suffix and not single and not target.is_dir():
        raise InvalidInput(f"`out` must be a folder or end in .html, .md or .csv, got {str(out)!r}.")
    cells = read_cells(store)
    before = [] if compare is None else [comparison_section(read_cells(compare), cells, Path(compare).name)]
    paths = [target] if single else [target / name for name in ("report.html", "report.md", "cells.csv")]
    paths[0].parent.mkdir(parents=True, exist_ok=True)
    sections = [] if target.suffix == ".csv" else sections_of(cells)
    for path in paths:
        if path.suffix == ".html":
            text = write_page(title, cells, sections, before)
        elif path.suffix == ".md":
            text = write_markdown(title, cells, [*before, *sections])
        else:
            text = write_csv(cells)
        path.write_text(text, encoding="utf-8")
    return paths


def sections_of(cells: Sequence[Cell]) -> list[Section]:
    """One section a study, in the order of the paper; a study without its own drawing shows its cells."""
    groups = by(cells, lambda cell: cell.key.study)
    sections = []
    for name in [*(name for name in STUDIES if name in groups), *(name for name in groups if name not in STUDIES)]:
        own = groups[name]
        blocks = _BUILDERS[name](own) if name in _BUILDERS and done(own) else []
        study = STUDIES.get(name)
        title, question = (study.title, study.question) if study else (name, "")
        sections.append(Section(name, title, question, [*blocks, cell_table(own)]))
    return sections


def write_markdown(title: str, cells: Sequence[Cell], sections: Sequence[Section]) -> str:
    """Headings, paragraphs and tables; of the figures only their titles, since their numbers stand in the tables."""
    parts = [f"# {title}"]
    for section in sections:
        parts += [f"## {section.title}", section.question]
        for block in section.blocks:
            if isinstance(block, Table):
                parts += [f"### {block.title}", block.markdown(), block.note]
            elif isinstance(block, Text):
                parts.append(block.words)
            elif isinstance(block, Figures):
                parts += [f"*{figure.words}*" for figure in block.figures if isinstance(figure, Drawing)]
    parts.append("## Environment")
    for record in environments_of(cells):
        machine = record.get("machine", {})
        parts.append(
            f"{machine.get('processor', '?')}, {machine.get('cores', '?')} cores; "
            f"{versions_in_words(record)}; commit {record.get('commit') or 'not recorded'}."
        )
    return "\n\n".join(part for part in parts if part) + "\n"


def write_csv(cells: Sequence[Cell]) -> str:
    """One line a cell: the key, the outcome, every metric in a column of its own."""
    metrics = sorted({name for cell in cells for name in cell.outcome.metrics})
    keys = [field.name for field in fields(Key)]
    outcomes = ("status", "reason", "value", "bound", "sense", "seconds")
    rows: list[list[Entry]] = [
        [
            *(getattr(cell.key, name) for name in keys),
            cell.scale,
            *(getattr(cell.outcome, name) for name in outcomes),
            cell.peak_memory,
            cell.finished,
            cell.environment.get("commit", ""),
            *(cell.outcome.metrics.get(name) for name in metrics),
        ]
        for cell in cells
    ]
    headers = [*keys, "scale", *outcomes, "peak_memory_mb", "finished", "commit", *metrics]
    return Table("Cells", headers, rows).csv()
