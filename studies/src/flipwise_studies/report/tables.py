"""Tables as data: made from cells, written as HTML, Markdown or CSV."""

from __future__ import annotations

import csv
import io
import math
import re
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape

from flipwise_studies.experiments.cells import Cell

Entry = str | float | int | None


@dataclass(frozen=True)
class Table:
    """Headers and rows; `best` marks, column by column, the row positions that are to stand out."""

    title: str
    headers: Sequence[str]
    rows: Sequence[Sequence[Entry]]
    note: str = ""
    best: frozenset[tuple[int, int]] = frozenset()
    folded: bool = False

    def html(self) -> str:
        """A sortable table; on a narrow screen each row becomes a small card."""
        head = "".join(f'<th scope="col"><button type="button">{escape(h)}</button></th>' for h in self.headers)
        texts = self.texts()
        body = "".join(
            f"<tr>{''.join(self._html_entry(i, j, entry, texts[i][j]) for j, entry in enumerate(row))}</tr>"
            for i, row in enumerate(self.rows)
        )
        note = f'<p class="note">{escape(self.note)}</p>' if self.note else ""
        options = "".join(f'<option value="{j}">{escape(h)}</option>' for j, h in enumerate(self.headers))
        table = (
            f'<label class="sorter">Sort by <select><option value="">as stored</option>{options}</select></label>'
            f'<table class="sortable"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}'
        )
        if self.folded:
            return f"<details><summary>{escape(self.title)} ({len(self.rows)} rows)</summary>{table}</details>"
        return f"<h4>{escape(self.title)}</h4>{table}"

    def texts(self) -> list[list[str]]:
        """Every entry as text; the figures of a column have the same decimals where that loses none of them."""
        decimals = [_decimals([row[j] for row in self.rows]) for j in range(len(self.headers))]
        return [[as_text(entry, decimals[j]) for j, entry in enumerate(row)] for row in self.rows]

    def _html_entry(self, row: int, column: int, entry: Entry, text: str) -> str:
        """One entry: a heading in the first column, with its number for sorting where it is one."""
        marked = ' class="best"' if (row, column) in self.best else ""
        label = escape(self.headers[column], quote=True)
        if isinstance(entry, int | float):
            return f'<td data-label="{label}" data-value="{entry!r}"{marked}>{escape(text)}</td>'
        tag = "th" if column == 0 else "td"
        scope = ' scope="row"' if column == 0 else ""
        return f'<{tag} data-label="{label}"{scope}{marked}>{escape(text)}</{tag}>'

    def markdown(self) -> str:
        """A pipe table, figures right-aligned, the best in bold."""
        numeric = [
            any(isinstance(row[j], int | float) for row in self.rows) and j > 0 for j in range(len(self.headers))
        ]
        lines = [
            "| " + " | ".join(plain_markdown(h) for h in self.headers) + " |",
            "| " + " | ".join("---:" if right else ":---" for right in numeric) + " |",
        ]
        for i, texts in enumerate(self.texts()):
            marked = [
                f"**{plain_markdown(text)}**" if (i, j) in self.best else plain_markdown(text)
                for j, text in enumerate(texts)
            ]
            lines.append("| " + " | ".join(marked) + " |")
        return "\n".join(lines)

    def csv(self) -> str:
        """Comma-separated values, numbers in full."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.headers)
        writer.writerows([["" if entry is None else entry for entry in row] for row in self.rows])
        return text.getvalue()


def as_text(entry: Entry, decimals: int | None = None) -> str:
    """An entry as text: figures with the decimals given or up to five significant digits, thousands grouped."""
    if entry is None:
        return "–"
    if isinstance(entry, str):
        return entry
    if decimals is not None and isinstance(entry, float):
        return f"{entry:,.{decimals}f}"
    if isinstance(entry, int) or float(entry).is_integer():
        return f"{int(entry):,}"
    if not math.isfinite(entry):
        return str(entry)
    size = abs(entry)
    if size >= 10_000:
        return f"{entry:,.0f}"
    if size >= 1:
        return f"{entry:.5g}"
    return f"{entry:.4f}" if size >= 0.001 else f"{entry:.2g}"


def _decimals(column: Sequence[Entry]) -> int | None:
    """The decimals that give the largest figure of a column five digits; None where that would hide the smallest."""
    figures = [abs(entry) for entry in column if isinstance(entry, float)]
    if not figures or not all(map(math.isfinite, figures)) or all(figure.is_integer() for figure in figures):
        return None
    decimals = max(0, min(4, 4 - math.floor(math.log10(max(figures)))))
    while decimals and all(math.isclose(round(figure, decimals - 1), figure, rel_tol=1e-9) for figure in figures):
        decimals -= 1
    return None if any(0 < figure < 2 * 10**-decimals for figure in figures) else decimals


def pivot(
    title: str,
    cells: Iterable[Cell],
    row: Callable[[Cell], str],
    column: Callable[[Cell], str | float],
    value: Callable[[Cell], float | None],
    *,
    corner: str,
    better: str | None = None,
    header: str = "{}",
    note: str = "",
    unfinished: Callable[[Cell], bool] = lambda cell: False,
) -> Table:
    """Rows against columns, each entry the mean over the cells that fall into it (seeds); the best of a column marked.

    `header` is the form of a column's header. A place without a cell that is done shows why: "skipped" or "failed"; one
    with an `unfinished` cell says so beside its figure, which is no longer one that could be the best.
    """
    found: dict[tuple[str, str | float], list[float]] = {}
    missing: dict[tuple[str, str | float], str] = {}
    stopped: set[tuple[str, str | float]] = set()
    row_names: dict[str, None] = {}
    columns: dict[str | float, None] = {}
    for cell in cells:
        place = row(cell), column(cell)
        row_names[place[0]] = columns[place[1]] = None
        number = value(cell)
        if cell.outcome.status == "done" and number is not None:
            found.setdefault(place, []).append(number)
            if unfinished(cell):
                stopped.add(place)
        else:
            missing.setdefault(place, cell.outcome.status if cell.outcome.status != "done" else "–")
    ordered = sorted(columns, key=lambda c: (isinstance(c, str), c if isinstance(c, int | float) else 0.0))
    rows: list[list[Entry]] = []
    for name in row_names:
        entries: list[Entry] = [name]
        for head in ordered:
            numbers = found.get((name, head))
            entry: Entry = statistics.fmean(numbers) if numbers else missing.get((name, head))
            entries.append(f"not finished ({as_text(entry)})" if (name, head) in stopped else entry)
        rows.append(entries)
    headers = [corner, *(header.format(head if isinstance(head, str) else f"{head:g}") for head in ordered)]
    return Table(title, headers, rows, note, best_of(rows, better) if better else frozenset())


def best_of(rows: Sequence[Sequence[Entry]], better: str) -> frozenset[tuple[int, int]]:
    """The positions of the largest ("max") or smallest ("min") figure of each column, ties included."""
    marked = set()
    for j in range(1, len(rows[0]) if rows else 0):
        numbers = {i: float(row[j]) for i, row in enumerate(rows) if isinstance(row[j], int | float)}  # type: ignore[arg-type]
        if len(numbers) > 1:
            target = max(numbers.values()) if better == "max" else min(numbers.values())
            marked |= {(i, j) for i, number in numbers.items() if math.isclose(number, target, rel_tol=1e-9)}
    return frozenset(marked)


_MEANT = re.compile(r"[\\`*\[\]|]|(?<!\w)_|_(?!\w)")
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]+")


def plain_markdown(text: str) -> str:
    """Markdown that shows the text as it is: no tags, links, emphasis, ends of entries, control characters or lines."""
    shown = escape(_UNSEEN.sub(" ", text), quote=False)
    return _MEANT.sub(lambda found: "\\" + found[0], shown)
