"""The paper's experiments and our own comparisons as studies that can be run again, and the report of their results.

Names load on first use, so that the commands this package adds to `flipwise` cost nothing until they are called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipwise.foundation.lazy import lazy_names

if TYPE_CHECKING:
    from flipwise_studies.experiments.cells import Cell as Cell
    from flipwise_studies.experiments.cells import Key as Key
    from flipwise_studies.experiments.cells import Outcome as Outcome
    from flipwise_studies.experiments.progress import RunnerProgress as RunnerProgress
    from flipwise_studies.experiments.results import read_cells as read_cells
    from flipwise_studies.experiments.store import Store as Store
    from flipwise_studies.report.documents import fill as fill
    from flipwise_studies.report.documents import results_table as results_table
    from flipwise_studies.report.rendering import render as render
    from flipwise_studies.reproduction import Summary as Summary
    from flipwise_studies.reproduction import reproduce as reproduce
    from flipwise_studies.studies.catalogue import find_studies as find_studies

__version__ = "0.2.0"

_HOMES = {
    "Cell": "experiments.cells",
    "Key": "experiments.cells",
    "Outcome": "experiments.cells",
    "read_cells": "experiments.results",
    "Summary": "reproduction",
    "find_studies": "studies.catalogue",
    "reproduce": "reproduction",
    "RunnerProgress": "experiments.progress",
    "Store": "experiments.store",
    "fill": "report.documents",
    "results_table": "report.documents",
    "render": "report.rendering",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES, "__version__")
