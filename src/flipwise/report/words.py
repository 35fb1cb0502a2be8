"""The report as Markdown and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from flipwise.experiments.cells import Cell
from flipwise.report.sections.blocks import Drawing, Figures, Section, Text
from flipwise.report.tables import Table


def write_markdown(title: str, cells: Sequence[Cell], sections: Sequence[Section]) -> str:
    """Headings, paragraphs and tables; of the figures only their titles, since their numbers stand in the tables."""
    parts = [f"# {title}"]
    for section in sections:
        parts += [f"## {section.title}", section.question]
        for block in section.blocks:
            if isinstance(block, Table):
                parts += [f"### {block.title}", block.markdown()]
                parts += [block.note] if block.note else []
            elif isinstance(block, Text):
                parts.append(block.words)
            elif isinstance(block, Figures):
                parts += [f"*{figure.words}*" for figure in block.figures if isinstance(figure, Drawing)]
    environments = []
    for cell in cells:
        if cell.environment and cell.environment not in environments:
            environments.append(cell.environment)
    parts.append("## Environment")
    for record in environments:
        machine, versions = record.get("machine", {}), record.get("versions", {})
        parts.append(
            f"{machine.get('processor', '?')}, {machine.get('cores', '?')} cores; "
            + ", ".join(f"{name} {number}" for name, number in versions.items())
            + f"; commit {record.get('commit') or 'not recorded'}."
        )
    return "\n\n".join(part for part in parts if part) + "\n"


def write_csv(cells: Sequence[Cell]) -> str:
    """One line a cell: the key, the outcome, every metric in a column of its own."""
    metrics = sorted({name for cell in cells for name in cell.outcome.metrics})
    keys = ("study", "instance", "checksum", "method", "parameters", "seed", "threads")
    outcomes = ("status", "reason", "value", "bound", "sense", "seconds")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*keys, "scale", *outcomes, "peak_memory_mb", "finished", "commit", *metrics])
    for cell in cells:
        row = [getattr(cell.key, name) for name in keys] + [cell.scale]
        row += [getattr(cell.outcome, name) for name in outcomes]
        row += [cell.peak_memory, cell.finished, cell.environment.get("commit", "")]
        row += [cell.outcome.metrics.get(name) for name in metrics]
        writer.writerow(["" if entry is None else entry for entry in row])
    return text.getvalue()
