"""`render`: stored cells in, a report out. Nothing is run here."""

from __future__ import annotations

from pathlib import Path

from flipwise.errors import InvalidInput
from flipwise.experiments.cells import read_cells
from flipwise.report.comparison import comparison_section
from flipwise.report.page import write_page
from flipwise.report.sections.contents import sections_of
from flipwise.report.words import write_csv, write_markdown

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
    >>> from flipwise.experiments import reproduce
    >>> from flipwise.report import render
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = pathlib.Path(folder) / "cells.sqlite"
    ...     summary = reproduce(only="convergence", store=store)
    ...     [path.name for path in render(store, pathlib.Path(folder) / "report")]
    ['report.html', 'report.md', 'cells.csv']
    """
    target = Path(out)
    if target.suffix and target.suffix not in (".html", ".md", ".csv") and not target.is_dir():
        raise InvalidInput(f"`out` must be a folder or end in .html, .md or .csv, got {str(out)!r}.")
    cells = read_cells(store)
    before = [] if compare is None else [comparison_section(read_cells(compare), cells, Path(compare).name)]
    single = target.suffix in (".html", ".md", ".csv")
    folder = target.parent if single else target
    folder.mkdir(parents=True, exist_ok=True)
    paths = [target] if single else [folder / name for name in ("report.html", "report.md", "cells.csv")]
    sections = [] if single and target.suffix == ".csv" else sections_of(cells)
    for path in paths:
        if path.suffix == ".html":
            text = write_page(title, cells, sections, before)
        elif path.suffix == ".md":
            text = write_markdown(title, cells, [*before, *sections])
        else:
            text = write_csv(cells)
        path.write_text(text, encoding="utf-8")
    return paths
