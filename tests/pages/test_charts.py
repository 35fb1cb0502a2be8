"""Charts as SVG."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from flipwise.pages.charts import CHART_STYLE, HEIGHT, Band, Chart, Line

numbers = st.floats(-1e9, 1e9, allow_nan=False).filter(lambda x: x == 0 or abs(x) > 1e-6)


@given(st.lists(st.tuples(numbers, numbers), max_size=8), st.booleans(), st.booleans())
def test_any_chart_is_valid_xml(points: list[tuple[float, float]], x_log: bool, y_log: bool) -> None:
    """Empty lines, single points, zeros and negative values on logarithmic axes are all drawn without fault."""
    chart = Chart("a < b & c", "x", "y", [Line("l", points, 3, markers=True)], [Band("b", [])], x_log, y_log)
    for drawn in (chart, replace(chart, named_ends=True)):
        ElementTree.fromstring(drawn.svg())
        assert "NaN" not in drawn.svg() and "nan" not in drawn.svg()


@given(st.lists(st.lists(numbers, min_size=1, max_size=3), min_size=1, max_size=5))
def test_names_at_the_ends_of_lines_do_not_overlap(curves: list[list[float]]) -> None:
    """Each line has its name, in its colour, apart from the others and inside the drawing, in the order of the ends."""
    lines = [Line(f"l{i}", list(enumerate(map(float, ys))), i) for i, ys in enumerate(curves)]
    chart = Chart("ends", "x", "y", lines, named_ends=True)
    names = [each for each in ElementTree.fromstring(chart.svg()) if each.get("class", "").startswith("name")]
    assert sorted((each.text, each.get("class")) for each in names) == [
        (f"l{i}", f"name c{i}") for i in range(len(lines))
    ]
    heights = [float(each.get("y", "nan")) for each in names]
    assert all(after - before > 12 for before, after in pairwise(heights)) and heights[0] > 0 and heights[-1] < HEIGHT
    ends = [curves[int((each.text or "l")[1:])][-1] for each in names]
    assert ends == sorted(ends, reverse=True)
    assert "legend" not in chart.html()


def test_the_style_has_a_colour_for_every_class() -> None:
    """Lines are coloured in light and in dark pages."""
    for place in range(10):
        assert f".c{place} {{" in CHART_STYLE and CHART_STYLE.count(f"--c{place}:") == 2
