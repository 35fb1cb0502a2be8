"""The whole report as sections, from cells; formats only write it down."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from flipwise.experiments.cells import Cell
from flipwise.experiments.reproduction import STUDIES, find_studies
from flipwise.report.sections import graphs, hashing, optimisation
from flipwise.report.sections.blocks import Block, Section, by, cell_table

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


def sections_of(cells: Sequence[Cell]) -> list[Section]:
    """One section a study, in the order of the paper; a study without its own drawing shows its cells."""
    groups = by(cells, lambda cell: cell.key.study)
    known = {study.name: study for study in find_studies()}
    names = [name for name in STUDIES if name in groups] + [name for name in groups if name not in STUDIES]
    sections = []
    for name in names:
        study = known.get(name)
        build = _BUILDERS.get(name)
        finished = any(cell.outcome.status == "done" for cell in groups[name])
        blocks = build(groups[name]) if build and finished else []
        title = study.title if study else name
        question = study.question if study else ""
        sections.append(Section(name, title, question, [*blocks, cell_table(groups[name])]))
    return sections
