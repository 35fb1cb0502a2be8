"""The paper's 2-d figure."""

from __future__ import annotations

from xml.etree import ElementTree

from flipwise_studies.report.routes import routes_figure


def test_every_step_is_an_arrow() -> None:
    """Steps that several routes share are drawn once, a way there and back as two; the figure is XML."""
    routes = [[[1, 1], [-1, -1]], [[1, 1], [-1, -1]], [[1, -1], [-1, 1], [1, -1]]]
    figure = routes_figure("a < b", (0.3, 0.6), routes, 0, "note")
    ElementTree.fromstring(figure)
    assert figure.count('class="line"') == 3 and "a &lt; b" in figure
