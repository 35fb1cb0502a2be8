"""Tables: what is marked, escaped and aligned."""

from __future__ import annotations

import math

from flipwise_studies.report.tables import Table, as_text, best_of


def test_the_best_of_a_column_is_marked_with_its_ties() -> None:
    """Largest or smallest figure of each column; words are not compared."""
    rows = [["a", 1.0, "failed"], ["b", 2.0, 3.0], ["c", 2.0, None]]
    assert best_of(rows, "max") == {(1, 1), (2, 1)}
    assert best_of(rows, "min") == {(0, 1)}


def test_a_table_escapes_and_aligns() -> None:
    """HTML is escaped, pipes are escaped in Markdown, CSV keeps all digits."""
    table = Table("t", ("name", "value"), [["a|b <i>", 1 / 3], ["c", None]])
    assert "&lt;i&gt;" in table.html() and "<i>" not in table.html()
    assert table.markdown().splitlines()[1:3] == ["| :--- | ---: |", "| a\\|b &lt;i&gt; | 0.3333 |"]
    assert str(1 / 3) in table.csv()
    assert as_text(1234567) == "1,234,567" and as_text(math.inf) == "inf" and as_text(None) == "–"
