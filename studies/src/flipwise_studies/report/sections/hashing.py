"""Sections about codes: general optimisers, unsupervised and supervised losses, embedding compression."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from flipwise.pages.charts import Chart, Line
from flipwise_studies.experiments.cells import Cell
from flipwise_studies.report import paper
from flipwise_studies.report.blocks import Block, Figures, Text
from flipwise_studies.report.cell_reading import (
    by_instance,
    grouped,
    mean,
    method_of,
    metric,
    option,
    seconds_of,
)
from flipwise_studies.report.sections.shared import Palette
from flipwise_studies.report.tables import Entry, Table, best_of, pivot

PROTOCOL = (
    "Two protocols, always labelled: the database holds the learned codes B (what the paper's figures agree with), or "
    "the database is hashed again by h(X) (what can be used for new data). Queries are hashed by h in both. MAP over "
    "the whole database, ties in distance averaged."
)

LINEAR = "its hash function is linear, ours above is a kernel of anchors"
"""Beside the paper's figures of methods with labels."""


def optimisers(cells: Sequence[Cell]) -> list[Block]:
    """The paper's table of six optimisers under one supervised loss."""
    return _retrieval(cells, paper.OPTIMISERS_MAP, paper.OPTIMISERS_SECONDS, f"CIFAR-10, GIST features; {LINEAR}")


def unsupervised(cells: Sequence[Cell]) -> list[Block]:
    """Three unsupervised losses, each by its own method and by DPCD."""
    return _retrieval(
        cells, paper.UNSUPERVISED_MAP, paper.UNSUPERVISED_SECONDS, "ImageNet, 4096 deep features, not our data"
    )


def supervised(cells: Sequence[Cell]) -> list[Block]:
    """Three supervised losses, each by its own method and by DPCD."""
    return _retrieval(cells, paper.SUPERVISED_MAP, paper.SUPERVISED_SECONDS, f"NUS-WIDE, not our data; {LINEAR}")


def compression(cells: Sequence[Cell]) -> list[Block]:
    """Recall of the true neighbours against the size of the code."""
    palette = Palette(cells)
    blocks: list[Block] = []
    for instance, group in by_instance(cells).items():
        near, ranked = metric("recall_at_10"), metric("recall_10_at_100")
        blocks += [
            Figures([_against_bits(instance, group, palette, near, "recall@10 of cosine neighbours")]),
            _by_bits(f"{instance}: recall of the true 10 neighbours among the first 10", group, near),
            _by_bits(f"{instance}: the same among the first 100, to be re-ranked", group, ranked),
            _by_bits(f"{instance}: seconds of training", group, seconds_of, better="min"),
        ]
    return blocks


def _retrieval(
    cells: Sequence[Cell],
    printed_map: dict[str, tuple[float, ...]],
    printed_seconds: dict[str, tuple[float, ...]],
    printed_data: str,
) -> list[Block]:
    """MAP and seconds by method and bits for both protocols, and the paper's figures, labelled with its data."""
    learned, hashed = metric("map_learned"), metric("map_hashed")
    charts: list[Chart] = []
    tables: list[Block] = []
    for instance, group in by_instance(cells).items():
        for loss, own in _by_loss(group).items():
            palette = Palette(own)
            name = f"{instance}, {loss}" if loss else instance
            charts += [
                _against_bits(f"{name}: database of learned codes", own, palette, learned, "MAP"),
                _against_bits(f"{name}: database hashed by h", own, palette, hashed, "MAP"),
            ]
        tables += [
            _by_bits(f"{instance}: MAP, database of learned codes B", group, learned),
            _by_bits(f"{instance}: MAP, database hashed by h(X)", group, hashed),
        ]
        if any("precision_500_learned" in cell.outcome.metrics for cell in group):
            tables.append(_by_bits(f"{instance}: precision@500, learned codes", group, metric("precision_500_learned")))
        tables.append(_by_bits(f"{instance}: seconds of training", group, seconds_of, better="min"))
    headers = ("method (paper)", *(f"{bits} bits" for bits in paper.BITS))
    for title, printed, better in (("MAP", printed_map, "max"), ("seconds", printed_seconds, "min")):
        rows: list[list[Entry]] = [[method, *numbers] for method, numbers in printed.items()]
        tables.append(Table(f"The paper's {title} ({printed_data})", headers, rows, best=best_of(rows, better)))
    return [Text(PROTOCOL), Figures(charts), *tables]


def _by_bits(title: str, cells: Sequence[Cell], value: Callable[[Cell], float | None], better: str = "max") -> Table:
    """Methods against numbers of bits."""
    bits = option("bits")
    return pivot(title, cells, method_of, bits, value, corner="method", better=better, header="{} bits")


def _against_bits(
    title: str, cells: Sequence[Cell], palette: Palette, value: Callable[[Cell], float | None], label: str
) -> Chart:
    """A number against the bits, one line a method, the mean over seeds."""
    lines = []
    sizes: set[float] = set()
    for method, own in palette.drawn(cells).items():
        found: dict[float, list[float | None]] = {}
        for cell in own:
            found.setdefault(float(cell.key.options["bits"]), []).append(value(cell))
        averages = [(bits, mean(numbers)) for bits, numbers in sorted(found.items())]
        points = [(bits, number) for bits, number in averages if number is not None]
        sizes |= {bits for bits, _ in points}
        if points:
            lines.append(Line(method.rpartition(": ")[2], points, palette(method), markers=True))
    ticks = sorted(sizes)
    return Chart(title, "bits", label, lines, x_log=True, x_ticks=ticks, note=palette.note, named_ends=True)


def _by_loss(cells: Sequence[Cell]) -> dict[str, list[Cell]]:
    """Cells by the loss that their methods share, where the names of methods say one ("pairwise: dpcd")."""
    return grouped(cells, lambda cell: cell.key.method.rpartition(": ")[0])
