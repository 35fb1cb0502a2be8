"""`render`: stored cells in, a report out. Nothing is run here.

The report is a list of sections; HTML (`page`), Markdown and CSV (`text_formats`) only write it down.
"""

from __future__ import annotations

from pathlib import Path

from flipwise.foundation.atomic import write_atomically
from flipwise.foundation.errors import InvalidInput
from flipwise_studies.experiments.results import read_cells
from flipwise_studies.report.comparison import comparison_section
from flipwise_studies.report.page import write_page
from flipwise_studies.report.sections.contents import sections_of
from flipwise_studies.report.text_formats import write_csv, write_markdown

TITLE = "Flipwise: the studies"


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
        write_atomically(path, text.encode())
    return paths
