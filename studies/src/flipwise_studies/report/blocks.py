"""What a section of the report is made of: paragraphs, tables, and figures side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flipwise.pages.charts import Chart
from flipwise_studies.report.tables import Table


@dataclass(frozen=True)
class Drawing:
    """A figure that is not a chart, as HTML, with words for formats that cannot show it."""

    html: str
    words: str


@dataclass(frozen=True)
class Figures:
    """Figures that stand side by side where there is room."""

    figures: Sequence[Chart | Drawing]


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    words: str


Block = Figures | Table | Text


@dataclass(frozen=True)
class Section:
    """One part of the report."""

    name: str
    title: str
    question: str
    blocks: Sequence[Block]
