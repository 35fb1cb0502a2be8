"""Charts as SVG."""

from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from flipwise.pages.charts import CHART_STYLE, Band, Chart, Line

numbers = st.floats(-1e9, 1e9, allow_nan=False).filter(lambda x: x == 0 or abs(x) > 1e-6)


@given(st.lists(st.tuples(numbers, numbers), max_size=8), st.booleans(), st.booleans())
def test_any_chart_is_valid_xml(points: list[tuple[float, float]], x_log: bool, y_log: bool) -> None:
    """Empty lines, single points, zeros and negative values on logarithmic axes are all drawn without fault."""
    chart = Chart("a < b & c", "x", "y", [Line("l", points, 3, markers=True)], [Band("b", [])], x_log, y_log)
    ElementTree.fromstring(chart.svg())
    assert "NaN" not in chart.svg() and "nan" not in chart.svg()


def test_the_style_has_a_colour_for_every_class() -> None:
    """Lines are coloured in light and in dark pages."""
    for place in range(10):
        assert f".c{place} {{" in CHART_STYLE and CHART_STYLE.count(f"--c{place}:") == 2
