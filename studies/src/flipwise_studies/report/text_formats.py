"""The report as Markdown and as CSV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from flipwise_studies.experiments.cells import Cell, Key
from flipwise_studies.report.blocks import Drawing, Figures, Section, Text
from flipwise_studies.report.cell_reading import environments_of, versions_in_words
from flipwise_studies.report.tables import Entry, Table, plain_markdown


def write_markdown(title: str, cells: Sequence[Cell], sections: Sequence[Section]) -> str:
    """Headings, paragraphs and tables; of the figures only their titles, since their numbers stand in the tables.

    Whatever comes from cells or file names is shown as it is: nothing of it is taken for Markdown or HTML.
    """
    plain = plain_markdown
    parts = [f"# {plain(title)}"]
    for section in sections:
        parts += [f"## {plain(section.title)}", plain(section.question)]
        for block in section.blocks:
            if isinstance(block, Table):
                parts += [f"### {plain(block.title)}", block.markdown(), plain(block.note)]
            elif isinstance(block, Text):
                parts.append(plain(block.words))
            elif isinstance(block, Figures):
                parts += [f"*{plain(figure.words)}*" for figure in block.figures if isinstance(figure, Drawing)]
    parts.append("## Environment")
    for record in environments_of(cells):
        machine = record.get("machine", {})
        parts.append(
            plain(
                f"{machine.get('processor', '?')}, {machine.get('cores', '?')} cores; "
                f"{versions_in_words(record)}; commit {record.get('commit') or 'not recorded'}."
            )
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
