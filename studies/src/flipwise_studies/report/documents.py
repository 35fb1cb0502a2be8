"""Tables in README and docs, generated from a committed results file, never typed.

A document holds blocks of this form; `fill` writes what stands between the two comments:

    <!-- results: reproduce-quick.json | densities | dblp-2010 -->
    <!-- end of results -->

The three parts are the results file (in the folder given), the study, and the title of one of its tables. `*` for the
study stands for all studies, each under its title with all its tables. Where the file is not there the block says so.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from flipwise.foundation.errors import InvalidInput
from flipwise_studies.experiments.results import read_cells
from flipwise_studies.report.blocks import Section
from flipwise_studies.report.cell_reading import typical_load
from flipwise_studies.report.sections.contents import sections_of
from flipwise_studies.report.tables import Table

_BLOCK = re.compile(
    r"(?P<head><!-- results: (?P<file>[^|\n]+?) \| (?P<study>[^|\n]+?) \| (?P<title>[^\n]+?) -->\n)"
    r".*?(?P<tail><!-- end of results -->)",
    re.DOTALL,
)


def results_table(source: str | Path, study: str, title: str) -> Table:
    """A table of the report by its study and title, from a store or a results file."""
    cells = [cell for cell in read_cells(source) if cell.key.study == study]
    tables = [block for section in sections_of(cells) for block in section.blocks if isinstance(block, Table)]
    for table in tables:
        if table.title == title:
            return table
    known = "; ".join(table.title for table in tables)
    raise InvalidInput(f"`title` must be that of a table of {study} in {source} ({known or 'none'}), got {title!r}.")


def provenance(source: str | Path) -> str:
    """One sentence: where the figures are from, the command, the machine, the commit."""
    path = Path(source)
    cells = read_cells(path)
    parts = [f"From `{path.name}`"]
    if path.suffix == ".json":
        command = json.loads(path.read_text(encoding="utf-8")).get("command", "")
        parts += [f"command `{command}`"] if command else []
    environments = [cell.environment for cell in cells if cell.environment]
    if environments:
        machine = environments[-1].get("machine", {})
        load = typical_load(cells)
        busy = "" if load is None else f", load {load:.1f}"
        parts.append(f"{machine.get('processor', 'unknown processor')}, {machine.get('cores', '?')} cores{busy}")
        commits = sorted({str(record.get("commit") or "unknown") for record in environments})
        parts.append(f"commit {', '.join(commits)}")
    return "; ".join(parts) + "."


def fill(text: str, folder: str | Path) -> str:
    """The text with every results block written anew from the results files in `folder`."""

    def written(match: re.Match[str]) -> str:
        source = Path(folder) / match["file"]
        if not source.is_file():
            return f"{match['head']}*No such run is stored yet.*\n{match['tail']}"
        if match["study"] == "*":
            tables = "\n\n".join(_all_of(section) for section in sections_of(read_cells(source)))
        else:
            tables = _written(results_table(source, match["study"], match["title"]))
        return f"{match['head']}{tables}\n\n*{provenance(source)}*\n{match['tail']}"

    return _BLOCK.sub(written, text)


def _all_of(section: Section) -> str:
    """All tables of a section but the folded ones, under its title."""
    tables = [block for block in section.blocks if isinstance(block, Table) and not block.folded]
    return "\n\n".join([f"### {section.title}", section.question, *(_written(table, named=True) for table in tables)])


def _written(table: Table, named: bool = False) -> str:
    """A table in Markdown with its note, and with its title where it stands among others."""
    parts = (f"**{table.title}**" if named else "", table.markdown(), table.note)
    return "\n\n".join(filter(None, parts))
