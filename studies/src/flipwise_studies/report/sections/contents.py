"""The sections of the report: which study is drawn how, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from flipwise_studies.experiments.cells import Cell
from flipwise_studies.report.blocks import Block, Section
from flipwise_studies.report.cell_reading import done, grouped
from flipwise_studies.report.sections import graphs, hashing, optimisation
from flipwise_studies.report.sections.shared import cell_table
from flipwise_studies.studies.catalogue import STUDIES

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
    groups = grouped(cells, lambda cell: cell.key.study)
    sections = []
    for name in [*(name for name in STUDIES if name in groups), *(name for name in groups if name not in STUDIES)]:
        own = groups[name]
        blocks = _BUILDERS[name](own) if name in _BUILDERS and done(own) else []
        study = STUDIES.get(name)
        title, question = (study.title, study.question) if study else (name, "")
        sections.append(Section(name, title, question, [*blocks, cell_table(own)]))
    return sections
