"""The report as Markdown and as CSV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from flipwise_studies.experiments.cells import Cell, Key
from flipwise_studies.report.blocks import Drawing, Figures, Section, Text
from flipwise_studies.report.cell_reading import environments_of, versions_in_words
from flipwise_studies.report.tables import Entry, Table


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
