"""Tables in documents are generated: from a results file, with the command, and up to date in this repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from flipwise.foundation.errors import InvalidInput
from flipwise_studies import fill, results_table
from flipwise_studies.experiments.results import write_results
from studies.tests.report.cells import made_up_cells

ROOT = Path(__file__).parents[3]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TITLE = "Energy per variable, mean over seeds"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a results file."""
    write_results(made_up_cells(), tmp_path / "made-up.json", command="flipwise reproduce --quick")
    return tmp_path


def test_a_block_is_written_between_its_comments(folder: Path) -> None:
    """The table and its source stand between the comments, the rest is untouched; filling again changes nothing."""
    text = f"before\n<!-- results: made-up.json | momentum | {TITLE} -->\nold\n<!-- end of results -->\nafter\n"
    filled = fill(text, folder)
    assert filled.startswith("before\n") and filled.endswith("after\n") and "old" not in filled
    assert results_table(folder / "made-up.json", "momentum", TITLE).markdown() in filled
    assert "`flipwise reproduce --quick`" in filled and "commit abcdef" in filled
    assert fill(filled, folder) == filled


def test_a_star_stands_for_all_studies(folder: Path) -> None:
    """Every study under its title, every table but the folded ones under its own; the source once."""
    text = "<!-- results: made-up.json | * | * -->\n<!-- end of results -->\n"
    filled = fill(text, folder)
    assert (
        f"**{TITLE}**" in filled
        and "### Momentum variants" in filled
        and "### Density" in filled
        and "Every cell" not in filled
    )
    assert filled.count("From `made-up.json`") == 1 and fill(filled, folder) == filled


def test_a_run_that_is_not_stored_is_said(folder: Path) -> None:
    """A block whose results file is missing holds no figure."""
    text = "<!-- results: other.json | * | * -->\n| 1.0 |\n<!-- end of results -->\n"
    assert "*No such run is stored yet.*" in fill(text, folder) and "1.0" not in fill(text, folder)


def test_an_unknown_table_is_refused(folder: Path) -> None:
    """The message lists the titles there are."""
    with pytest.raises(InvalidInput, match=TITLE):
        results_table(folder / "made-up.json", "momentum", "nonsense")


@pytest.mark.parametrize("document", [d for d in DOCUMENTS if d.is_file()], ids=lambda d: d.name)
def test_the_documents_are_up_to_date(document: Path) -> None:
    """Every results block in README and docs is what the committed results give."""
    text = document.read_text(encoding="utf-8")
    assert fill(text, ROOT / "benchmarks" / "results") == text
