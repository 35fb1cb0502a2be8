"""render(): every format, from a store or a results file; nothing fetched, nothing lost, small."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path

import pytest

from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise_studies import render
from flipwise_studies.experiments.curves import MOST_POINTS
from flipwise_studies.experiments.results import write_results
from flipwise_studies.experiments.store import Store
from flipwise_studies.studies.catalogue import STUDIES
from studies.tests.report.cells import made_up_cells

MEGABYTE = 1_000_000


@pytest.fixture(scope="module")
def page(store: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of the made-up cells."""
    return render(store, tmp_path_factory.mktemp("out") / "report.html")[0].read_text(encoding="utf-8")


def test_a_folder_gets_all_formats(store: Path, tmp_path: Path) -> None:
    """Without a suffix, `out` is a folder with the page, Markdown and CSV."""
    written = render(store, tmp_path / "report")
    assert [path.name for path in written] == ["report.html", "report.md", "cells.csv"]
    assert all(path.stat().st_size > 1000 for path in written)


def test_the_page_has_every_study_and_is_small(page: str) -> None:
    """Each study is a section, and the page stays far below 3 MB."""
    for name in STUDIES:
        assert f'<section id="{name}">' in page
    for name in ("one-run", "environment"):
        assert f'<section id="{name}">' in page
    assert len(page.encode()) < 3 * MEGABYTE


def test_the_full_report_is_below_three_megabytes(tmp_path: Path) -> None:
    """With a cell for every task of the full scale and curves as long as they get."""
    cells = made_up_cells(quick=False, points=MOST_POINTS)
    write_results(cells, tmp_path / "full.json", series=True)
    assert len(cells) > 400
    assert render(tmp_path / "full.json", tmp_path / "full.html")[0].stat().st_size < 3 * MEGABYTE


def test_the_page_fetches_nothing(page: str) -> None:
    """No address of another host is loaded: no src, no stylesheet, no import, no url()."""
    assert not re.search(r"src\s*=|@import|url\((?!#)|<iframe", page)
    assert re.findall(r"<link[^>]*>", page) == ['<link rel="icon" href="data:,">']


def test_the_page_is_well_formed(page: str) -> None:
    """Every element that is opened is closed in order, and every drawing is XML."""
    void = {"meta", "link", "br", "input"}
    opened: list[str] = []

    class Checker(HTMLParser):
        def handle_starttag(self, tag: str, attributes: object) -> None:
            if tag not in void:
                opened.append(tag)

        def handle_startendtag(self, tag: str, attributes: object) -> None:
            pass

        def handle_endtag(self, tag: str) -> None:
            assert opened.pop() == tag

    Checker().feed(page)
    assert opened == []
    for drawing in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        ElementTree.fromstring(drawing)


def test_text_from_cells_is_escaped(page: str) -> None:
    """Reasons and machine names cannot become markup."""
    assert "&lt;made up&gt;" in page and "<made up>" not in page
    assert "Slide rule &lt;2&gt;" in page


def test_a_results_file_renders_like_its_store(store: Path, tmp_path: Path) -> None:
    """A report can be made from the committed JSON; with the curves it is the same page."""
    write_results(made_up_cells(), tmp_path / "cells.json", series=True)
    from_file = render(tmp_path / "cells.json", tmp_path / "a.html")[0].read_text(encoding="utf-8")
    assert from_file == render(store, tmp_path / "b.html")[0].read_text(encoding="utf-8")
    write_results(made_up_cells(), tmp_path / "small.json")
    assert render(tmp_path / "small.json", tmp_path / "c.html")[0].stat().st_size > 10_000


def test_nothing_finished_still_gives_a_report(tmp_path: Path) -> None:
    """A store with only skips, or with nothing, is rendered too."""
    with Store(tmp_path / "empty.sqlite"):
        pass
    assert render(tmp_path / "empty.sqlite", tmp_path / "empty.html")[0].exists()
    skipped = [cell for cell in made_up_cells() if cell.outcome.status == "skipped"]
    write_results(skipped, tmp_path / "skipped.json")
    assert "no data" in render(tmp_path / "skipped.json", tmp_path / "s.html")[0].read_text(encoding="utf-8")


def test_wrong_targets_and_sources_are_refused(store: Path, tmp_path: Path) -> None:
    """The messages say what is allowed."""
    with pytest.raises(InvalidInput, match=r"\.html, \.md or \.csv"):
        render(store, tmp_path / "report.pdf")
    with pytest.raises(InvalidFile, match="no such file"):
        render(tmp_path / "none.sqlite", tmp_path / "report.html")
